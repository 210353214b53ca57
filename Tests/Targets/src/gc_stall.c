/* TARGET group=stall
 * A stall that blocks shortly again and again, as a collector with helper threads does: twenty
 * times some computing and then a futex wait of 1 ms, 250 ms in all.  Each wait is a voluntary
 * switch, so "it switched, so it lives" misses the stall.
 * TRUTH: {"exit":0, "stalls":[{"fn":"collect", "n":2, "min_ms":240, "max_ms":300, "how":"cpu",
 *   "chain":["collect", "main"]}], "idle":["poll"], "cpu_s":[0.3, 0.8]}
 */
#include "target.h"

#include <poll.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
volatile int sink;

NOINLINE void wait_for_helpers(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_mutex_lock(&lock);
  pthread_cond_timedwait(&never, &lock, &until);
  pthread_mutex_unlock(&lock);
}

NOINLINE void collect(void) {
  for (int i = 0; i < 20; i++) {
    TARGET_BURN(11.5);
    wait_for_helpers();
  }
  sink++;
}

int main(void) {
  target_start("gc_stall");
  for (int i = 1; i <= 70; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 25 || i == 50) {
      target_tag("collect", "cpu");
      collect();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
