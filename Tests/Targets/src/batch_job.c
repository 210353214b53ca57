/* TARGET group=loops
 * No event loop at all: computes, writes a file, sleeps here and there, ends.  Stalls cannot be
 * judged, and the report has to say why.
 * TRUTH: {"exit":0, "stalls":[], "idle":[], "cpu_s":[0.6, 1.2]}
 */
#include "target.h"

volatile int sink;

NOINLINE void compute(void) {
  TARGET_BURN(300);
  sink++;
}

NOINLINE void store(void) {
  char b[4096];
  memset(b, 'x', sizeof b);
  int fd = memfd_create("store", MFD_CLOEXEC);
  for (int i = 0; i < 1000; i++)
    if (write(fd, b, sizeof b) != sizeof b)
      break;
  close(fd);
}

int main(void) {
  target_start("batch_job");
  compute();
  target_sleep_ms(150);
  store();
  compute();
  usleep(150000);
  compute();
  target_exit(0);
}
