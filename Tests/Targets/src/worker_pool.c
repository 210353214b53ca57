/* TARGET group=loops
 * usage: worker_pool [JOB_MS]
 * main has the loop (epoll, 20 ms ticks) and is always responsive; two pool threads park in a
 * condition variable and crunch jobs of 400 ms.  Their work is no stall.
 * TRUTH: {"exit":0, "stalls":[], "idle":["epoll_wait"]}
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

enum { ticks = 180, ticks_between_jobs = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int jobs, job_ms = 400, done;
volatile int sink;

NOINLINE void crunch(void) {
  TARGET_BURN(job_ms);
  sink++;
}

NOINLINE void *worker(void *unused) {
  (void)unused;
  prctl(PR_SET_NAME, "worker");
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!jobs)
      pthread_cond_wait(&work, &lock);
    jobs--;
    pthread_mutex_unlock(&lock);
    crunch();
    pthread_mutex_lock(&lock);
    done++;
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 1)
    job_ms = atoi(argv[1]);
  target_start("worker_pool");
  int queue = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec every = {{0, 20000000}, {0, 20000000}};
  timerfd_settime(timer, 0, &every, NULL);
  struct epoll_event event = {EPOLLIN, {.fd = timer}};
  epoll_ctl(queue, EPOLL_CTL_ADD, timer, &event);
  pthread_t pool[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&pool[i], NULL, worker, NULL);
  for (int i = 0; i < ticks;) {
    target_idle_begin();
    int n = epoll_wait(queue, &event, 1, -1);
    target_idle_end();
    uint64_t expired;
    if (n != 1 || read(timer, &expired, 8) != 8)
      continue;
    if (++i % ticks_between_jobs == 0) {
      pthread_mutex_lock(&lock);
      jobs++;
      pthread_cond_signal(&work);
      pthread_mutex_unlock(&lock);
    }
  }
  target_idle_begin();
  target_line("{\"ev\":\"pool\",\"done\":%d}", done);
  target_exit(0);
}
