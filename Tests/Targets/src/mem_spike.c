/* TARGET group=memory
 * Three spikes of 160 MiB that live ~40 ms each; between them ~2 MiB.  A sampler at 100 ms misses
 * them; VmHWM (peak RSS) does not: the reported peak must be >= 158 MiB.
 * TRUTH: {"exit":0, "stalls":[], "peak_mib":[158, 175], "idle":["poll"], "gap_ok_ms":400}
 */
#include "target.h"

#include <poll.h>

int main(void) {
  target_start("mem_spike");
  for (int i = 1; i <= 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 25);
    target_idle_end();
    if (i % 20 == 10) {
      size_t n = 160u << 20;
      char *p = (char *)mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for (size_t k = 0; k < n; k += 4096)
        p[k] = 1;
      target_mem("spike");
      target_idle_begin();
      poll(NULL, 0, 30);
      target_idle_end();
      munmap(p, n);
    }
  }
  target_mem("end");
  target_exit(0);
}
