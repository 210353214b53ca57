/* TARGET group=loops
 * A signal loop: main parks in sigwait (rt_sigtimedwait) and a timer sends SIGALRM every 20 ms.
 * TRUTH: {"exit":0, "stalls":[{"fn":"reload", "n":2, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["reload", "main"]}], "idle":["rt_sigtimedwait"], "cpu_s":[0.5, 0.9]}
 */
#include "target.h"

volatile int sink;

NOINLINE void reload(void) {
  TARGET_BURN(300);
  sink++;
}

int main(void) {
  target_start("sigwait_loop");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  struct itimerval every = {{0, 20000}, {0, 20000}};
  setitimer(ITIMER_REAL, &every, NULL);
  for (int i = 1; i <= 80; i++) {
    int number;
    target_idle_begin();
    sigwait(&set, &number);
    target_idle_end();
    if (i == 30 || i == 60) {
      target_tag("reload", "cpu");
      reload();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
