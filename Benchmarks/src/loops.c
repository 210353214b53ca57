/* Programs made of epoll loops.
 *
 *   loops calm COUNT   COUNT loop threads, main included, each turning 50 times a second
 *   loops paced        one loop, 1000 turns a second by a timer, a fixed piece of work each
 *   loops full         one loop that always finds work: a fixed piece of about 1 ms each
 *   loops busy         the same in pieces of about 0.2 ms
 *   loops frames       one loop, 60 turns a second by a timer, about 8 ms of work each
 * Prints "ready". `paced` and `full` answer every byte on standard input with a line
 * "turns thread-cpu-ns monotonic-ns" and end with it. */
#include "common.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>

static volatile unsigned long result;

static void work(unsigned long rounds) {
  unsigned long x = 1;
  for (unsigned long i = 0; i < rounds; i++) x = x * 2862933555777941757UL + 3037000493UL;
  result += x;
}

static int timer_queue(long period_ns) {
  int queue = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec every = {{0, period_ns}, {0, period_ns}};
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = timer}};
  if (timerfd_settime(timer, 0, &every, NULL) || epoll_ctl(queue, EPOLL_CTL_ADD, timer, &event)) exit(1);
  return queue;
}

static void *calm(void *argument) {
  char name[16];
  snprintf(name, sizeof name, "loop-%d", (int)(intptr_t)argument);
  prctl(PR_SET_NAME, name);
  int queue = timer_queue(20000000);
  for (;;) {
    struct epoll_event event;
    uint64_t expired;
    if (epoll_wait(queue, &event, 1, -1) == 1 && read(event.data.fd, &expired, 8) == 8) work(20000);
  }
  return NULL;
}

static void count_turns(int queue, unsigned long rounds) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = 0}};
  int turns = 0;
  if (epoll_ctl(queue, EPOLL_CTL_ADD, 0, &event)) exit(1);
  for (;;) {
    struct epoll_event ready[2];
    int count = epoll_wait(queue, ready, 2, -1);
    for (int i = 0; i < count; i++) {
      uint64_t number = 0;
      if (ready[i].data.fd == 0) {
        if (read(0, &number, 1) != 1) exit(0);
        printf("%d %llu %llu\n", turns, (unsigned long long)clock_ns(CLOCK_THREAD_CPUTIME_ID),
               (unsigned long long)now_ns());
        fflush(stdout);
        continue;
      }
      if (read(ready[i].data.fd, &number, 8) != 8) exit(1);
      work(rounds);
      turns++;
      /* An eventfd is made ready again; a timer does not take it. */
      number = 1;
      if (write(ready[i].data.fd, &number, 8) != 8 && errno != EINVAL) exit(1);
    }
  }
}

/* Rounds that take about so long, from the fastest of some tries. */
static unsigned long rounds_for(double ns) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 20; i++) {
    uint64_t began = now_ns();
    work(200000);
    uint64_t took = now_ns() - began;
    if (took < best) best = took;
  }
  return (unsigned long)(200000.0 * ns / (double)best);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int others = argc > 2 ? atoi(argv[2]) - 1 : 0;
  int is_paced = !strcmp(argv[1], "paced"), is_full = !strcmp(argv[1], "full");
  int is_busy = !strcmp(argv[1], "busy"), has_frames = !strcmp(argv[1], "frames");
  unsigned long rounds = rounds_for(is_full ? 1e6 : has_frames ? 8e6 : 200e3);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (int i = 0; i < others; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, calm, (void *)(intptr_t)(i + 1))) return 1;
  }
  printf("ready\n");
  fflush(stdout);
  if (is_paced) count_turns(timer_queue(1000000), rounds);
  if (has_frames) count_turns(timer_queue(16666667), rounds);
  if (is_full || is_busy) {
    int queue = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = eventfd(1, 0)}};
    if (epoll_ctl(queue, EPOLL_CTL_ADD, event.data.fd, &event)) return 1;
    count_turns(queue, rounds);
  }
  calm((void *)0);
}
