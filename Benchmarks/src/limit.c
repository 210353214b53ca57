/* The limit of a capture: seize, interrupt, a blocking wait, registers, one copy of the stack,
 * detach; nothing else. usage: limit PID COUNT INTERVAL-US STACK-BYTES [all]
 * `all` does so with all threads together, each step for all of them before the next.
 * A line for each: from and to (CLOCK_MONOTONIC, ns), the stop (ns), bytes copied. */
#include "common.h"
#include <dirent.h>
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

#define MOST 8192
static int tids[MOST], threads;

static void list(int pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && threads < MOST && (entry = readdir(folder));)
    if (entry->d_name[0] != '.') tids[threads++] = atoi(entry->d_name);
  if (folder) closedir(folder);
}

/* Bytes copied, or -1. */
static long copy(int pid, int tid, char *buffer, size_t size) {
  struct user_regs_struct registers;
  struct iovec space = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &space)) return -1;
  struct iovec here = {buffer, size}, there = {(void *)(STACK_POINTER(registers) - 128), size};
  return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

int main(int count, char **arguments) {
  if (count < 5) return 2;
  int pid = atoi(arguments[1]), captures = atoi(arguments[2]), interval = atoi(arguments[3]);
  size_t size = (size_t)atoi(arguments[4]);
  if (count > 5 && !strcmp(arguments[5], "all"))
    list(pid);
  else
    tids[threads++] = pid;
  char *buffers = malloc(size * (size_t)threads);
  struct {
    uint64_t from, to;
    long copied;
  } *taken = calloc((size_t)captures, sizeof *taken);
  memset(buffers, 1, size * (size_t)threads);
  memset(taken, 1, (size_t)captures * sizeof *taken);
  for (int i = 0; i < captures; i++) {
    usleep((useconds_t)(interval + rand() % (interval / 2 + 1)));
    int status;
    uint64_t from = now_ns();
    for (int t = 0; t < threads; t++)
      if (ptrace(PTRACE_SEIZE, tids[t], 0, 0) || ptrace(PTRACE_INTERRUPT, tids[t], 0, 0)) return 1;
    for (int t = 0; t < threads; t++)
      if (waitpid(tids[t], &status, __WALL) != tids[t] || !WIFSTOPPED(status)) return 1;
    taken[i].copied = 0;
    for (int t = 0; t < threads; t++) {
      long copied = copy(pid, tids[t], buffers + size * (size_t)t, size);
      if (copied < 0) return 1;
      taken[i].copied += copied;
    }
    for (int t = 0; t < threads; t++) ptrace(PTRACE_DETACH, tids[t], 0, 0);
    taken[i].to = now_ns();
    taken[i].from = from;
  }
  for (int i = 0; i < captures; i++)
    printf("%llu %llu %llu %ld\n", (unsigned long long)taken[i].from,
           (unsigned long long)taken[i].to, (unsigned long long)(taken[i].to - taken[i].from),
           taken[i].copied);
  return 0;
}
