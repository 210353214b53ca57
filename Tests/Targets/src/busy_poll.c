/* TARGET group=stall
 * A busy-polling loop (poll with time-out 0, 0.2 ms of work each turn): always running, 100 % of a
 * core, yet back in its wait every 0.2 ms, so NO stall.  Then one real stall of 300 ms.  From /proc
 * alone the two cannot be told apart.
 * TRUTH: {"exit":0, "stalls":[{"fn":"real_stall", "n":1, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["real_stall", "main"]}], "idle":["poll"], "cpu_s":[1.6, 2.6]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void tiny(void) {
  TARGET_BURN(0.2);
  sink++;
}

NOINLINE void real_stall(void) {
  TARGET_BURN(300);
  sink++;
}

int main(void) {
  target_start("busy_poll");
  double t = target_now();
  int done = 0;
  while (target_now() - t < 2.3) {
    target_idle_begin();
    poll(NULL, 0, 0);
    target_idle_end();
    tiny();
    if (!done && target_now() - t > 1.0) {
      done = 1;
      target_tag("real_stall", "cpu");
      real_stall();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
