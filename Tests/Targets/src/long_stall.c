/* TARGET group=attach
 * usage: long_stall CALM_MS STALL_MS
 * A poll loop that is calm, stalls once for STALL_MS (a line "stalling" says so as it begins), is
 * calm for half a second, stalls for 300 ms and ends after another half second.  For attaching in
 * the middle of a loop and of a stall.
 * TRUTH: {"exit":0, "args":["500", "400"], "stalls":[{"fn":"long_work", "n":1, "ms":400, "tol":20,
 *   "how":"cpu", "chain":["long_work", "main"]}, {"fn":"later_work", "n":1, "ms":300, "tol":20,
 *   "how":"cpu", "chain":["later_work", "main"]}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void long_work(double ms) {
  TARGET_BURN(ms);
  sink++;
}

NOINLINE void later_work(void) {
  TARGET_BURN(300);
  sink++;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  target_start("long_stall");
  int calm = atoi(argv[1]) / 20;
  double length = atof(argv[2]);
  for (int i = 1; i <= calm + 50; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == calm) {
      target_line("{\"ev\":\"stalling\",\"t\":%.6f}", target_now());
      target_tag("long_work", "cpu");
      long_work(length);
    }
    if (i == calm + 25) {
      target_tag("later_work", "cpu");
      later_work();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
