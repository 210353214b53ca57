/* TARGET group=memory
 * Leaks 6 MiB every 30 ms, touched, up to 300 MiB, then keeps it for 0.6 s.  Footprint rises in a
 * straight line and peaks at 300 MiB +-6; no stall.
 * TRUTH: {"exit":0, "stalls":[], "peak_mib":[298, 312], "slope_mib_per_s":[150, 215],
 *   "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

int main(void) {
  target_start("leak_ramp");
  long tot = 0;
  for (int i = 0; i < 70; i++) {
    target_idle_begin();
    poll(NULL, 0, 30);
    target_idle_end();
    if (tot < 300) {
      size_t n = 6u << 20;
      char *p = (char *)mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      madvise(p, n, MADV_NOHUGEPAGE);
      memset(p, 1, n);
      tot += 6;
      if (tot % 60 == 0)
        target_mem("ramp");
    }
  }
  target_mem("top");
  target_exit(0);
}
