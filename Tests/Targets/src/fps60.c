/* TARGET group=stall
 * A frame loop at 60 FPS (read of a timerfd, 16.667 ms) for 3 s.  Eight slow frames: five of 40 ms
 * and three of 90 ms.  Normal frames burn 4 ms.
 * TRUTH: {"exit":0, "stalls":[{"fn":"slow_frame40", "n":5, "ms":40, "tol":6, "how":"cpu"},
 *   {"fn":"slow_frame90", "n":3, "ms":90, "tol":8, "how":"cpu"}], "dropped":17, "dropped_tol":4,
 *   "idle":["read@timerfd"], "cpu_s":[0.9, 1.6]}
 */
#include "target.h"

#include <sys/timerfd.h>

volatile int sink;

NOINLINE void slow_frame40(void) {
  TARGET_BURN(40);
  sink++;
}

NOINLINE void slow_frame90(void) {
  TARGET_BURN(90);
  sink++;
}

NOINLINE void normal_frame(void) {
  TARGET_BURN(4);
  sink++;
}

NOINLINE void render(int i) {
  if (i % 30 == 10 && i < 160) {
    target_tag("slow_frame40", "cpu");
    slow_frame40();
  } else if (i == 45 || i == 75 || i == 105) {
    target_tag("slow_frame90", "cpu");
    slow_frame90();
  } else {
    normal_frame();
  }
  sink++;
}

int main(void) {
  target_start("fps60");
  int t = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec its = {{0, 16666667}, {0, 16666667}};
  timerfd_settime(t, 0, &its, NULL);
  long dropped = 0;
  int frames = 0;
  double end = target_now() + 3.0;
  while (target_now() < end) {
    uint64_t k = 0;
    target_idle_begin();
    ssize_t n = read(t, &k, 8);
    target_idle_end();
    if (n != 8)
      continue;
    frames++;
    if (k > 1)
      dropped += (long)k - 1;
    render(frames);
  }
  target_idle_begin();
  target_idle_end();
  target_line("{\"ev\":\"frames\",\"frames\":%d,\"dropped\":%ld}", frames, dropped);
  target_exit(0);
}
