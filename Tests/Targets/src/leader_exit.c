/* TARGET group=attach
 * main() ends by pthread_exit after 0.3 s; two workers live 2 s more (one burns 60 % of a core).
 * /proc/<pid>/stat says state Z, /proc/<pid>/maps, exe and status memory lines are empty or
 * unreadable through the leader (use /proc/<pid>/task/<tid>/...), yet the process is alive: keep
 * measuring, do not report "exited"; final status 5.
 * TRUTH: {"exit":5, "stalls":[], "cpu_s":[0.9, 1.6], "alive_s":[2.2, 3.2]}
 */
#include "target.h"

volatile int sink;

NOINLINE void *burner(void *a) {
  prctl(PR_SET_NAME, "burner");
  double e = target_now() + 2.2;
  while (target_now() < e) {
    TARGET_BURN(12);
    target_sleep_ms(8);
  }
  return a;
}

NOINLINE void *closer(void *a) {
  prctl(PR_SET_NAME, "closer");
  pthread_join(*(pthread_t *)a, NULL);
  target_exit(5);
  return a;
}

int main(void) {
  target_start("leader_exit");
  static pthread_t b, c;
  pthread_create(&b, NULL, burner, NULL);
  pthread_create(&c, NULL, closer, &b);
  target_sleep_ms(300);
  target_kind_tag = NULL;
  target_line("{\"ev\":\"leader_exit\",\"t\":%.6f}", target_now());
  pthread_exit(NULL);
}
