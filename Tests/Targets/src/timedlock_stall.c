/* TARGET group=stall
 * A handler that cannot have its lock tries again every 5 ms for 300 ms (pthread_mutex_timedlock),
 * as interpreters with a global lock do: a lock wait that looks like a healthy loop.  Home is poll.
 * TRUTH: {"exit":0, "stalls":[{"fn":"try_lock", "n":2, "min_ms":290, "max_ms":360,
 *   "how":"futex", "chain":["try_lock", "main"]}], "idle":["poll"], "cpu_s":[0, 0.2]}
 */
#include "target.h"

#include <poll.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int want;
volatile int sink;

NOINLINE void *holder(void *a) {
  prctl(PR_SET_NAME, "holder");
  while (want >= 0) {
    target_sleep_ms(1);
    if (want != 1)
      continue;
    pthread_mutex_lock(&lock);
    want = 2;
    target_sleep_ms(300);
    want = 0;
    pthread_mutex_unlock(&lock);
  }
  return a;
}

NOINLINE void try_lock(void) {
  for (;;) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      until.tv_sec++;
    }
    if (pthread_mutex_timedlock(&lock, &until) == 0)
      break;
    sink++;
  }
  pthread_mutex_unlock(&lock);
}

int main(void) {
  target_start("timedlock_stall");
  pthread_t t;
  pthread_create(&t, NULL, holder, NULL);
  for (int i = 1; i <= 70; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 25 || i == 50) {
      target_tag("try_lock", "futex");
      want = 1;
      while (want == 1)
        sink++;
      try_lock();
    }
  }
  target_idle_begin();
  target_idle_end();
  want = -1;
  pthread_join(t, NULL);
  target_exit(0);
}
