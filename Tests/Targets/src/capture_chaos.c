/* All that can happen to a program while it is captured, until the file of its argument is there:
 * threads are made and end, children exit with codes and are killed, signals come in great numbers
 * and are counted, and it executes itself again, from a thread beside the main one, too.
 * Says `ready` once; at the end `fine` with status 42, or what went wrong with status 1. */
#include "target.h"

#include <stdatomic.h>

static atomic_long handled;
static volatile uint64_t sink;
static char **own;

static void fail(const char *what, long is, long wanted) {
  printf("%s: %ld, not %ld\n", what, is, wanted);
  exit(1);
}

static void on_signal(int number) {
  (void)number;
  atomic_fetch_add(&handled, 1);
}

static void *burn(void *argument) {
  for (int i = 0; i < 200000; i++)
    sink++;
  return argument;
}

static void children(int round) {
  pid_t child = fork();
  int status;
  if (child == 0)
    _exit(round & 0x7f);
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
    fail("exit of a child", status, round & 0x7f);
  if (WEXITSTATUS(status) != (round & 0x7f))
    fail("code of a child", WEXITSTATUS(status), round & 0x7f);
  child = fork();
  if (child == 0)
    for (;;)
      sink++;
  kill(child, SIGTERM);
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
    fail("end of a killed child", status, SIGTERM);
}

static void *execute(void *argument) {
  execv("/proc/self/exe", own);
  return argument;
}

int main(int count, char **arguments) {
  if (count < 2)
    return 2;
  alarm(60);
  if (!getenv("CHAOS")) {
    setenv("CHAOS", "1", 1);
    printf("ready\n");
    fflush(stdout);
  }
  double life = target_now() + 0.05;
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGRTMIN, &action, NULL);
  own = arguments;
  long sent = 0;
  for (int round = 0; access(arguments[1], F_OK) != 0; round++) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
      if (pthread_create(&threads[i], NULL, burn, NULL))
        fail("thread", errno, 0);
    for (int i = 0; i < 50; i++) {
      union sigval value = {.sival_int = i};
      /* A full queue refuses the signal: then it was not sent. */
      if (sigqueue(getpid(), SIGRTMIN, value) == 0)
        sent++;
    }
    for (int i = 0; i < 3; i++) {
      void *result;
      if (pthread_join(threads[i], &result) || result)
        fail("join", errno, 0);
    }
    children(round);
    if (target_now() < life)
      continue;
    /* All of them are handled by now, or a thread that has just begun is about to. */
    for (int i = 0; i < 5000 && atomic_load(&handled) < sent; i++)
      usleep(1000);
    if (atomic_load(&handled) != sent)
      fail("signals", atomic_load(&handled), sent);
    if (round & 1)
      execute(NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, execute, NULL);
    pthread_join(thread, NULL);
    fail("exec", errno, 0);
  }
  printf("fine\n");
  fflush(stdout);
  return 42;
}
