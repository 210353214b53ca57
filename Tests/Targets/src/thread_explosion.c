/* TARGET group=proc
 * 400 threads are created over 0.4 s, live ~1 s idle, then leave one by one.  Peak 401.  An all-
 * threads stack must be bounded in time; the main thread never stalls (it only joins between
 * ticks).  Total CPU is small.
 * TRUTH: {"exit":0, "stalls":[], "threads_peak":[395, 402], "cpu_s":[0, 0.8], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

static pthread_t th[400];
static volatile int quit_upto = -1;

static void *idle_thread(void *a) {
  long id = (long)a;
  char nm[16];
  snprintf(nm, sizeof nm, "pool-%ld", id);
  prctl(PR_SET_NAME, nm);
  while (quit_upto < id)
    target_sleep_ms(20);
  return NULL;
}

int main(void) {
  target_start("thread_explosion");
  pthread_attr_t at;
  pthread_attr_init(&at);
  pthread_attr_setstacksize(&at, 65536);
  int made = 0;
  long peak = 0;
  for (int i = 0; i < 100; i++) {
    target_idle_begin();
    poll(NULL, 0, 15);
    target_idle_end();
    for (int k = 0; k < 14 && made < 400; k++)
      if (!pthread_create(&th[made], &at, idle_thread, (void *)(long)made))
        made++;
    long n = target_kb("Threads");
    if (n > peak)
      peak = n;
    if (i > 70)
      quit_upto += 14;
  }
  quit_upto = 1000;
  target_idle_begin();
  for (int i = 0; i < made; i++)
    pthread_join(th[i], NULL);
  target_idle_end();
  target_line("{\"ev\":\"threads\",\"peak\":%ld,\"made\":%d}", peak, made);
  target_exit(0);
}
