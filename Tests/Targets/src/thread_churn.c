/* TARGET group=proc
 * Threads one after the other, each of which burns 8 ms of CPU and ends, for 1.5 s of CPU in all. A
 * sampler at 100 ms sees most of them never, and hardly one of them twice.
 * TRUTH: {"exit":0, "stalls":[], "cpu_s":[1.4, 1.8]}
 */
#include "target.h"

static void *burst(void *argument) {
  while (target_thread_cpu() < 0.008) {
    TARGET_BURN(0.5);
  }
  return argument;
}

int main(void) {
  target_start("thread_churn");
  for (int i = 0; i < 188; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, burst, NULL))
      return 1;
    pthread_join(thread, NULL);
  }
  target_exit(0);
}
