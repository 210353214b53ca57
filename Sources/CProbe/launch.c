// Starting a program so that it is exactly what it would be without us.
//
// The child is held between fork and exec, so that watching can begin with the first instruction.
// One socket pair does it all: we send one byte as the word to go, the child sends back why exec
// failed, and because the child's end is close-on-exec, end of file means that exec worked. If we
// die while the child is held, the child reads end of file and exits without having run anything.
//
// The child shares our memory until it executes, as posix_spawn's does: copying our page tables, and
// a fault for every page that we touch from then on, would cost more than all the rest. So it has a
// stack of its own, changes nothing but that and the block it was given, and makes its calls without
// the C library, whose errno is the launching thread's.

#include "cprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kernel_signal_count = 64, held_child_lost = 125 };

static const char shell_path[] = "/bin/sh";

// The C library keeps two signals for itself and hides them from sigaction(2).
static int is_hidden_signal(int number) { return number >= 32 && number < SIGRTMIN; }

int cprobe_inherited_capture(struct cprobe_inherited *out) {
  memset(out, 0, sizeof *out);
  int error = cprobe_signal_mask_get(&out->signal_mask);
  if (error < 0) return error;
  for (int number = 1; number <= kernel_signal_count; number++) {
    struct sigaction action;
    if (is_hidden_signal(number) || sigaction(number, NULL, &action) != 0) continue;
    if (action.sa_handler == SIG_IGN) out->ignored_signals |= 1ull << (number - 1);
  }
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
  out->file_limit_soft = limit.rlim_cur;
  out->file_limit_hard = limit.rlim_max;
  return 0;
}

int cprobe_inherited_capture_death_signal(struct cprobe_inherited *out) {
  // Bound to the thread and lost by fork: a target started as `setpriv --pdeathsig` would miss it.
  return prctl(PR_GET_PDEATHSIG, &out->parent_death_signal) != 0 ? -errno : 0;
}

int cprobe_stdio_reserve(void) {
  int reserved = 0;
  for (int descriptor = 0; descriptor <= 2; descriptor++) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // O_PATH on a directory that always exists: reads and writes fail as on a closed descriptor.
    int placeholder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (placeholder < 0) return -errno;
    if (placeholder != descriptor) {
      close(placeholder);
      return -EBUSY;
    }
    reserved++;
  }
  return reserved;
}

// ---- in the child: no allocation, no lock, no errno ----

// A system call without the C library; returns a negative errno on failure.
static long call(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "this architecture's system call is to be written"
#endif
}

// The kernel's own form of struct sigaction on these architectures.
struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static int restore_inherited(const struct cprobe_inherited *inherited) {
  // Handlers are dropped by exec; only "ignored" outlives it.
  for (int number = 1; number <= kernel_signal_count; number++) {
    struct kernel_action action;
    if (is_hidden_signal(number) ||
        call(SYS_rt_sigaction, number, 0, (long)&action, sizeof action.mask) != 0)
      continue;
    int want_ignored = (inherited->ignored_signals >> (number - 1)) & 1;
    if ((action.handler == SIG_IGN) == want_ignored) continue;
    action = (struct kernel_action){.handler = want_ignored ? SIG_IGN : SIG_DFL};
    // Refused for KILL and STOP only, which are never ignored.
    call(SYS_rt_sigaction, number, (long)&action, 0, sizeof action.mask);
  }
  struct rlimit limit = {inherited->file_limit_soft, inherited->file_limit_hard};
  long result = call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0);
  if (result == 0 && inherited->parent_death_signal != 0)
    result = call(SYS_prctl, PR_SET_PDEATHSIG, inherited->parent_death_signal, 0, 0);
  return (int)-result;
}

// Text is run by sh, as shells do. A NUL byte near the start says that it is no text.
// 0 for text, else the errno to report.
static int check_is_text(const char *path) {
  int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  long file = call(SYS_openat, AT_FDCWD, (long)path, flags, 0);
  if (file < 0) return (int)-file;
  char head[256];
  long count;
  do count = call(SYS_read, file, (long)head, sizeof head, 0);
  while (count == -EINTR);
  call(SYS_close, file, 0, 0, 0);
  if (count < 0) return (int)-count;
  return memchr(head, 0, (size_t)count) == NULL ? 0 : ENOEXEC;
}

// Tries every path and returns only when none could be executed. `shell_arguments` has two free
// places before the program's own arguments.
static struct cprobe_launch_failure exec_first(
    const struct cprobe_launch *launch, char **shell_arguments) {
  struct cprobe_launch_failure best = {CPROBE_STAGE_EXEC, ENOENT, 0};
  for (size_t index = 0; index < launch->path_count; index++) {
    char *path = launch->paths[index];
    long arguments = (long)launch->arguments, environment = (long)launch->environment;
    long result = call(SYS_execve, (long)path, arguments, environment, 0);
    struct cprobe_launch_failure now = {CPROBE_STAGE_EXEC, (int32_t)-result, (int32_t)index};
    switch (now.error) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ESTALE:
    case ETIMEDOUT:
      break; // not here: on to the next, as execvp(3) does
    case EACCES:
    case ELOOP:
    case ENAMETOOLONG:
      // Worth telling if no later path does better.
      if (best.error == ENOENT) best = now;
      break;
    case ENOEXEC:
      now.stage = CPROBE_STAGE_FORMAT;
      now.error = check_is_text(path);
      if (now.error != 0) return now;
      shell_arguments[0] = (char *)"sh";
      shell_arguments[1] = path;
      result = call(SYS_execve, (long)shell_path, (long)shell_arguments, environment, 0);
      now.stage = CPROBE_STAGE_SHELL;
      now.error = (int32_t)-result;
      return now;
    default:
      return now;
    }
  }
  return best;
}

