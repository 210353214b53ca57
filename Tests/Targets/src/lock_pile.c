/* TARGET group=proc
 * A loop thread that polls.  Half a second after the start it takes a lock and makes 80 threads, which
 * all wait for it; a second later it lets them go one after the other.  `lock_pile slow N` makes N
 * threads, one each 40 ms: no fast growth.  Peak 81.
 * TRUTH: {"exit":0, "threads_peak":[81, 81], "parked":{"function":"pile_up", "count":80}}
 */
#include "target.h"

#include <poll.h>

static pthread_t threads[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void *pile_up(void *argument) {
  (void)argument;
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  __asm__ volatile("");
  return NULL;
}

static void rest(int times) {
  for (int i = 0; i < times; i++) {
    target_idle_begin();
    poll(NULL, 0, 10);
    target_idle_end();
  }
}

int main(int argc, char **argv) {
  int isSlow = argc > 2 && !strcmp(argv[1], "slow");
  int count = isSlow ? atoi(argv[2]) : 80;
  if (count > 512)
    count = 512;
  target_start("lock_pile");
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  rest(50);
  pthread_mutex_lock(&lock);
  int made = 0;
  while (made < count && !pthread_create(&threads[made], &small, pile_up, NULL)) {
    made++;
    if (isSlow)
      rest(4);
  }
  rest(100);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < made; i++)
    pthread_join(threads[i], NULL);
  rest(30);
  target_line("{\"ev\":\"threads\",\"made\":%d}", made);
  target_exit(0);
}
