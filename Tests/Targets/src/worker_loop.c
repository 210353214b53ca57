/* TARGET group=loops
 * usage: worker_loop join|suspend CALM_MS
 * The loop (poll, 20 ms) is on a thread named "ui-loop"; main parks in pthread_join or in
 * sigsuspend for ever.  After CALM_MS two stalls of 300 ms, 300 ms apart.  Judged by the thread
 * tid == pid there is no stall; watched by name there are two.
 * TRUTH: {"exit":0, "args":["join", "2000"], "stalls":[{"fn":"repaint", "n":2, "ms":300, "tol":20,
 *   "how":"cpu", "chain":["repaint", "ui_loop"], "main":false}], "stalls_on_tid_pid":0,
 *   "idle":["poll"]}
 */
#include "target.h"

#include <poll.h>

static int calm_turns;
volatile int sink;

NOINLINE void repaint(void) {
  TARGET_BURN(300);
  sink++;
}

NOINLINE void *ui_loop(void *to_wake) {
  prctl(PR_SET_NAME, "ui-loop");
  target_kind_tag = NULL;
  target_line("{\"ev\":\"loop\",\"tid\":%d}", (int)syscall(SYS_gettid));
  for (int i = 1; i <= calm_turns + 40; i++) {
    poll(NULL, 0, 20);
    target_idle_end();
    if (i == calm_turns || i == calm_turns + 15) {
      target_tag("repaint", "cpu");
      repaint();
    }
    target_idle_begin();
  }
  if (to_wake)
    pthread_kill(*(pthread_t *)to_wake, SIGUSR1);
  return NULL;
}

static void wake(int number) {
  (void)number;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  target_start("worker_loop");
  calm_turns = atoi(argv[2]) / 20;
  int suspends = !strcmp(argv[1], "suspend");
  pthread_t me = pthread_self(), t;
  struct sigaction action = {.sa_handler = wake};
  sigaction(SIGUSR1, &action, NULL);
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &old);
  pthread_create(&t, NULL, ui_loop, suspends ? &me : NULL);
  if (suspends)
    sigsuspend(&old);
  pthread_join(t, NULL);
  target_exit(0);
}
