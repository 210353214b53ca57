/* TARGET group=stall
 * One stall of 400 ms made of four different functions of 100 ms in a row, twice.  One sample
 * blames only the first; several during the stall must show all four, a quarter each.
 * TRUTH: {"exit":0, "stalls":[{"fn":"four_parts", "n":2, "ms":400, "tol":20, "how":"cpu",
 *   "chain":["part_a|part_b|part_c|part_d", "four_parts", "main"], "shares":{"part_a":0.25,
 *   "part_b":0.25, "part_c":0.25, "part_d":0.25}}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void part_a(void) {
  TARGET_BURN(100);
  sink++;
}

NOINLINE void part_b(void) {
  TARGET_BURN(100);
  sink++;
}

NOINLINE void part_c(void) {
  TARGET_BURN(100);
  sink++;
}

NOINLINE void part_d(void) {
  TARGET_BURN(100);
  sink++;
}

NOINLINE void four_parts(void) {
  part_a();
  part_b();
  part_c();
  part_d();
  sink++;
}

int main(void) {
  target_start("mixed_stack");
  for (int i = 1; i <= 50; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 15 || i == 35) {
      target_tag("four_parts", "cpu");
      four_parts();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
