/* TARGET group=proc args=1000
 * "many_threads N [SECONDS]" makes N threads that wait, says so, stays for 1.2 s (or SECONDS) in which
 * the main thread burns half of the time, and ends.
 * TRUTH: {"exit":0, "stalls":[], "threads":1001}
 */
#include "target.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *parked(void *argument) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return argument;
}

int main(int argc, char **argv) {
  target_start("many_threads");
  int count = argc > 1 ? atoi(argv[1]) : 1000;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, parked, NULL))
      return 1;
  }
  target_line("{\"ev\":\"ready\",\"threads\":%d}", count + 1);
  double end = target_now() + (argc > 2 ? atof(argv[2]) : 1.2);
  while (target_now() < end) {
    TARGET_BURN(10);
    target_sleep_ms(10);
  }
  target_exit(0); /* with all of them alive */
}
