/* TARGET group=loops
 * One event loop that is handed between three threads, main among them: whoever has it waits in
 * the same epoll_wait, handles what comes, and hands the loop to the next one; the others park in
 * a condition variable.  20 ms ticks; three handlers burn 300 ms, each on another thread.
 * TRUTH: {"exit":0, "stalls":[{"fn":"handle_burst", "n":3, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["handle_burst", "serve"]}], "idle":["epoll_wait", "futex"], "cpu_s":[0.8, 1.3]}
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

enum { threads = 3, ticks = 150 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn[threads] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                       PTHREAD_COND_INITIALIZER};
static int queue, whose, tick;
volatile int sink;

NOINLINE void handle_burst(void) {
  target_line("{\"ev\":\"burst\",\"tid\":%d}", (int)syscall(SYS_gettid));
  TARGET_BURN(300);
  sink++;
}

/* Handing over is part of what the kernel sees of a turn, and no part of the gap. */
static void tell_edge(double since) {
  double ms = (target_now() - since) * 1e3;
  if (since > 0 && ms > 0.3)
    target_line("{\"ev\":\"edge\",\"t\":%.6f,\"ms\":%.3f}", since, ms);
}

NOINLINE void *serve(void *number) {
  int me = (int)(intptr_t)number;
  double handled = 0;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (whose != me && tick < ticks) {
      tell_edge(handled);
      handled = 0;
      pthread_cond_wait(&turn[me], &lock);
    }
    if (tick >= ticks)
      break;
    pthread_mutex_unlock(&lock);
    struct epoll_event event;
    uint64_t expired;
    int n = epoll_wait(queue, &event, 1, -1);
    target_idle_end();
    if (n == 1 && read(event.data.fd, &expired, 8) == 8)
      tick++;
    /* 60, 85 and 110 leave the remainders 0, 1 and 2. */
    if (tick == 60 || tick == 85 || tick == 110) {
      target_tag("handle_burst", "cpu");
      handle_burst();
    }
    target_idle_begin();
    handled = target_gap_end;
    pthread_mutex_lock(&lock);
    whose = (me + 1) % threads;
    pthread_cond_signal(&turn[whose]);
  }
  for (int i = 0; i < threads; i++)
    pthread_cond_signal(&turn[i]);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  target_start("handed_loop");
  queue = epoll_create1(EPOLL_CLOEXEC);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec every = {{0, 20000000}, {0, 20000000}};
  timerfd_settime(timer, 0, &every, NULL);
  struct epoll_event event = {EPOLLIN, {.fd = timer}};
  epoll_ctl(queue, EPOLL_CTL_ADD, timer, &event);
  pthread_t other[threads];
  for (intptr_t i = 1; i < threads; i++)
    pthread_create(&other[i], NULL, serve, (void *)i);
  target_idle_begin();
  serve(0);
  for (int i = 1; i < threads; i++)
    pthread_join(other[i], NULL);
  target_exit(0);
}
