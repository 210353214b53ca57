/* TARGET group=launch
 * Copies stdin to stdout byte for byte, then writes 24 MiB of binary (all byte values, no final
 * newline) to stdout and one line to stderr.  Output must pass through unchanged (djb2 hash in the
 * truth), never mixed with the report; a closed stdout must kill it by SIGPIPE as without an
 * observer.
 * TRUTH: {"exit":0, "stalls":[], "stdout_bytes_beyond_stdin":25165824}
 */
#include "target.h"

int main(void) {
  target_start("big_output");
  static unsigned char b[65536];
  unsigned long h = 5381, n = 0;
  ssize_t r;
  target_idle_begin();
  if (!isatty(0))
    while ((r = read(0, b, sizeof b)) > 0) {
      for (ssize_t i = 0; i < r; i++)
        h = h * 33 + b[i];
      n += r;
      if (write(1, b, r) != r)
        return 2;
    }
  for (int k = 0; k < 384; k++) {
    for (size_t i = 0; i < sizeof b; i++) {
      b[i] = (unsigned char)(i * 7 + k);
      h = h * 33 + b[i];
    }
    size_t o = 0;
    while (o < sizeof b) {
      r = write(1, b + o, sizeof b - o);
      if (r <= 0)
        return 3;
      o += r;
    }
    n += sizeof b;
  }
  if (write(2, "one line on stderr\n", 19) < 0)
    n = 0;
  target_idle_end();
  target_line("{\"ev\":\"stdout\",\"bytes\":%lu,\"djb2\":\"%lx\"}", n, h);
  target_exit(0);
}
