/* TARGET group=stall
 * Plain poll() loop, 20 ms ticks; every 20th tick a request is parsed too slowly.
 * TRUTH: {"exit":7, "stalls":[{"fn":"busy_parse", "n":3, "ms":400, "tol":20, "how":"cpu",
 *   "chain":["busy_parse", "handle_request", "main"]}], "idle":["poll"], "cpu_s":[0.9, 1.6]}
 */
#include "target.h"

#include <poll.h>

NOINLINE int busy_parse(int n) {
  TARGET_BURN(400);
  return n + 1;
}

NOINLINE int handle_request(int n) {
  int r = busy_parse(n);
  return r * 3;
}

int main(void) {
  target_start("poll_burn");
  int p[2];
  volatile int acc = 0;
  if (pipe(p))
    return 1;
  struct pollfd f = {p[0], POLLIN, 0};
  for (int i = 1; i <= 70; i++) {
    target_idle_begin();
    poll(&f, 1, 20);
    target_idle_end();
    if (i % 20 == 0) {
      target_tag("busy_parse", "cpu");
      acc += handle_request(i);
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(7);
}
