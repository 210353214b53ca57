/* The limit of a capture: seize, interrupt, a blocking wait, registers, one copy of the stack,
 * detach; nothing else. usage: limit PID COUNT INTERVAL-US STACK-BYTES
 * A line for each: from and to (CLOCK_MONOTONIC, ns), the stop (ns), bytes copied. */
#include "common.h"
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)
#define STACK_POINTER(r) (r).rsp
#else
#define STACK_POINTER(r) (r).sp
#endif

int main(int count, char **arguments) {
  if (count < 5) return 2;
  int pid = atoi(arguments[1]), captures = atoi(arguments[2]), interval = atoi(arguments[3]);
  size_t size = (size_t)atoi(arguments[4]);
  char *buffer = malloc(size);
  struct {
    uint64_t from, to;
    long copied;
  } *taken = calloc((size_t)captures, sizeof *taken);
  memset(buffer, 1, size);
  memset(taken, 1, (size_t)captures * sizeof *taken);
  for (int i = 0; i < captures; i++) {
    usleep((useconds_t)(interval + rand() % (interval / 2 + 1)));
    struct user_regs_struct registers;
    struct iovec space = {&registers, sizeof registers};
    int status;
    uint64_t from = now_ns();
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0)) return 1;
    if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) return 1;
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &space)) return 1;
    struct iovec here = {buffer, size}, there = {(void *)(STACK_POINTER(registers) - 128), size};
    taken[i].copied = process_vm_readv(pid, &here, 1, &there, 1, 0);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    taken[i].to = now_ns();
    taken[i].from = from;
  }
  for (int i = 0; i < captures; i++)
    printf("%llu %llu %llu %ld\n", (unsigned long long)taken[i].from,
           (unsigned long long)taken[i].to, (unsigned long long)(taken[i].to - taken[i].from),
           taken[i].copied);
  return 0;
}
