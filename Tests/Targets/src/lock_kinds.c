/* TARGET group=cause
 * lock_kinds KIND: poll loop; the main thread waits twice for 300 ms for what "holder" has: pi,
 * recursive, robust, reader, writer (rwlocks, held for writing), shared (held for reading), sem, cond, join.
 * TRUTH: {"exit":0, "stalls":[{"fn":"need", "n":2, "ms":300, "tol":40, "how":"futex"}]}
 */
#include "target.h"

#include <poll.h>
#include <semaphore.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static const char *kind;
static volatile int want, held, ready, sink;
static pthread_t thread;

static int is(const char *text) {
  return !strcmp(kind, text);
}

static int is_rw(void) {
  return is("reader") || is("writer") || is("shared");
}

NOINLINE void hold_it(void) {
  target_sleep_ms(300);
  sink++;
}

static void once(void) {
  if (is_rw()) {
    is("shared") ? pthread_rwlock_rdlock(&rw) : pthread_rwlock_wrlock(&rw);
    held = 1;
    hold_it();
    pthread_rwlock_unlock(&rw);
  } else if (is("sem")) {
    held = 1;
    hold_it();
    sem_post(&sem);
  } else if (is("cond")) {
    held = 1;
    hold_it();
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
  } else {
    pthread_mutex_lock(&mutex);
    held = 1;
    hold_it();
    pthread_mutex_unlock(&mutex);
  }
}

static void *holder(void *a) {
  prctl(PR_SET_NAME, "holder");
  if (is("join")) {
    held = 1;
    hold_it();
    return a;
  }
  while (want >= 0) {
    if (want == 1) {
      want = 0;
      once();
    }
    target_sleep_ms(1);
  }
  return a;
}

NOINLINE void need(void) {
  if (is_rw()) {
    is("reader") ? pthread_rwlock_rdlock(&rw) : pthread_rwlock_wrlock(&rw);
    pthread_rwlock_unlock(&rw);
  } else if (is("sem")) {
    sem_wait(&sem);
  } else if (is("join")) {
    pthread_join(thread, NULL);
  } else {
    pthread_mutex_lock(&mutex);
    while (is("cond") && !ready)
      pthread_cond_wait(&cond, &mutex);
    ready = 0;
    pthread_mutex_unlock(&mutex);
  }
  sink++;
}

int main(int count, char **words) {
  target_start("lock_kinds");
  kind = count > 1 ? words[1] : "pi";
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  if (is("pi"))
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
  if (is("recursive"))
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  if (is("robust"))
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attr);
  sem_init(&sem, 0, 0);
  if (!is("join"))
    pthread_create(&thread, NULL, holder, NULL);
  for (int i = 1; i <= 55; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    held = 0;
    if (is("join"))
      pthread_create(&thread, NULL, holder, NULL);
    want = 1;
    while (!held)
      target_sleep_ms(1);
    target_tag("need", "futex");
    need();
  }
  target_idle_begin();
  target_idle_end();
  want = -1;
  if (!is("join"))
    pthread_join(thread, NULL);
  target_exit(0);
}
