// ptrace(2): the only place that stops anybody, and every stop ends here.

#include "cprobe_capture.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Bytes below the stack pointer that belong to the function on x86-64; harmless elsewhere.
#define RED_ZONE 128
// The extra region begins so far below the address that was asked for. Chosen.
#define EXTRA_BELOW 1024
// A stop on another core comes in 20 to 50 us; sleeping meanwhile costs a wake-up. Measured.
#define SPIN_NS 200000
#define RESTART_NO_HANDLER 514

#if defined(__x86_64__)
typedef struct user_regs_struct registers;
#elif defined(__aarch64__)
typedef struct user_pt_regs registers;
#else
#error "registers of this architecture are not known"
#endif

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

// ---- Copies ----

// One call with one range: it comes back short where the mapping ends. 0 or -errno.
static int copy(int32_t tid, struct cprobe_copy *to, uint64_t from, size_t size) {
  struct iovec here = {to->buffer, size}, there = {(void *)(uintptr_t)from, size};
  ssize_t count = process_vm_readv(tid, &here, 1, &there, 1, 0);
  to->start = from;
  to->count = count > 0 ? (size_t)count : 0;
  return count < 0 ? -errno : 0;
}

static void copy_extra(
    int32_t tid, const struct cprobe_copy *stack, struct cprobe_copy *extra, uint64_t wanted) {
  uint64_t end = stack->start + stack->count;
  if (wanted < EXTRA_BELOW || (wanted >= stack->start && wanted < end)) return;
  uint64_t from = (wanted & ~7ull) - EXTRA_BELOW;
  size_t size = extra->size;
  if (wanted >= end && from < end) from = end;
  if (wanted < stack->start && stack->start - from < size) size = stack->start - from;
  if (copy(tid, extra, from, size) == 0) return;
  uint64_t skipped = (wanted & ~7ull) - from;
  if (skipped < size) copy(tid, extra, from + skipped, size - skipped);
}

int cprobe_copy_stack(
    int32_t tid, uint64_t stack_pointer, struct cprobe_copy *stack, struct cprobe_copy *extra) {
  uint64_t wanted = extra->start;
  extra->start = 0;
  extra->count = stack->count = 0;
  if (stack_pointer < RED_ZONE) return -EFAULT;
  int result = copy(tid, stack, stack_pointer - RED_ZONE, stack->size);
  // A stack that begins at its pointer, with nothing mapped below.
  if (result == -EFAULT) result = copy(tid, stack, stack_pointer, stack->size);
  if (result == 0 && wanted != 0 && extra->size > 0) copy_extra(tid, stack, extra, wanted);
  return result;
}

// ---- Registers ----

static uint64_t stack_pointer(const registers *from) {
#if defined(__x86_64__)
  return from->rsp;
#else
  return from->sp;
#endif
}

// By DWARF number.
static void number_registers(const registers *from, uint64_t *to) {
#if defined(__x86_64__)
  const uint64_t ordered[] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi,
                              from->rbp, from->rsp, from->r8,  from->r9,  from->r10, from->r11,
                              from->r12, from->r13, from->r14, from->r15, from->rip};
  memcpy(to, ordered, sizeof ordered);
#else
  memcpy(to, from->regs, sizeof from->regs);
  to[31] = from->sp;
  to[32] = from->pc;
#endif
}

// A thread that was running when we looked may have begun a wait just before the stop, and some
// waits answer EINTR to that. Here, before the kernel looks at the answer, it can still be made
// "begin again unless a handler runs", as most waits have it; a time-out then starts anew.
static void hide_interruption(const struct cprobe_stop *request, const registers *from) {
#if defined(__x86_64__)
  if ((int64_t)from->rax != -EINTR) return;
  for (size_t i = 0; i < request->restartable_count; i++) {
    if ((int64_t)from->orig_rax != request->restartable[i]) continue;
    ptrace(
        PTRACE_POKEUSER, request->tid, offsetof(struct user_regs_struct, rax),
        (unsigned long)-RESTART_NO_HANDLER);
    return;
  }
#else
  // On aarch64 the kernel has looked already, before the stop.
  (void)request;
  (void)from;
#endif
}

// ---- The stop ----

static bool has_changed(const struct cprobe_stop *request, int *error) {
  char line[256];
  ssize_t count = pread(request->line_fd, line, sizeof line, 0);
  *error = count < 0 ? errno : 0;
  return count != (ssize_t)request->line_size || memcmp(line, request->line, request->line_size);
}

