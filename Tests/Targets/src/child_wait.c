/* TARGET group=stall
 * A callback runs a helper program synchronously (posix_spawn + waitpid, 300 ms): blocked in wait4,
 * which must count as a stall.  Children come and go: they are not the target.
 * TRUTH: {"exit":0, "stalls":[{"fn":"run_helper", "n":2, "ms":300, "tol":30, "how":"wait",
 *   "chain":["wait4|waitpid", "run_helper", "main"]}], "idle":["poll"], "cpu_s":[0, 0.3]}
 */
#include "target.h"

#include <poll.h>
#include <spawn.h>

extern char **environ;
volatile int sink;

NOINLINE int run_helper(void) {
  char *words[] = {(char *)"sleep", (char *)"0.3", NULL};
  pid_t child;
  if (posix_spawn(&child, "/bin/sleep", NULL, NULL, words, environ))
    return -1;
  int status;
  waitpid(child, &status, 0);
  sink++;
  return status;
}

int main(void) {
  target_start("child_wait");
  for (int i = 1; i <= 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 20 || i == 40) {
      target_tag("run_helper", "wait");
      run_helper();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
