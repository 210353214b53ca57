// The forked child for work on hostile files: how it is isolated, started, heard and ended.
// It runs C only, in a copy of our memory; the C library makes malloc usable in it.

#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// 1 GiB beyond what it starts with, and more seconds than any budget of ours (both chosen).
enum { DATA_LIMIT = 1 << 30, CPU_LIMIT_SECONDS = 20 };

#define ALLOW(name) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Memory, reading what is open, answering, ending. Everything else fails with EPERM: no file can be
// opened, whatever path a debug section names, and no network reached. Best effort: where the kernel
// has no seccomp, the limits and the closed descriptors still hold.
static void allow_little(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(read), ALLOW(pread64), ALLOW(write), ALLOW(lseek), ALLOW(fstat), ALLOW(newfstatat),
      ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(brk),
      ALLOW(futex), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(getrandom),
      ALLOW(exit), ALLOW(exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static void close_between(unsigned first, unsigned last) {
  if (first > last) return;
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
  // Before Linux 5.9: the descriptors that a program usually has.
  for (unsigned fd = first; fd <= last && fd < 4096; fd++) close((int)fd);
}

static void close_others(int one, int other) {
  unsigned low = (unsigned)(one < other ? one : other), high = (unsigned)(one < other ? other : one);
  if (low > 0) close_between(0, low - 1);
  if (high > low) close_between(low + 1, high - 1);
  close_between(high + 1, ~0u);
}

static void isolate(int keep, int pipe, pid_t parent) {
  // Not the handlers of our runtime: a crash here is expected and nobody's business.
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) signal(faults[i], SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(1);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_NAME, "pw-helper", 0, 0, 0);
  close_others(keep < 0 ? pipe : keep, pipe);
  setrlimit(RLIMIT_DATA, &(struct rlimit){DATA_LIMIT, DATA_LIMIT});
  setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_LIMIT_SECONDS, CPU_LIMIT_SECONDS});
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
  allow_little();
}

int helper_fork(int keep, struct cprobe_helper *out) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
  pid_t parent = getpid(), pid = fork();
  if (pid < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return -error;
  }
  if (pid == 0) {
    isolate(keep, ends[1], parent);
    *out = (struct cprobe_helper){.pid = 0, .pipe = ends[1]};
    return 1;
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  *out = (struct cprobe_helper){.pid = pid, .pipe = ends[0]};
  return 0;
}

static void send_all(int pipe, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    ssize_t count = write(pipe, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);
    at += count;
    size -= (size_t)count;
  }
}

void helper_answer(int pipe, struct cprobe_answer head, const char *name, const char *file) {
  // One write for most: names and paths are short.
  static char buffer[16 << 10];
  size_t size = sizeof head + head.name_length + head.file_length;
  if (size > sizeof buffer) _exit(1);
  memcpy(buffer, &head, sizeof head);
  memcpy(buffer + sizeof head, name, head.name_length);
  memcpy(buffer + sizeof head + head.name_length, file, head.file_length);
  send_all(pipe, buffer, size);
}

int64_t cprobe_helper_end(struct cprobe_helper *helper, int32_t *status) {
  struct rusage used = {0};
  int raw = 0;
  pid_t result;
  kill(helper->pid, SIGKILL);
  do result = wait4(helper->pid, &raw, __WALL, &used);
  while (result < 0 && errno == EINTR);
  close(helper->pipe);
  *status = raw;
  return used.ru_utime.tv_sec * 1000000ll + used.ru_utime.tv_usec + used.ru_stime.tv_sec * 1000000ll +
         used.ru_stime.tv_usec;
}
