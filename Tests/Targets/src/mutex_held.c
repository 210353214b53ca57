/* TARGET group=stall
 * epoll loop; the main thread needs a mutex that a worker holds for 350 ms while computing.  Main
 * is blocked in futex; the guilty thread is "holder" in slow_under_lock.
 * TRUTH: {"exit":0, "stalls":[{"fn":"update_cache", "n":2, "ms":350, "tol":40, "how":"futex",
 *   "chain":["update_cache", "on_tick", "main"], "other":{"comm":"holder",
 *   "fn":"slow_under_lock"}}], "idle":["epoll_wait"], "cpu_s":[0.4, 1.2]}
 */
#include "target.h"

#include <sched.h>
#include <sys/epoll.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int want, held, sink;

NOINLINE void slow_under_lock(void) {
  TARGET_BURN(350);
  sink++;
}

NOINLINE void *holder(void *a) {
  prctl(PR_SET_NAME, "holder");
  for (;;) {
    while (!want)
      target_sleep_ms(1);
    if (want < 0)
      return a;
    pthread_mutex_lock(&m);
    want = 0;
    held = 1;
    slow_under_lock();
    held = 0;
    pthread_mutex_unlock(&m);
  }
}

NOINLINE void update_cache(void) {
  pthread_mutex_lock(&m);
  sink++;
  pthread_mutex_unlock(&m);
}

NOINLINE void on_tick(int i) {
  if (i == 20 || i == 45) {
    want = 1;
    while (!held)
      sched_yield();
    target_tag("update_cache", "futex");
    update_cache();
  }
  sink++;
}

int main(void) {
  target_start("mutex_held");
  pthread_t t;
  pthread_create(&t, NULL, holder, NULL);
  int e = epoll_create1(0);
  struct epoll_event ev;
  for (int i = 1; i <= 65; i++) {
    target_idle_begin();
    epoll_wait(e, &ev, 1, 20);
    target_idle_end();
    on_tick(i);
  }
  target_idle_begin();
  target_idle_end();
  want = -1;
  pthread_join(t, NULL);
  target_exit(0);
}
