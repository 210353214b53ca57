/* TARGET group=memory
 * 128 MiB private memory, then a fork; the child only reads it for 1.2 s, or for "cow_fork MS".  RSS of both ~130 MiB
 * (sum 260), PSS ~65 each, real use 130.  While the child lives the parent's PSS halves although it
 * freed nothing.
 * TRUTH: {"exit":0, "stalls":[], "rss_mib":[128, 138], "pss_mib_before":[126, 136],
 *   "pss_mib_during":[63, 75], "idle":["poll"], "gap_ok_ms":400}
 */
#include "target.h"

#include <poll.h>

int main(int argc, char **argv) {
  target_start("cow_fork");
  size_t n = 128u << 20;
  char *p = (char *)mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(p, n, MADV_NOHUGEPAGE);
  memset(p, 1, n);
  target_mem("before");
  pid_t c = fork();
  if (!c) {
    volatile long s = 0;
    for (size_t i = 0; i < n; i += 4096)
      s += p[i];
    target_sleep_ms(argc > 1 ? atof(argv[1]) : 1200);
    _exit(0);
  }
  for (int i = 0; i < 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 25);
    target_idle_end();
    if (i == 20)
      target_mem("during");
  }
  target_idle_begin();
  waitpid(c, NULL, 0);
  target_idle_end();
  target_mem("after");
  target_exit(0);
}
