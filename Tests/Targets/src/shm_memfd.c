/* TARGET group=memory
 * A memfd of 96 MiB mapped shared and touched by the target and by its child (both alive 1.5 s),
 * plus 32 MiB private. RSS of the target ~128 MiB, of which RssShmem 96; PSS ~ 32 + 48; summing RSS
 * over the tree counts the memfd twice. A memfd written with write(2) and not mapped (32 MiB more)
 * appears in no RSS at all.
 * TRUTH: {"exit":0, "stalls":[], "rss_mib":[126, 140], "shmem_mib":[95, 98], "pss_mib":[76, 92],
 *   "unmapped_memfd_mib":32, "idle":["poll"], "gap_ok_ms":400}
 */
#include "target.h"

#include <poll.h>

int main(void) {
  target_start("shm_memfd");
  size_t n = 96u << 20;
  int fd = memfd_create("target (deleted) shared\nfd", 0);
  if (ftruncate(fd, n))
    return 1;
  char *p = (char *)mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  memset(p, 1, n);
  char *q = (char *)mmap(0, 32u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int fd2 = memfd_create("unmapped", 0);
  static char b[1 << 20];
  for (int i = 0; i < 32; i++)
    if (write(fd2, b, sizeof b) < 0)
      return 1;
  pid_t c = fork();
  if (!c) {
    volatile long s = 0;
    for (size_t i = 0; i < n; i += 4096)
      s += p[i];
    target_sleep_ms(1900);
    _exit(0);
  }
  madvise(q, 32u << 20, MADV_NOHUGEPAGE);
  memset(q, 1, 32u << 20);
  for (int i = 0; i < 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 25);
    target_idle_end();
    if (i == 30)
      target_mem("both");
  }
  target_idle_begin();
  waitpid(c, NULL, 0);
  target_idle_end();
  target_mem("alone");
  target_exit(0);
}
