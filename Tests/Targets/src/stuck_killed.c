/* TARGET group=stall
 * usage: stuck_killed cpu|lock
 * After a calm half second the loop hangs for ever, computing or in a lock that nobody gives back.
 * A child kills the target with SIGKILL 700 ms later and tells the truth about the length.
 * TRUTH: {"signal":9, "args":["cpu"], "stalls":[{"fn":"hang", "n":1, "ms":700, "tol":60,
 *   "how":"cpu", "kind":"exit", "chain":["hang", "main"]}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int orders[2];
volatile int sink;

NOINLINE void hang(int computes) {
  if (computes)
    for (;;)
      sink++;
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
}

/* Gets the moment when home was left. */
static void killer(pid_t target, const char *how) {
  double t0;
  close(orders[1]);
  if (read(orders[0], &t0, sizeof t0) != sizeof t0)
    _exit(0);
  target_sleep_ms(700);
  double t1 = target_now();
  kill(target, SIGKILL);
  target_line(
      "{\"ev\":\"gap\",\"kind\":\"exit\",\"fn\":\"hang\",\"how\":\"%s\",\"t0\":%.6f,\"t1\":%.6f,"
      "\"ms\":%.2f}",
      how, t0, t1, (t1 - t0) * 1e3);
  _exit(0);
}

int main(int argc, char **argv) {
  int computes = argc < 2 || !strcmp(argv[1], "cpu");
  target_start("stuck_killed");
  if (pipe(orders))
    return 1;
  pid_t me = getpid();
  if (!fork())
    killer(me, computes ? "cpu" : "futex");
  for (int i = 1;; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 25) {
      if (write(orders[1], &target_t_busy, sizeof target_t_busy) < 0)
        return 1;
      hang(computes);
    }
  }
}
