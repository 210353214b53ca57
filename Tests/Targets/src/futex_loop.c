/* TARGET group=loops
 * A job loop on a condition variable: main parks in futex and another thread hands it a job every
 * 20 ms.  Lock waits are the commonest stalls as well, so this home has to be learnt.  Two
 * computations of 300 ms; what was handed in meanwhile is one job.
 * TRUTH: {"exit":0, "stalls":[{"fn":"crunch", "n":2, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["crunch", "main"]}], "idle":["futex"], "cpu_s":[0.5, 0.9]}
 */
#include "target.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int has_job, is_over;
volatile int sink;

NOINLINE void crunch(void) {
  TARGET_BURN(300);
  sink++;
}

NOINLINE void *feeder(void *a) {
  prctl(PR_SET_NAME, "feeder");
  int over = 0;
  while (!over) {
    target_sleep_ms(20);
    pthread_mutex_lock(&lock);
    has_job = 1;
    over = is_over;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&changed);
  }
  return a;
}

int main(void) {
  target_start("futex_loop");
  pthread_t t;
  pthread_create(&t, NULL, feeder, NULL);
  for (int i = 1; i <= 80; i++) {
    pthread_mutex_lock(&lock);
    target_idle_begin();
    while (!has_job)
      pthread_cond_wait(&changed, &lock);
    target_idle_end();
    has_job = 0;
    pthread_mutex_unlock(&lock);
    if (i == 30 || i == 60) {
      target_tag("crunch", "cpu");
      crunch();
    }
  }
  target_idle_begin();
  target_idle_end();
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  target_exit(0);
}
