/* TARGET helper: sleeps a little, again and again, and counts in shared memory of a file, so that one
 * can see from outside that it goes on. "sleeper FILE"; ends by itself after two minutes.
 * "sleeper FILE EXIT MS" ends with EXIT after MS.
 */
#include "target.h"

int main(int argc, char **argv) {
  target_start("sleeper");
  double limit = argc > 3 ? atof(argv[3]) / 1e3 : 120, start = target_now();
  int file = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
  target_line("{\"ev\":\"ready\"}");
  for (int i = 0; target_now() - start < limit; i++) {
    char text[16];
    int length = snprintf(text, sizeof text, "%08d", i);
    if (file >= 0 && pwrite(file, text, length, 0) < 0)
      return 1;
    target_sleep_ms(2);
  }
  target_exit(argc > 2 ? atoi(argv[2]) : 0);
}
