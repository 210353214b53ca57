/* TARGET group=stall
 * After a calm second the program enters a 500 ms computation and calls exit(3) from inside it,
 * never returning to its loop.  The unfinished stall must still be reported (about 500 ms, kind
 * "exit").
 * TRUTH: {"exit":3, "stalls":[{"fn":"final_save", "n":1, "ms":500, "tol":25, "how":"cpu",
 *   "kind":"exit", "chain":["final_save", "main"]}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void final_save(void) {
  TARGET_BURN(500);
  sink++;
  target_gap_emit("exit");
  target_end(3);
  /* Telling the truth takes its time, too. */
  target_line(
      "{\"ev\":\"edge\",\"t\":%.6f,\"ms\":%.3f}", target_gap_end,
      (target_now() - target_gap_end) * 1e3);
  exit(3);
}

int main(void) {
  target_start("exit_in_stall");
  for (int i = 1;; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 50) {
      target_tag("final_save", "cpu");
      final_save();
      sink++;
    }
  }
}
