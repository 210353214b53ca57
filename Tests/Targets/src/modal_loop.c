/* TARGET group=loops
 * A handler opens a modal dialog: for 500 ms an inner epoll loop turns every 20 ms, deeper in the
 * stack than home, and the outer loop does not come back.  At best that is reported as kind
 * "nested", never as a stall.  Before and after it an ordinary stall of 200 ms.
 * TRUTH: {"exit":0, "stalls":[{"fn":"slow_click", "n":2, "ms":200, "tol":20, "how":"cpu",
 *   "chain":["slow_click", "main"]}, {"fn":"dialog", "n":1, "ms":500, "tol":60, "how":"wait",
 *   "kind":"nested"}], "idle":["epoll_wait"]}
 */
#include "target.h"

#include <sys/epoll.h>

static int queue;
volatile int sink;

NOINLINE void slow_click(void) {
  TARGET_BURN(200);
  sink++;
}

NOINLINE void dialog(void) {
  volatile char frame[2048];
  struct epoll_event ev;
  double until = target_now() + 0.5;
  while (target_now() < until) {
    frame[0] = (char)epoll_wait(queue, &ev, 1, 20);
    sink += frame[0];
  }
}

int main(void) {
  target_start("modal_loop");
  queue = epoll_create1(0);
  struct epoll_event ev;
  for (int i = 1; i <= 80; i++) {
    target_idle_begin();
    epoll_wait(queue, &ev, 1, 20);
    target_idle_end();
    if (i == 25 || i == 65) {
      target_tag("slow_click", "cpu");
      slow_click();
    }
    if (i == 45) {
      target_tag("dialog", "wait");
      target_kind_tag = "nested";
      dialog();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