// What the child gets, in one block: this, its strings, and at the end its stack.
struct child {
  struct cprobe_launch launch;
  char **shell_arguments;
  int channel, other_end;
};

// Everything the child does. Never returns.
static int run_child(void *argument) {
  const struct child *child = argument;
  // Without this the child would hold its own line open and never see us die.
  call(SYS_close, child->other_end, 0, 0, 0);
  struct cprobe_launch_failure failure = {CPROBE_STAGE_RESTORE, 0, 0};
  failure.error = restore_inherited(&child->launch.inherited);
  char word;
  long count;
  do count = call(SYS_read, child->channel, (long)&word, 1, 0);
  while (count == -EINTR);
  if (count == 1) {
    // Only now: a signal that ended the child earlier could, on older kernels, dump and end us, too,
    // as we share memory. From here on it can be interrupted and stopped as the program itself could.
    uint64_t mask = child->launch.inherited.signal_mask;
    call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask);
    if (failure.error == 0) failure = exec_first(&child->launch, child->shell_arguments);
    // We block SIGPIPE, and by default it would only end the child, which is over anyway.
    call(SYS_write, child->channel, (long)&failure, sizeof failure, 0);
  } // else whoever held us is gone, or does not want us
  for (;;) call(SYS_exit_group, held_child_lost, 0, 0, 0);
}

// ---- in ourselves ----

enum { child_stack_size = 16 << 10 };

static char *place_strings(char **pointers, char *const *strings, size_t count, char *text) {
  for (size_t index = 0; index < count; index++) {
    pointers[index] = text;
    text = stpcpy(text, strings[index]) + 1;
  }
  return text;
}

// A block with copies of all that the child reads, as it goes on reading when we have returned.
static struct child *make_child(const struct cprobe_launch *launch, char **stack_top) {
  size_t pointers = launch->path_count + 2 * launch->argument_count + 3, text = 0;
  for (size_t index = 0; index < launch->path_count; index++)
    text += strlen(launch->paths[index]) + 1;
  for (size_t index = 0; index < launch->argument_count; index++)
    text += strlen(launch->arguments[index]) + 1;
  size_t size = sizeof(struct child) + pointers * sizeof(char *) + text + child_stack_size;
  struct child *child = malloc(size);
  if (child == NULL) return NULL;
  *child = (struct child){.launch = *launch};
  char **paths = (char **)(child + 1), **arguments = paths + launch->path_count;
  char *end = place_strings(paths, launch->paths, launch->path_count, (char *)(paths + pointers));
  place_strings(arguments, launch->arguments, launch->argument_count, end);
  arguments[launch->argument_count] = NULL;
  // sh, path, then the program's arguments from 1 on, then NULL.
  child->shell_arguments = arguments + launch->argument_count + 1;
  for (size_t index = 1; index <= launch->argument_count; index++)
    child->shell_arguments[index + 1] = arguments[index];
  child->launch.paths = paths;
  child->launch.arguments = arguments;
  if (launch->environment == NULL) child->launch.environment = environ;
  *stack_top = (char *)((uintptr_t)((char *)child + size) & ~(uintptr_t)15);
  return child;
}

int cprobe_launch_hold(const struct cprobe_launch *launch, struct cprobe_held *out) {
  if (launch->path_count == 0 || launch->argument_count == 0) return -EINVAL;
  char *stack_top;
  struct child *child = make_child(launch, &stack_top);
  if (child == NULL) return -ENOMEM;
  int ends[2], pidfd = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    int error = errno;
    free(child);
    return -error;
  }
  child->channel = ends[1];
  child->other_end = ends[0];
  pid_t pid = clone(run_child, stack_top, CLONE_VM | CLONE_PIDFD | SIGCHLD, child, &pidfd);
  int error = pid < 0 ? errno : 0;
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    free(child);
    return -error;
  }
  *out = (struct cprobe_held){pid, pidfd, ends[0], child};
  return 0;
}

int cprobe_launch_go(int32_t channel) {
  ssize_t count;
  do count = send(channel, "g", 1, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  // EPIPE: the child was killed while it was held; waiting for it then ends at once.
  return count < 0 && errno != EPIPE && errno != ECONNRESET ? -errno : 0;
}

int cprobe_launch_await(const struct cprobe_held *held, struct cprobe_launch_failure *failure) {
  ssize_t count;
  do count = recv(held->channel, failure, sizeof *failure, MSG_WAITALL);
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno == ECONNRESET ? 0 : -errno;
  return count == (ssize_t)sizeof *failure ? 1 : 0;
}

void cprobe_launch_forget(const struct cprobe_held *held) {
  close(held->channel);
  free(held->memory);
}
