/* TARGET group=cpu
 * Duty cycle of 12 ms burn / 8 ms idle for 3 s on the main thread (about 60 % of a core), then 1 s
 * of two burning threads (up to 200 %), then 1 s idle.  Report: mean and peak; no stall above 50
 * ms; user time dominates.
 * TRUTH: {"exit":0, "stalls":[], "cpu_s":[2.6, 4.2], "phases":[{"name":"duty", "pct":[52, 66]},
 *   {"name":"two", "pct":[90, 205]}, {"name":"idle", "pct":[0, 3]}], "idle":["poll"],
 *   "gap_ok_ms":60}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void duty_burn(void) {
  TARGET_BURN(12);
  sink++;
}

NOINLINE void *second(void *a) {
  prctl(PR_SET_NAME, "second");
  TARGET_BURN(1000);
  return a;
}

static double c0, t0;

static void phase(const char *n) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  double c = target_tv(r.ru_utime) + target_tv(r.ru_stime), t = target_now();
  if (n)
    target_line(
        "{\"ev\":\"phase\",\"name\":\"%s\",\"t0\":%.6f,\"t1\":%.6f,\"cpu_s\":%.4f,\"pct\":%.1f}", n,
        t0, t, c - c0, (c - c0) / (t - t0) * 100);
  c0 = c;
  t0 = t;
}

int main(void) {
  target_start("cpu_duty");
  phase(NULL);
  double e = target_now() + 3;
  while (target_now() < e) {
    duty_burn();
    target_idle_begin();
    poll(NULL, 0, 8);
    target_idle_end();
  }
  phase("duty");
  pthread_t a, b;
  pthread_create(&a, NULL, second, NULL);
  pthread_create(&b, NULL, second, NULL);
  e = target_now() + 1;
  while (target_now() < e) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
  }
  phase("two");
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  phase(NULL);
  e = target_now() + 1;
  while (target_now() < e) {
    target_idle_begin();
    poll(NULL, 0, 50);
    target_idle_end();
  }
  phase("idle");
  target_exit(0);
}
