// What Swift cannot say: the code between fork and exec, and calls that are variadic or answer in
// unions. Flat functions without state; each returns 0 or more, or a negative errno. Stops by ptrace
// are in cprobe_capture.h.

#ifndef CPROBE_H
#define CPROBE_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// ---- launch.c: start a program that is exactly what it would be without us ----

/// What of ourselves a launched program must not notice, as it was when we were started.
/// Signal sets are the kernel's: bit n-1 stands for signal n.
struct cprobe_inherited {
  /// The mask of blocked signals.
  uint64_t signal_mask;
  /// The signals that were ignored (as under nohup).
  uint64_t ignored_signals;
  /// RLIMIT_NOFILE; UINT64_MAX is "unlimited".
  uint64_t file_limit_soft;
  uint64_t file_limit_hard;
  /// PR_GET_PDEATHSIG; 0 is none.
  int32_t parent_death_signal;
};

/// A program to start. All memory stays the caller's.
struct cprobe_launch {
  /// The paths to try, in order; `path_count` of them.
  char *_Nullable const *_Nonnull paths;
  size_t path_count;
  /// The arguments; `argument_count` of them and then NULL.
  char *_Nullable const *_Nonnull arguments;
  size_t argument_count;
  /// The environment, NULL at its end; NULL for our own as it is.
  char *_Nullable const *_Nullable environment;
  struct cprobe_inherited inherited;
};

/// A child that waits for the word to exec. The caller owns both descriptors and must reap.
struct cprobe_held {
  int32_t pid;
  int32_t pidfd;
  /// Our end of the line to the child. Closing it without the word makes the child exit.
  int32_t channel;
  /// What the child reads and its stack; the child shares our memory until it has executed.
  void *_Nullable memory;
};

/// Where a launch failed.
enum cprobe_stage {
  /// execve of `path_index` said `error`.
  CPROBE_STAGE_EXEC = 1,
  /// `path_index` is text without a #! line, and /bin/sh could not be executed.
  CPROBE_STAGE_SHELL = 2,
  /// `path_index` is a binary in a format this kernel does not run.
  CPROBE_STAGE_FORMAT = 3,
  /// The inherited state could not be put back.
  CPROBE_STAGE_RESTORE = 4,
};

/// What the child says when it could not exec. The child then exits; the caller must reap it.
struct cprobe_launch_failure {
  int32_t stage;
  int32_t error;
  int32_t path_index;
};

/// Reads what a target must inherit. Call it first thing in main, on the main thread.
int cprobe_inherited_capture(struct cprobe_inherited *out);
/// The rest of it: the signal asked for at the parent's death (prctl). 0 or a negative errno.
int cprobe_inherited_capture_death_signal(struct cprobe_inherited *out);

/// Opens placeholders on those of descriptors 0 to 2 that are closed, so that nothing we open later
/// lands there. They refuse reads and writes (EBADF) and are closed again in a launched program.
/// Returns how many there were.
int cprobe_stdio_reserve(void);

/// Makes a child that puts the inherited state back and then waits for the word to exec.
/// Nothing in the child allocates, takes a lock or runs Swift.
int cprobe_launch_hold(const struct cprobe_launch *launch, struct cprobe_held *out);

/// Gives the word; any thread may. A child that was killed before is no failure: its status tells.
int cprobe_launch_go(int32_t channel);

/// Waits until the child, which got the word, has executed its program (0) or could not (1, and
/// `failure` is filled in). 0 also when it was killed before: its status tells.
int cprobe_launch_await(const struct cprobe_held *held, struct cprobe_launch_failure *failure);

/// Closes the channel and frees the memory. Only after `cprobe_launch_await` returned 0, or when the
/// child is reaped.
void cprobe_launch_forget(const struct cprobe_held *held);

// ---- process.c: signals, waits and single calls ----

/// Replaces the calling thread's signal mask and returns the former one in `former`.
/// Works on all 64 signals, also those the C library keeps for itself.
int cprobe_signal_mask_set(uint64_t mask, uint64_t *former);

/// Reads the calling thread's signal mask.
int cprobe_signal_mask_get(uint64_t *mask);

/// Sets SIGCHLD to its default, so that the kernel keeps the status of our children for us even
/// when we were started with SIGCHLD ignored.
int cprobe_child_status_keep(void);

/// A wait status of a process that has ended, and what it used with its reaped children.
struct cprobe_usage {
  int32_t exit_code;
  /// The signal that ended it; 0 when it exited by itself.
  int32_t signal;
  int64_t user_microseconds;
  int64_t system_microseconds;
  int64_t max_resident_bytes;
  int64_t minor_faults;
  int64_t major_faults;
  int64_t voluntary_switches;
  int64_t involuntary_switches;
};

/// Waits until `pid` has ended and reaps it; no other child is touched.
int cprobe_reap(int32_t pid, struct cprobe_usage *out);

/// Takes the next job-control change of `pid` without blocking. Its end and a stop by ptrace are
/// left where they are.
/// Returns 0 for none, 1 for stopped (`signal` says by which), 2 for continued.
int cprobe_job_change(int32_t pid, int32_t *signal);

/// pidfd_open(2); the descriptor is close-on-exec.
int cprobe_pidfd_open(int32_t pid);

/// pidfd_send_signal(2).
int cprobe_pidfd_signal(int32_t pidfd, int32_t signal);

/// prctl(2), which is variadic in C.
int cprobe_prctl(
    int32_t option, uint64_t argument2, uint64_t argument3, uint64_t argument4,
    uint64_t argument5);

/// Ends this process by `signal`, without a core file of our own. Returns only if that signal
/// cannot end a process.
int cprobe_reraise(int32_t signal);

#pragma clang assume_nonnull end

#endif
