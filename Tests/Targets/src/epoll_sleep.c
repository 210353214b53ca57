/* TARGET group=stall
 * epoll + timerfd loop; twice a callback calls a blocking sleep on the main thread (nanosleep is
 * NOT the idle wait here, although it is a sleeping system call).  Also one usleep of 60 ms.
 * TRUTH: {"exit":0, "stalls":[{"fn":"load_config", "n":2, "ms":250, "tol":15, "how":"sleep",
 *   "chain":["*nanosleep*", "load_config", "on_timer", "main"]}, {"fn":"short_nap", "n":1,
 *   "ms":60, "tol":12, "how":"sleep"}], "idle":["epoll_wait"], "cpu_s":[0, 0.2]}
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

volatile int sink;

NOINLINE void load_config(void) {
  target_sleep_ms(250);
  sink++;
}

NOINLINE void short_nap(void) {
  usleep(60000);
  sink++;
}

NOINLINE void on_timer(int i) {
  if (i == 20 || i == 50) {
    target_tag("load_config", "sleep");
    load_config();
  }
  if (i == 35) {
    target_tag("short_nap", "sleep");
    short_nap();
  }
  sink++;
}

int main(void) {
  target_start("epoll_sleep");
  int e = epoll_create1(0), t = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec its = {{0, 20000000}, {0, 20000000}};
  timerfd_settime(t, 0, &its, NULL);
  struct epoll_event ev = {EPOLLIN, {.fd = t}};
  epoll_ctl(e, EPOLL_CTL_ADD, t, &ev);
  for (int i = 0; i < 80;) {
    target_idle_begin();
    int n = epoll_wait(e, &ev, 1, -1);
    target_idle_end();
    uint64_t k;
    if (n == 1 && read(t, &k, 8) == 8)
      on_timer(++i);
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
