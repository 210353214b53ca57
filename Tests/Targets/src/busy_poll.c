/* TARGET group=stall
 * usage: busy_poll [WORK_MS]
 * A busy-polling loop (poll with time-out 0, 0.2 ms of work each turn): always running, 100 % of a
 * core, yet back in its wait every 0.2 ms, so NO stall.  Then one real stall of 300 ms.  From /proc
 * alone the two cannot be told apart.  With 0 ms of work it waits some 100 000 times a second.
 * TRUTH: {"exit":0, "stalls":[{"fn":"real_stall", "n":1, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["real_stall", "main"]}], "idle":["poll"], "cpu_s":[1.6, 2.6]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void tiny(double ms) {
  if (ms > 0)
    TARGET_BURN(ms);
  sink++;
}

NOINLINE void real_stall(void) {
  TARGET_BURN(300);
  sink++;
}

int main(int argc, char **argv) {
  target_start("busy_poll");
  double work = argc > 1 ? atof(argv[1]) : 0.2;
  double t = target_now();
  int done = 0;
  while (target_now() - t < 2.3) {
    target_idle_begin();
    poll(NULL, 0, 0);
    target_idle_end();
    tiny(work);
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
