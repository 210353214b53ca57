/* TARGET group=stall
 * 600 ms of work before the first idle wait (kind "startup"), then a calm loop with one 200 ms
 * stall.
 * TRUTH: {"exit":0, "stalls":[{"fn":"init_plugins", "n":1, "ms":600, "tol":25, "how":"cpu",
 *   "kind":"startup", "chain":["init_plugins", "main"]}, {"fn":"late_work", "n":1, "ms":200,
 *   "tol":15, "how":"cpu", "chain":["late_work", "main"]}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void init_plugins(void) {
  TARGET_BURN(600);
  sink++;
}

NOINLINE void late_work(void) {
  TARGET_BURN(200);
  sink++;
}

int main(void) {
  target_start("startup_stall");
  target_tag("init_plugins", "cpu");
  init_plugins();
  for (int i = 1; i <= 50; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 30) {
      target_tag("late_work", "cpu");
      late_work();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
