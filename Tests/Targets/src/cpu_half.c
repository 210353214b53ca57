/* TARGET helper: burns half a second of CPU, however long that takes. */
#include "target.h"

int main(void) {
  target_fd = open("/dev/null", O_WRONLY);
  while (target_thread_cpu() < 0.5) {
    TARGET_BURN(5);
  }
  return 0;
}
