/* TARGET group=cause
 * crowded NICENESS: poll loop; twice 40 ms of computing by its own CPU clock, which take far longer
 * where other programs want the CPUs. Each gap says how long it was ready without one (cpu_ms is what it
 * used). For NICENESS above 0 it gives way to them.
 * TRUTH: {"exit":0, "stalls":[{"fn":"compute", "n":2, "min_ms":40, "how":"crowd"}]}
 */
#include "target.h"

#include <poll.h>

static volatile int sink;

NOINLINE void compute(void) {
  double end = target_thread_cpu() + 0.04;
  volatile unsigned long x = 1;
  while (target_thread_cpu() < end)
    for (int i = 0; i < 20000; i++)
      x = x * 2862933555777941757UL + 3037000493UL;
  sink++;
}

int main(int count, char **words) {
  target_start("crowded");
  if (setpriority(PRIO_PROCESS, 0, count > 1 ? atoi(words[1]) : 0))
    return 1;
  for (int i = 1; i <= 55; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    target_tag("compute", "crowd");
    compute();
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
