/* Does one thing for ever, as its argument says, with a known pattern on its stack: poll, read,
 * nanosleep, futex, epoll, recv (with a time-out), busy, altstack (a signal handler on its own
 * stack that waits in poll), vfork (its child sleeps), traced (busy, and a child of it is its
 * tracer). Says `ready ADDRESS COUNT-OF-8-BYTE-WORDS`. */
#include "target.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/socket.h>

enum { WORDS = 64 };

static int futex_word;
static volatile uint64_t sink;

static void on_signal(int number) {
  (void)number;
  for (;;)
    poll(NULL, 0, -1);
}

NOINLINE static void park(const char *what) {
  int ends[2];
  char byte;
  struct epoll_event event;
  struct timespec hour = {3600, 0};
  struct timeval limit = {3600, 0};
  if (!strcmp(what, "poll"))
    poll(NULL, 0, -1);
  else if (!strcmp(what, "read") && pipe(ends) == 0)
    sink += (uint64_t)read(ends[0], &byte, 1);
  else if (!strcmp(what, "nanosleep"))
    nanosleep(&hour, NULL);
  else if (!strcmp(what, "futex"))
    syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
  else if (!strcmp(what, "epoll"))
    epoll_wait(epoll_create1(0), &event, 1, -1);
  else if (!strcmp(what, "recv") && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sink += (uint64_t)recv(ends[0], &byte, 1, 0);
  } else if (!strcmp(what, "vfork")) {
    if (vfork() == 0) {
      sleep(3600);
      _exit(0);
    }
  } else if (!strcmp(what, "traced") && pipe(ends) == 0) {
    pid_t self = getpid();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (ptrace(PTRACE_SEIZE, self, 0, 0) == 0 && write(ends[1], "x", 1) == 1)
        sleep(3600);
      _exit(1);
    }
    sink += (uint64_t)read(ends[0], &byte, 1);
  } else if (!strcmp(what, "altstack")) {
    stack_t stack = {.ss_sp = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                     .ss_size = 1 << 16};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
  }
  for (;;)
    sink++;
}

int main(int count, char **arguments) {
  volatile uint64_t pattern[WORDS];
  if (count < 2)
    return 2;
  alarm(60);
  for (uint64_t i = 0; i < WORDS; i++)
    pattern[i] = 0x5041545445524e00u + i;
  printf("ready %lu %d\n", (unsigned long)pattern, WORDS);
  fflush(stdout);
  park(arguments[1]);
  return (int)pattern[0];
}