// Waits for the stop without taking its report, so that no exit status is ever taken either.
// Returns the stop's status: the signal, and the event in the next byte. Or -errno.
static int await_stop(struct cprobe_stop *request) {
  int64_t begun = now(), looked = begun;
  int64_t spin = sched_getcpu() == request->cpu ? 0 : SPIN_NS;
  struct timespec pause = {0, 5000};
  for (;;) {
    siginfo_t info;
    info.si_pid = 0;
    request->going_at = looked;
    looked = now();
    int flags = WSTOPPED | WEXITED | WNOWAIT | WNOHANG | __WALL;
    if (waitid(P_PID, (id_t)request->tid, &info, flags) < 0) {
      return errno == ECHILD ? -ESRCH : -errno;
    }
    if (info.si_pid != 0) {
      return info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED ? info.si_status : -ESRCH;
    }
    if (looked - begun > request->limit_ns) return -ETIMEDOUT;
    if (looked - begun < spin) continue;
    nanosleep(&pause, NULL);
    // What is slept here counts as stopped, as nobody knows how long of it the target was.
    if (pause.tv_nsec < 150000) pause.tv_nsec += pause.tv_nsec / 2;
  }
}

struct job {
  struct cprobe_stop *request;
  int result;
  // Whether the target may still be ours when the thread ends.
  bool is_held;
  pid_t self;
};

static int stop_and_copy(struct cprobe_stop *request, bool *is_held) {
  registers found;
  struct iovec space = {&found, sizeof found};
  memset(&found, 0, sizeof found);
  int error;
  if (ptrace(PTRACE_SEIZE, request->tid, 0, 0) < 0) return -errno;
  *is_held = true;
  // The file belongs to the thread that was looked at, not to its number: a stranger with the same
  // number is found out here. So is one that went to wait meanwhile.
  if (has_changed(request, &error)) return error != 0 ? -error : 1;
  request->asked_at = now();
  if (ptrace(PTRACE_INTERRUPT, request->tid, 0, 0) < 0) return -errno;
  int status = await_stop(request);
  if (status < 0) return status;
  request->stopped_at = now();

  int result = 0;
  if (ptrace(PTRACE_GETREGSET, request->tid, (void *)NT_PRSTATUS, &space) < 0) {
    result = -errno;
  } else if (space.iov_len != sizeof found) {
    result = -ENOEXEC;
  } else {
    // Where the copy fails the registers still tell the innermost function.
    cprobe_copy_stack(request->tid, stack_pointer(&found), &request->stack, &request->extra);
    // In a group stop the program would have seen the interruption without us.
    int stopping = status & 0x7f;
    if (status >> 8 == 0 || stopping == SIGTRAP) hide_interruption(request, &found);
  }
  // A status without an event is a signal on its way, which goes on with the thread.
  int signal = status >> 8 == 0 ? status & 0x7f : 0;
  request->copied_at = now();
  if (ptrace(PTRACE_DETACH, request->tid, 0, (unsigned long)signal) == 0) *is_held = false;
  request->resumed_at = now();
  number_registers(&found, request->registers);
  return result;
}

static void *run(void *argument) {
  struct job *job = argument;
  prctl(PR_SET_NAME, "pw-stop");
  prctl(PR_SET_TIMERSLACK, 1ul, 0, 0, 0);
  job->self = (pid_t)syscall(SYS_gettid);
  job->result = stop_and_copy(job->request, &job->is_held);
  return NULL;
}

// The kernel lets go of a tracer's threads after it has told the joiner: wait until it is gone.
static void await_end(pid_t thread) {
  struct timespec pause = {0, 20000};
  while (syscall(SYS_tgkill, getpid(), thread, 0) == 0) nanosleep(&pause, NULL);
}

int cprobe_stop_and_copy(struct cprobe_stop *request) {
  struct job job = {.request = request};
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, former;
  sigfillset(&all);
  // Nothing may interrupt it between stop and resume; a new thread has its maker's mask.
  pthread_sigmask(SIG_SETMASK, &all, &former);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  int error = pthread_create(&thread, &attributes, run, &job);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  if (error != 0) return -error;
  pthread_join(thread, NULL);
  if (job.is_held) await_end(job.self);
  return job.result;
}
