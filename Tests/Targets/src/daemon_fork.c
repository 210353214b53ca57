/* TARGET group=launch
 * Forks twice as daemons do: the one in between ends at once, and the daemon, in a session of its
 * own and with init as its parent, burns 0.6 s. The target itself only waits for the end of a pipe.
 * Nobody of the family ever waits for the daemon, so its CPU shows up in no waited-for time.
 * TRUTH: {"exit":0, "stalls":[], "cpu_s":[0, 0.2], "tree_cpu_s":[0.6, 0.7]}
 */
#include "target.h"

int main(void) {
  target_start("daemon_fork");
  int line[2];
  if (pipe2(line, O_CLOEXEC))
    return 1;
  pid_t between = fork();
  if (!between) {
    if (fork())
      _exit(0);
    setsid();
    prctl(PR_SET_NAME, "daemon");
    while (target_thread_cpu() < 0.6) {
      TARGET_BURN(5);
    }
    target_line("{\"ev\":\"daemon\",\"pid\":%d,\"cpu_s\":%.4f}", (int)getpid(),
                target_thread_cpu());
    target_sleep_ms(250);
    _exit(0);
  }
  waitpid(between, NULL, 0);
  close(line[1]);
  char byte;
  ssize_t end = read(line[0], &byte, 1);
  target_exit(end == 0 ? 0 : 2);
}
