/* TARGET group=proc
 * comm and thread names with spaces, parentheses, a newline, tab, ESC sequences
 * (title/clear/OSC52), invalid UTF-8, HTML and JSON metacharacters; argv with the same.  Each
 * thread burns a known share.  stat must be parsed from the LAST ')'; nothing raw may reach the
 * terminal, HTML or JSON.  Thread k burns k*100 ms of CPU (k = 1..6), and lives 0.7 s more, or as
 * many milliseconds as ODD_NAMES_STAY_MS says.
 * TRUTH: {"exit":0, "stalls":[], "cpu_s":[1.9, 2.8], "threads_cpu_ms":{"a) S 1 2 (x":100,
 *   "new\nline":200, "\u001b[2J\u001b]0;p":300, "\\xff\\xfe\\x80":400, "<b>&\"'":500,
 *   "\",\"x\":1}":600}}
 */
#include "target.h"

static const char *names[6] = {"a) S 1 2 (x",  "new\nline", "\033[2J\033]0;p",
                               "\xff\xfe\x80", "<b>&\"'",   "\",\"x\":1}"};
volatile unsigned long sink;

NOINLINE void *named(void *a) {
  long k = (long)a;
  prctl(PR_SET_NAME, names[k]);
  while (target_thread_cpu() < 0.1 * (k + 1))
    for (int i = 0; i < 50000; i++)
      sink += i;
  target_line("{\"ev\":\"thread\",\"k\":%ld,\"tid\":%ld,\"cpu_ms\":%.1f}", k + 1,
              (long)syscall(SYS_gettid), target_thread_cpu() * 1e3);
  const char *stay = getenv("ODD_NAMES_STAY_MS");
  target_sleep_ms(stay ? atoi(stay) : 700);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    char *av[] = {(char *)"odd) (name\n\033[31m", (char *)"--x=\xff<script>alert(1)</script>",
                  (char *)"--password=hunter2", NULL};
    execv("/proc/self/exe", av);
    return 1;
  }
  (void)argv;
  target_start("odd_names");
  prctl(PR_SET_NAME, ") R 0 (\n");
  pthread_t t[6];
  target_idle_begin();
  for (long i = 0; i < 6; i++)
    pthread_create(&t[i], NULL, named, (void *)i);
  for (int i = 0; i < 6; i++)
    pthread_join(t[i], NULL);
  target_idle_end();
  target_exit(0);
}
