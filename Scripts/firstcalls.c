// Steps a program, with its threads but without its children, through every instruction, and prints each
// address of its own code the first time it is reached. For Scripts/link-order.py.
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// usage: firstcalls LOWEST HIGHEST program [argument...], addresses in hexadecimal
int main(int argc, char **argv) {
  if (argc < 4) return 2;
  unsigned long low = strtoul(argv[1], NULL, 16), size = strtoul(argv[2], NULL, 16) - low;
  unsigned char *seen = calloc(size, 1);
  pid_t first = fork();
  if (first == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execv(argv[3], argv + 3);
    _exit(127);
  }
  int status;
  waitpid(first, &status, 0);
  ptrace(PTRACE_SETOPTIONS, first, 0, PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  ptrace(PTRACE_CONT, first, 0, 0);
  waitpid(first, &status, 0);  // exec
  if (!WIFSTOPPED(status)) return 1;
  ptrace(PTRACE_SINGLESTEP, first, 0, 0);
  pid_t who;
  while ((who = waitpid(-1, &status, __WALL)) > 0) {
    if (!WIFSTOPPED(status)) {
      if (who == first) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      continue;
    }
    int signal = WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
    size_t at = (size_t)ptrace(PTRACE_PEEKUSER, who, offsetof(struct user_regs_struct, rip), 0) - low;
    if (at < size && !seen[at]) {
      seen[at] = 1;
      printf("%lx\n", low + at);
    }
    ptrace(PTRACE_SINGLESTEP, who, 0, signal);
  }
  return 1;
}
