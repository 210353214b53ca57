/* TARGET group=attach
 * Started as root it drops to uid 65534 and becomes non-dumpable: for a non-root observer
 * /proc/<pid>/{exe,maps,syscall,smaps_rollup,mem} are then root-only and ptrace gives EPERM.
 * stat/status stay readable: CPU, RSS and stall lengths must still be reported, with one clear
 * message why there is no stack.  As non-root it just goes non-dumpable.
 * TRUTH: {"exit":0, "stalls":[{"fn":"private_work", "n":2, "ms":250, "tol":20, "how":"cpu",
 *   "chain":["private_work", "main"]}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void private_work(void) {
  TARGET_BURN(250);
  sink++;
}

int main(void) {
  target_start("drop_uid");
  if (getuid() == 0 && (setgid(65534) || setuid(65534)))
    return 1;
  prctl(PR_SET_DUMPABLE, 0);
  for (int i = 1; i <= 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 20 || i == 40) {
      target_tag("private_work", "cpu");
      private_work();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
