/* TARGET group=loops
 * An epoll loop that always finds work: 0.2 ms a turn, with a write and a read of a socket pair,
 * 100 % of a core and never asleep, yet healthy.  Then one real stall of 300 ms.
 * TRUTH: {"exit":0, "stalls":[{"fn":"real_stall", "n":1, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["real_stall", "main"]}], "idle":["epoll_wait"], "cpu_s":[1.6, 2.8]}
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/socket.h>

volatile int sink;

NOINLINE void serve(void) {
  TARGET_BURN(0.2);
  sink++;
}

NOINLINE void real_stall(void) {
  TARGET_BURN(300);
  sink++;
}

int main(void) {
  target_start("saturated_epoll");
  int ends[2], e = epoll_create1(0);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    return 1;
  struct epoll_event ev = {EPOLLIN, {.fd = ends[0]}};
  epoll_ctl(e, EPOLL_CTL_ADD, ends[0], &ev);
  double began = target_now();
  int done = 0;
  if (write(ends[1], "x", 1) != 1)
    return 1;
  while (target_now() - began < 2.2) {
    target_idle_begin();
    int n = epoll_wait(e, &ev, 1, -1);
    target_idle_end();
    char c;
    if (n != 1 || read(ends[0], &c, 1) != 1 || write(ends[1], &c, 1) != 1)
      return 1;
    serve();
    if (!done && target_now() - began > 1.2) {
      done = 1;
      target_tag("real_stall", "cpu");
      real_stall();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
