// Signals, waits and single system calls that Swift cannot import: variadic, or with unions.

#include "cprobe.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The raw call, because the C library's own leaves its two hidden signals out.
static int change_mask(int how, const uint64_t *mask, uint64_t *former) {
  return syscall(SYS_rt_sigprocmask, how, mask, former, sizeof *former) == 0 ? 0 : -errno;
}

int cprobe_signal_mask_set(uint64_t mask, uint64_t *former) {
  return change_mask(SIG_SETMASK, &mask, former);
}

int cprobe_signal_mask_get(uint64_t *mask) { return change_mask(SIG_SETMASK, NULL, mask); }

int cprobe_child_status_keep(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  return sigaction(SIGCHLD, &action, NULL) == 0 ? 0 : -errno;
}

int cprobe_reap(int32_t pid, struct cprobe_usage *out) {
  int status;
  struct rusage used;
  pid_t result;
  do result = wait4(pid, &status, __WALL, &used);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  *out = (struct cprobe_usage){
      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
      .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
      .user_microseconds = used.ru_utime.tv_sec * 1000000ll + used.ru_utime.tv_usec,
      .system_microseconds = used.ru_stime.tv_sec * 1000000ll + used.ru_stime.tv_usec,
      .max_resident_bytes = used.ru_maxrss * 1024ll,
      .minor_faults = used.ru_minflt,
      .major_faults = used.ru_majflt,
      .voluntary_switches = used.ru_nvcsw,
      .involuntary_switches = used.ru_nivcsw,
  };
  return 0;
}

// Without WEXITED the end stays there for cprobe_reap, however often this is asked.
static int job_change(int32_t pid, int flags, siginfo_t *info) {
  memset(info, 0, sizeof *info);
  int result;
  do result = waitid(P_PID, (id_t)pid, info, WSTOPPED | WCONTINUED | WNOHANG | __WALL | flags);
  while (result < 0 && errno == EINTR);
  // A process that has ended can change no more: the kernel calls that "no such child".
  if (result < 0) return errno == ECHILD ? 0 : -errno;
  return info->si_pid != 0;
}

int cprobe_job_change(int32_t pid, int32_t *signal) {
  siginfo_t info;
  int result = job_change(pid, WNOWAIT, &info);
  if (result <= 0 || info.si_code == CLD_TRAPPED) return result < 0 ? result : 0;
  result = job_change(pid, 0, &info);
  if (result <= 0) return result;
  *signal = info.si_status;
  return info.si_code == CLD_CONTINUED ? 2 : 1;
}

int cprobe_pidfd_open(int32_t pid) {
  long result = syscall(SYS_pidfd_open, pid, 0);
  return result < 0 ? -errno : (int)result;
}

int cprobe_pidfd_signal(int32_t pidfd, int32_t signal) {
  return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) == 0 ? 0 : -errno;
}

int cprobe_prctl(
    int32_t option, uint64_t argument2, uint64_t argument3, uint64_t argument4,
    uint64_t argument5) {
  int result = prctl(
      option, (unsigned long)argument2, (unsigned long)argument3, (unsigned long)argument4,
      (unsigned long)argument5);
  return result < 0 ? -errno : result;
}

int cprobe_reraise(int32_t signal) {
  if (signal <= 0 || signal > 64) return -EINVAL;
  // The core belongs to the target, and it has been written. Not dumpable also keeps a core_pattern
  // with a pipe away, which does not look at the limit.
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, NULL); // refused for SIGKILL, which needs no help
  uint64_t mask, former;
  int error = cprobe_signal_mask_get(&mask);
  if (error < 0) return error;
  mask &= ~(1ull << (signal - 1));
  error = cprobe_signal_mask_set(mask, &former);
  if (error < 0) return error;
  // Not raise(3): that blocks all signals around itself with the library's own idea of the mask.
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
  return -EINVAL;
}
