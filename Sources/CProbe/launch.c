// Starting a program so that it is exactly what it would be without us.
//
// The child is held between fork and exec, so that watching can begin with the first instruction.
// One socket pair does it all: we send one byte as the word to go, the child sends back why exec
// failed, and because the child's end is close-on-exec, end of file means that exec worked. If we
// die while the child is held, the child reads end of file and exits without having run anything.

#include "cprobe.h"

#include <errno.h>
#include <fcntl.h>
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
  // Bound to the thread and lost by fork: a target started as `setpriv --pdeathsig` would miss it.
  if (prctl(PR_GET_PDEATHSIG, &out->parent_death_signal) != 0) return -errno;
  return 0;
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

// ---- in the child: async-signal-safe calls only ----

static int restore_inherited(const struct cprobe_inherited *inherited) {
  // Handlers are dropped by exec; only "ignored" outlives it.
  for (int number = 1; number <= kernel_signal_count; number++) {
    struct sigaction action;
    if (is_hidden_signal(number) || sigaction(number, NULL, &action) != 0) continue;
    int want_ignored = (inherited->ignored_signals >> (number - 1)) & 1;
    if ((action.sa_handler == SIG_IGN) == want_ignored) continue;
    memset(&action, 0, sizeof action);
    action.sa_handler = want_ignored ? SIG_IGN : SIG_DFL;
    // Refused for KILL and STOP only, which are never ignored.
    sigaction(number, &action, NULL);
  }
  struct rlimit limit = {inherited->file_limit_soft, inherited->file_limit_hard};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
  if (inherited->parent_death_signal != 0 &&
      prctl(PR_SET_PDEATHSIG, inherited->parent_death_signal) != 0)
    return errno;
  // Last: from here on the child can be interrupted and stopped as the program itself could be.
  uint64_t former;
  int result = cprobe_signal_mask_set(inherited->signal_mask, &former);
  return result < 0 ? -result : 0;
}

// Text is run by sh, as shells do. A NUL byte near the start says that it is no text.
// 0 for text, else the errno to report.
static int check_is_text(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return errno;
  char head[256];
  ssize_t count;
  do count = read(file, head, sizeof head);
  while (count < 0 && errno == EINTR);
  int error = count < 0 ? errno : 0;
  close(file);
  if (error != 0) return error;
  return memchr(head, 0, (size_t)count) == NULL ? 0 : ENOEXEC;
}

// Tries every path and returns only when none could be executed. `shell_arguments` has two free
// places before the program's own arguments.
static struct cprobe_launch_failure exec_first(
    const struct cprobe_launch *launch, char *const *environment, char **shell_arguments) {
  struct cprobe_launch_failure best = {CPROBE_STAGE_EXEC, ENOENT, 0};
  for (size_t index = 0; index < launch->path_count; index++) {
    char *path = launch->paths[index];
    execve(path, launch->arguments, environment);
    struct cprobe_launch_failure now = {CPROBE_STAGE_EXEC, errno, (int32_t)index};
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
      shell_arguments[0] = "sh";
      shell_arguments[1] = path;
      execve(shell_path, shell_arguments, environment);
      now.stage = CPROBE_STAGE_SHELL;
      now.error = errno;
      return now;
    default:
      return now;
    }
  }
  return best;
}

// Everything the child does. Never returns.
static void __attribute__((noreturn)) run_child(
    const struct cprobe_launch *launch, char *const *environment, char **shell_arguments,
    int channel) {
  struct cprobe_launch_failure failure = {CPROBE_STAGE_RESTORE, 0, 0};
  failure.error = restore_inherited(&launch->inherited);
  char word;
  ssize_t count;
  do count = read(channel, &word, 1);
  while (count < 0 && errno == EINTR);
  if (count != 1) _exit(held_child_lost); // whoever held us is gone, or does not want us
  if (failure.error == 0) failure = exec_first(launch, environment, shell_arguments);
  send(channel, &failure, sizeof failure, MSG_NOSIGNAL);
  _exit(held_child_lost);
}

// ---- in ourselves ----

int cprobe_launch_hold(const struct cprobe_launch *launch, struct cprobe_held *out) {
  if (launch->path_count == 0 || launch->argument_count == 0) return -EINVAL;
  char *const *environment = launch->environment ? launch->environment : environ;
  // sh, path, then the program's arguments from 1 on, then NULL.
  char **shell_arguments = calloc(launch->argument_count + 2, sizeof *shell_arguments);
  if (shell_arguments == NULL) return -ENOMEM;
  for (size_t index = 1; index < launch->argument_count; index++)
    shell_arguments[index + 1] = launch->arguments[index];

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    int error = errno;
    free(shell_arguments);
    return -error;
  }
  pid_t pid = fork();
  if (pid == 0) {
    // Without this the child would hold its own line open and never see us die.
    close(ends[0]);
    run_child(launch, environment, shell_arguments, ends[1]);
  }
  int error = pid < 0 ? errno : 0;
  free(shell_arguments);
  close(ends[1]);
  if (error == 0) {
    // No race against reuse of the pid: only we can reap it.
    int pidfd = cprobe_pidfd_open(pid);
    if (pidfd >= 0) {
      *out = (struct cprobe_held){pid, pidfd, ends[0]};
      return 0;
    }
    error = -pidfd;
    kill(pid, SIGKILL);
    struct cprobe_usage usage;
    cprobe_reap(pid, &usage);
  }
  close(ends[0]);
  return -error;
}

int cprobe_launch_release(const struct cprobe_held *held, struct cprobe_launch_failure *failure) {
  ssize_t count;
  do count = send(held->channel, "g", 1, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  // EPIPE: the child was killed while it was held. The read below then ends at once.
  if (count < 0 && errno != EPIPE && errno != ECONNRESET) return -errno;
  do count = recv(held->channel, failure, sizeof *failure, MSG_WAITALL);
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno == ECONNRESET ? 0 : -errno;
  return count == (ssize_t)sizeof *failure ? 1 : 0;
}
