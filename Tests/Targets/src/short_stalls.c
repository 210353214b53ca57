/* TARGET group=stall
 * Five stalls each of 30, 60 and 120 ms in separate functions, 50 ms apart.  With a threshold T
 * exactly those of T or more are reported (100: 5; 50: 10; 25: 15).
 * TRUTH: {"exit":0, "stalls":[{"fn":"stall_030", "n":5, "ms":30, "tol":8, "how":"cpu"},
 *   {"fn":"stall_060", "n":5, "ms":60, "tol":8, "how":"cpu"}, {"fn":"stall_120", "n":5, "ms":120,
 *   "tol":10, "how":"cpu"}], "idle":["epoll_wait"], "cpu_s":[0.9, 1.4]}
 */
#include "target.h"

#include <sys/epoll.h>

volatile int sink;

NOINLINE void stall_030(void) {
  TARGET_BURN(30);
  sink++;
}

NOINLINE void stall_060(void) {
  TARGET_BURN(60);
  sink++;
}

NOINLINE void stall_120(void) {
  TARGET_BURN(120);
  sink++;
}

static void handle(int number) {
  switch (number % 3) {
    case 0:
      target_tag("stall_030", "cpu");
      stall_030();
      break;
    case 1:
      target_tag("stall_060", "cpu");
      stall_060();
      break;
    default:
      target_tag("stall_120", "cpu");
      stall_120();
  }
}

int main(void) {
  target_start("short_stalls");
  int e = epoll_create1(0);
  struct epoll_event ev;
  for (int i = 0; i < 48; i++) {
    target_idle_begin();
    epoll_wait(e, &ev, 1, 17);
    target_idle_end();
    if (i % 3 == 2 && i < 45)
      handle(i / 3);
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
