/* TARGET group=loops
 * A sleep loop whose home moves: the C library has two system call instructions at a cancellation
 * point, and uses the other one from the moment the first thread is created.  A stall of 250 ms
 * before that and one after.
 * TRUTH: {"exit":0, "stalls":[{"fn":"spike", "n":2, "ms":250, "tol":15, "how":"cpu",
 *   "chain":["spike", "main"]}], "idle":["clock_nanosleep"], "cpu_s":[0.4, 0.8]}
 */
#include "target.h"

volatile int sink;

NOINLINE void spike(void) {
  TARGET_BURN(250);
  sink++;
}

NOINLINE void *idle_thread(void *a) {
  prctl(PR_SET_NAME, "idler");
  target_sleep_ms(1500);
  return a;
}

int main(void) {
  target_start("moving_home");
  pthread_t t;
  for (int i = 1; i <= 120; i++) {
    target_idle_begin();
    target_sleep_ms(16);
    target_idle_end();
    if (i == 60)
      pthread_create(&t, NULL, idle_thread, NULL);
    if (i == 40 || i == 90) {
      target_tag("spike", "cpu");
      spike();
    }
  }
  target_idle_begin();
  target_idle_end();
  pthread_join(t, NULL);
  target_exit(0);
}
