/* TARGET group=stall
 * select() loop; a callback reads a pipe whose writer (a child process) answers only after 300 ms.
 * The blocking read() is not the loop's idle wait.  No CPU.
 * TRUTH: {"exit":0, "stalls":[{"fn":"fetch_reply", "n":3, "ms":300, "tol":25, "how":"read",
 *   "chain":["read", "fetch_reply", "dispatch", "main"]}], "idle":["select", "pselect6"],
 *   "cpu_s":[0, 0.2]}
 */
#include "target.h"

#include <sys/select.h>

static int req[2], rep[2];
volatile int sink;

NOINLINE int fetch_reply(void) {
  char c = 'q';
  if (write(req[1], &c, 1) != 1)
    return -1;
  ssize_t n = read(rep[0], &c, 1);
  sink++;
  return (int)n;
}

NOINLINE int dispatch(int i) {
  int r = 0;
  if (i == 15 || i == 30 || i == 45) {
    target_tag("fetch_reply", "read");
    r = fetch_reply();
  }
  sink += r;
  return r;
}

static void answer(void) {
  char c;
  close(req[1]);
  close(rep[0]);
  while (read(req[0], &c, 1) == 1) {
    target_sleep_ms(300);
    if (write(rep[1], &c, 1) != 1)
      break;
  }
  _exit(0);
}

int main(void) {
  target_start("select_slowpipe");
  if (pipe(req) || pipe(rep))
    return 1;
  pid_t child = fork();
  if (!child)
    answer();
  close(req[0]);
  close(rep[1]);
  for (int i = 1; i <= 70; i++) {
    struct timeval tv = {0, 20000};
    target_idle_begin();
    select(0, NULL, NULL, NULL, &tv);
    target_idle_end();
    dispatch(i);
  }
  target_idle_begin();
  target_idle_end();
  close(req[1]);
  waitpid(child, NULL, 0);
  target_exit(0);
}
