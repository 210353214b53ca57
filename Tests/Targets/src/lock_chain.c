/* TARGET group=cause
 * poll loop; the main thread needs a mutex that "first" holds, which waits for one that "second"
 * holds, which works for 350 ms in slow_root.  The chain is main -> first -> second.
 * TRUTH: {"exit":0, "stalls":[{"fn":"update", "n":2, "ms":350, "tol":40, "how":"futex"}]}
 */
#include "target.h"

#include <poll.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static volatile int want, step, sink;

NOINLINE void slow_root(void) {
  target_sleep_ms(350);
  sink++;
}

NOINLINE void middle(void) {
  pthread_mutex_lock(&two);
  sink++;
  pthread_mutex_unlock(&two);
}

static void *first(void *a) {
  prctl(PR_SET_NAME, "first");
  while (want >= 0) {
    if (want == 1 && step == 1) {
      pthread_mutex_lock(&one);
      step = 2;
      middle();
      pthread_mutex_unlock(&one);
    }
    target_sleep_ms(1);
  }
  return a;
}

static void *second(void *a) {
  prctl(PR_SET_NAME, "second");
  while (want >= 0) {
    if (want == 1 && step == 0) {
      pthread_mutex_lock(&two);
      step = 1;
      slow_root();
      pthread_mutex_unlock(&two);
    }
    target_sleep_ms(1);
  }
  return a;
}

NOINLINE void update(void) {
  pthread_mutex_lock(&one);
  sink++;
  pthread_mutex_unlock(&one);
}

int main(void) {
  target_start("lock_chain");
  pthread_t a, b;
  pthread_create(&a, NULL, first, NULL);
  pthread_create(&b, NULL, second, NULL);
  for (int i = 1; i <= 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    step = 0;
    want = 1;
    while (step != 2)
      target_sleep_ms(1);
    target_tag("update", "futex");
    update();
    want = 0;
  }
  target_idle_begin();
  target_idle_end();
  want = -1;
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  target_exit(0);
}
