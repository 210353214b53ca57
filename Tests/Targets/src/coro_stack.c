/* TARGET group=unwind
 * The stall happens on a coroutine's stack (makecontext, not [stack]).  The chain ends cleanly at
 * the coroutine's entry; a stack pointer outside [stack] is not corruption.
 * TRUTH: {"exit":0, "stalls":[{"fn":"coro_burn", "n":2, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["coro_burn", "coro_step", "coro_entry"]}], "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>
#include <ucontext.h>

volatile int sink;
static ucontext_t uc_main, uc_co;

NOINLINE void coro_burn(void) {
  TARGET_BURN(300);
  sink++;
}

NOINLINE void coro_step(void) {
  coro_burn();
  sink++;
}

NOINLINE void coro_entry(void) {
  for (;;) {
    coro_step();
    swapcontext(&uc_co, &uc_main);
  }
}

int main(void) {
  target_start("coro_stack");
  size_t size = 256 << 10;
  getcontext(&uc_co);
  uc_co.uc_stack.ss_sp =
      mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uc_co.uc_stack.ss_size = size;
  uc_co.uc_link = &uc_main;
  makecontext(&uc_co, coro_entry, 0);
  for (int i = 1; i <= 50; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == 15 || i == 35) {
      target_tag("coro_burn", "cpu");
      swapcontext(&uc_main, &uc_co);
    }
  }
  target_idle_begin();
  target_idle_end();
  target_exit(0);
}
