/* TARGET group=launch
 * A parent idle in poll with 3 forked workers burning 0.6 s each (one after the other).  CPU of the
 * target process itself is ~0; CPU of the tree is ~1.8 s.  No stall in the parent.
 * TRUTH: {"exit":0, "stalls":[], "cpu_s":[0, 0.2], "tree_cpu_s":[1.5, 2.2], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void worker_burn(void) {
  TARGET_BURN(600);
  sink++;
}

int main(void) {
  target_start("prefork");
  for (int w = 0; w < 3; w++) {
    pid_t c = fork();
    if (!c) {
      prctl(PR_SET_NAME, "worker");
      worker_burn();
      _exit(0);
    }
    for (;;) {
      target_idle_begin();
      poll(NULL, 0, 20);
      target_idle_end();
      if (waitpid(c, NULL, WNOHANG) == c)
        break;
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
