/* TARGET group=stall
 * The main thread touches 64 MiB and gives them back, over and over for 300 ms: the time goes to
 * page faults (system CPU dominates).  The footprint peaks near 64 MiB.
 * TRUTH: {"exit":0, "stalls":[{"fn":"fault_in", "n":2, "min_ms":300, "max_ms":420, "how":"fault",
 *   "chain":["fault_in", "rebuild_index", "main"]}], "idle":["poll"], "peak_mib":[60, 80]}
 */
#include "target.h"

#include <poll.h>

volatile int sink;

NOINLINE void fault_in(char *p, size_t n) {
  for (size_t i = 0; i < n; i += 4096)
    p[i] = 1;
  /* Freed here, too: a seventh of the time, which belongs to the same function. */
  madvise(p, n, MADV_DONTNEED);
  sink++;
}

NOINLINE void rebuild_index(void) {
  size_t n = 64u << 20;
  char *p = (char *)mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(p, n, MADV_NOHUGEPAGE);
  double t = target_now();
  do {
    fault_in(p, n);
  } while (target_now() - t < 0.3);
  munmap(p, n);
  sink++;
}

int main(void) {
  target_start("fault_storm");
  for (int i = 1; i <= 50; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 15 || i == 35) {
      target_tag("fault_in", "fault");
      rebuild_index();
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
