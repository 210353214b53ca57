/* TARGET group=loops
 * A command loop that parks in read() of a pipe; a child writes one byte every 20 ms.  One stall is
 * computed, one slept; a third reads another pipe for 250 ms: the same instruction of the C library
 * as the home, only deeper in the stack.
 * TRUTH: {"exit":0, "stalls":[{"fn":"obey_slowly", "n":1, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["obey_slowly", "obey", "main"]}, {"fn":"doze", "n":1, "ms":250, "tol":20,
 *   "how":"sleep", "chain":["*nanosleep*", "doze", "obey", "main"]}, {"fn":"ask_back", "n":1,
 *   "ms":250, "tol":30, "how":"read", "chain":["read", "ask_back", "obey", "main"]}],
 *   "idle":["read"]}
 */
#include "target.h"

static int commands[2], questions[2], answers[2];
volatile int sink;

NOINLINE void obey_slowly(void) {
  TARGET_BURN(300);
  sink++;
}

NOINLINE void doze(void) {
  target_sleep_ms(250);
  sink++;
}

NOINLINE void ask_back(void) {
  char c = '?';
  if (write(questions[1], &c, 1) == 1 && read(answers[0], &c, 1) == 1)
    sink++;
}

NOINLINE void obey(int i) {
  volatile char frame[1024];
  frame[i] = 1;
  if (i == 30) {
    target_tag("obey_slowly", "cpu");
    obey_slowly();
  }
  if (i == 50) {
    target_tag("doze", "sleep");
    doze();
  }
  if (i == 70) {
    target_tag("ask_back", "read");
    ask_back();
  }
  sink += frame[i];
}

/* What piles up while main does not read is thrown away, as a keyboard does. */
static void commander(void) {
  fcntl(commands[1], F_SETPIPE_SZ, 4096);
  for (;;) {
    target_sleep_ms(20);
    if (write(commands[1], "c", 1) != 1)
      _exit(0);
  }
}

static void answerer(void) {
  char c;
  while (read(questions[0], &c, 1) == 1) {
    target_sleep_ms(250);
    if (write(answers[1], &c, 1) != 1)
      break;
  }
  _exit(0);
}

int main(void) {
  target_start("read_loop");
  if (pipe(commands) || pipe(questions) || pipe(answers))
    return 1;
  pid_t first = fork();
  if (!first)
    commander();
  pid_t second = fork();
  if (!second)
    answerer();
  for (int i = 1; i <= 90; i++) {
    char c[64];
    target_idle_begin();
    ssize_t n = read(commands[0], c, sizeof c);
    target_idle_end();
    if (n <= 0)
      break;
    obey(i);
  }
  target_idle_begin();
  target_idle_end();
  kill(first, SIGKILL);
  kill(second, SIGKILL);
  waitpid(first, NULL, 0);
  waitpid(second, NULL, 0);
  target_exit(0);
}
