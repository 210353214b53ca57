/* TARGET helper: burns half a second. */
#include "target.h"

int main(void) {
  target_fd = open("/dev/null", O_WRONLY);
  TARGET_BURN(500);
  return 0;
}
