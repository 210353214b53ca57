/* TARGET group=stall
 * A game-like loop whose idle wait IS nanosleep (16 ms), with two stalls of 250 ms.  An observer
 * that counts every nanosleep on the main thread as a stall, or only poll/epoll as idle, fails here.
 * TRUTH: {"exit":0, "stalls":[{"fn":"spike", "n":2, "ms":250, "tol":15, "how":"cpu",
 *   "chain":["spike", "main"]}], "idle":["clock_nanosleep", "nanosleep"]}
 */
#include "target.h"

volatile int sink;

NOINLINE void spike(void) {
  TARGET_BURN(250);
  sink++;
}

int main(void) {
  target_start("nanosleep_loop");
  for (int i = 1; i <= 110; i++) {
    target_idle_begin();
    target_sleep_ms(16);
    target_idle_end();
    if (i == 40 || i == 80) {
      target_tag("spike", "cpu");
      spike();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
