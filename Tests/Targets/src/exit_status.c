/* TARGET group=launch args=code,37
 * "exit_status code N" exits N after 0.2 s; "exit_status signal N" kills itself by signal N (no
 * core).  An observer must pass the status on (128+N by signal, or re-raise) and write its summary
 * in every case, including 255 and SIGKILL.
 * TRUTH: {"exit":37, "stalls":[]}
 */
#include "target.h"

int main(int argc, char **argv) {
  target_start("exit_status");
  struct rlimit r = {0, 0};
  setrlimit(RLIMIT_CORE, &r);
  target_sleep_ms(200);
  int n = argc > 2 ? atoi(argv[2]) : 0;
  target_fn_tag = NULL;
  if (argc > 1 && !strcmp(argv[1], "signal")) {
    target_end(128 + n);
    signal(n, SIG_DFL);
    sigset_t s;
    sigemptyset(&s);
    sigprocmask(SIG_SETMASK, &s, NULL);
    raise(n);
    pause();
  }
  target_exit(n);
}
