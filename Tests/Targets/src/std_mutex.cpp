/* TARGET group=cause
 * poll loop; the main thread needs a std::mutex that "holder" holds for 300 ms in app::hold_it.
 * TRUTH: {"exit":0, "stalls":[{"fn":"need", "n":2, "ms":300, "tol":40, "how":"futex"}]}
 */
#include "target.h"

#include <poll.h>

#include <mutex>
#include <thread>

static std::mutex mutex;
static volatile int want, held, sink;

namespace app {
NOINLINE void hold_it(int ms) {
  target_sleep_ms(ms);
  sink = sink + 1;
}

template <typename T> NOINLINE void need(T &lock) {
  std::lock_guard<T> guard(lock);
  sink = sink + 1;
}
}  // namespace app

static void holder() {
  prctl(PR_SET_NAME, "holder");
  while (want >= 0) {
    if (want == 1) {
      want = 0;
      std::lock_guard<std::mutex> guard(mutex);
      held = 1;
      app::hold_it(300);
    }
    target_sleep_ms(1);
  }
}

int main() {
  target_start("std_mutex");
  std::thread thread(holder);
  for (int i = 1; i <= 55; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    held = 0;
    want = 1;
    while (!held)
      target_sleep_ms(1);
    target_tag("need", "futex");
    app::need(mutex);
  }
  target_idle_begin();
  target_idle_end();
  want = -1;
  thread.join();
  target_exit(0);
}
