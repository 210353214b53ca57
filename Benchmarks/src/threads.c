/* The watched program: COUNT threads, main included.
 *
 *   threads busy COUNT    main computes for ever, the others block (half in a futex, half in poll)
 *   threads awake COUNT   every thread wakes ten times a second and does a little
 * Prints "ready" when all of them run. */
#include "common.h"
#include <poll.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int started, awake;
static volatile unsigned long result;

static void wake_for_ever(unsigned number) {
  uint64_t next = now_ns() + (uint64_t)number * 99991u; /* spread over the tenth of a second */
  for (;;) {
    next += 100000000u;
    sleep_until(next);
    for (unsigned i = 0; i < 2000; i++) result += i;
  }
}

static void *other(void *argument) {
  unsigned number = (unsigned)(uintptr_t)argument;
  __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
  if (awake) wake_for_ever(number);
  if (number & 1)
    for (;;) poll(NULL, 0, -1);
  pthread_mutex_lock(&lock);
  for (;;) pthread_cond_wait(&never, &lock);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  awake = !strcmp(argv[1], "awake");
  int others = atoi(argv[2]) - 1;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (int i = 0; i < others; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, other, (void *)(uintptr_t)(i + 1))) return 1;
  }
  while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < others) usleep(1000);
  printf("ready\n");
  fflush(stdout);
  if (awake) wake_for_ever(0);
  for (;;) result++;
}
