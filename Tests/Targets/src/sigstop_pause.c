/* TARGET group=stall
 * A child stops the target twice for 700 ms with SIGSTOP/SIGCONT, once while it is idle in poll
 * and once in the middle of a burn of 200 ms of CPU.  Stopped time is not the target's fault: the
 * burn is one stall of 200 ms running time (900 ms of wall).
 * TRUTH: {"exit":0, "stalls":[{"fn":"interrupted_burn", "n":1, "min_ms":195, "max_ms":1100,
 *   "how":"cpu+stopped", "chain":["interrupted_burn", "main"]}], "stopped_ms":[{"n":2, "ms":700,
 *   "tol":60}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;
static int orders[2];

NOINLINE void interrupted_burn(void) {
  double c = target_thread_cpu();
  do {
    TARGET_BURN(1);
  } while (target_thread_cpu() - c < 0.2);
  sink++;
}

static void ask(char c) {
  if (write(orders[1], &c, 1) != 1)
    sink++;
}

static void stopper(pid_t target) {
  char c;
  close(orders[1]);
  while (read(orders[0], &c, 1) == 1) {
    target_sleep_ms(c == 'b' ? 60 : 5);
    double t0 = target_now();
    kill(target, SIGSTOP);
    target_sleep_ms(700);
    kill(target, SIGCONT);
    target_line("{\"ev\":\"stopped\",\"t0\":%.6f,\"ms\":%.1f}", t0, (target_now() - t0) * 1e3);
  }
  _exit(0);
}

int main(void) {
  target_start("sigstop_pause");
  if (pipe(orders))
    return 1;
  pid_t me = getpid(), child = fork();
  if (!child)
    stopper(me);
  close(orders[0]);
  for (int i = 1; i <= 90; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 20)
      ask('i');
    if (i == 60) {
      ask('b');
      target_tag("interrupted_burn", "cpu+stopped");
      interrupted_burn();
    }
  }
  target_idle_begin();
  target_idle_end();
  close(orders[1]);
  waitpid(child, NULL, 0);
  target_exit(0);
}
