// 50 threads: main and 49 workers that burn a little CPU once and then wait for ever.
// gcc -O1 -pthread threads50.c -o threads50
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile unsigned long sink;

static void *work(void *argument) {
  char name[16];
  snprintf(name, sizeof name, "worker %ld", (long)argument);
  prctl(PR_SET_NAME, name);
  for (long i = 0; i < 2000000 * (long)argument; i++) sink += 1;
  pause();
  return argument;
}

int main(void) {
  for (long i = 1; i < 50; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, (void *)i);
  }
  pause();
}
