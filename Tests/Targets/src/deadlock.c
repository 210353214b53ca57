/* TARGET group=cause
 * poll loop; main takes a and then b, "worker" takes b and then a: a deadlock, until a third thread
 * ends the process after 900 ms.
 * TRUTH: {"exit":0, "stalls":[{"fn":"take_both", "n":1, "ms":900, "tol":100, "how":"futex"}]}
 */
#include "target.h"

#include <poll.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile int has_a, has_b, sink;

NOINLINE void take_other(void) {
  pthread_mutex_lock(&b);
  has_b = 1;
  while (!has_a)
    target_sleep_ms(1);
  pthread_mutex_lock(&a);
  sink++;
}

static void *worker(void *x) {
  prctl(PR_SET_NAME, "worker");
  take_other();
  return x;
}

static void *end(void *x) {
  prctl(PR_SET_NAME, "end");
  while (!has_a)
    target_sleep_ms(1);
  target_sleep_ms(900);
  /* The main thread will never come home: its turn ends here. */
  target_gap_emit("exit");
  target_end(0);
  _exit(0);
  return x;
}

NOINLINE void take_both(void) {
  pthread_mutex_lock(&a);
  has_a = 1;
  while (!has_b)
    target_sleep_ms(1);
  pthread_mutex_lock(&b);
  sink++;
}

int main(void) {
  target_start("deadlock");
  pthread_t t;
  for (int i = 1;; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i < 20)
      continue;
    target_tag("take_both", "futex");
    pthread_create(&t, NULL, worker, NULL);
    pthread_create(&t, NULL, end, NULL);
    take_both();
  }
}
