/* TARGET group=stall
 * usage: stall_storm THREADS COUNT
 * That many loop threads ("storm-N", poll) each stall COUNT times for 12 ms, with 1 ms in between,
 * after a calm 1.7 s.  What is kept must be bounded and what is counted must be right.  A "storm"
 * line of each thread says how many of its gaps were 10 ms or longer, the calm ones too (on a crowded
 * machine it may lose its CPU in any), and "most" how many were if the time
 * counts from the poll's time-out on: it may lose its CPU before it can look at the clock.
 * TRUTH: {"exit":0, "args":["4", "500"], "stalls":[{"fn":"hiccup", "n":2000, "ms":12, "tol":3,
 *   "how":"sleep", "main":false}], "stalls_on_tid_pid":0, "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

static int count;

NOINLINE void hiccup(void) {
  target_sleep_ms(12);
}

NOINLINE void *storm(void *number) {
  char name[16];
  snprintf(name, sizeof name, "storm-%d", (int)(long)number);
  prctl(PR_SET_NAME, name);
  int long_gaps = 0, most = 0;
  double longest = 0, shortest = 1e9, entered = target_now();
  for (int i = 0; i < 85 + count; i++) {
    int wait = i < 85 ? 20 : 1;
    poll(NULL, 0, wait);
    double left = target_now();
    double due = entered + wait / 1e3;
    if (i >= 85)
      hiccup();
    entered = target_now();
    most += (entered - due) * 1e3 >= 10;
    double ms = (entered - left) * 1e3;
    long_gaps += ms >= 10;
    if (i < 85)
      continue;
    longest = ms > longest ? ms : longest;
    shortest = ms < shortest ? ms : shortest;
  }
  for (int i = 0; i < 5; i++)
    poll(NULL, 0, 20);
  target_line(
      "{\"ev\":\"storm\",\"tid\":%d,\"stalls\":%d,\"most\":%d,\"shortest\":%.2f,\"longest\":%.2f}",
      (int)syscall(SYS_gettid), long_gaps, most, shortest, longest);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  target_start("stall_storm");
  int threads = atoi(argv[1]);
  count = atoi(argv[2]);
  pthread_t t[64];
  for (long i = 0; i < threads && i < 64; i++)
    pthread_create(&t[i], NULL, storm, (void *)i);
  for (int i = 0; i < threads && i < 64; i++)
    pthread_join(t[i], NULL);
  target_exit(0);
}
