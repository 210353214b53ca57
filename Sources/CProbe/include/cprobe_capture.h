// One bounded ptrace stop that copies a thread's registers and stack, and copies without a stop.

#ifndef CPROBE_CAPTURE_H
#define CPROBE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

// Space for a copied piece of memory. The buffer stays the caller's and should have been written to
// before, so that no page of it is missing while a thread is stopped.
struct cprobe_copy {
  uint8_t *_Nullable buffer;
  size_t size;
  // The address of the first byte in the target, and how many bytes were copied.
  uint64_t start;
  size_t count;
};

// Registers by DWARF number: 17 on x86-64 (rip is 16), 33 on aarch64 (sp is 31, pc is 32).
#define CPROBE_REGISTERS 33

struct cprobe_stop {
  int32_t tid;
  // The CPU it was last seen on, or -1: where we run on the same one, waiting must not spin.
  int32_t cpu;
  // Its open /proc/<pid>/task/<tid>/syscall, and what that has to say for the stop to be made.
  int32_t line_fd;
  const uint8_t *_Nullable line;
  size_t line_size;
  // Numbers of calls that answer EINTR to a stop and may be begun again.
  const int32_t *_Nullable restartable;
  size_t restartable_count;
  // How long to wait for the stop.
  int64_t limit_ns;
  // `size` is how much is wanted. `extra.start` is an address of which more is wanted, or 0.
  struct cprobe_copy stack;
  struct cprobe_copy extra;
  // Results.
  uint64_t registers[CPROBE_REGISTERS];
  // CLOCK_MONOTONIC: asked to stop, the last look that saw it going, the first that saw it stopped,
  // all copied, and resumed. It left its CPU for the stop between the first and `copied_at`.
  int64_t asked_at;
  int64_t going_at;
  int64_t stopped_at;
  int64_t copied_at;
  int64_t resumed_at;
};

// Seizes the thread, looks once more whether its line is the expected one, stops it, copies, and
// lets it go. All of it happens on a thread made for this call, whose end lets go of the target
// whatever has happened (a tracer's end is the only way to let go of a thread that does not stop).
//
// Returns 0; 1 if the line has changed, and then there was no stop; -ESRCH if the thread has ended;
// -EPERM if it may not be traced or somebody else traces it; -ETIMEDOUT if the stop did not come;
// -ENOEXEC if its registers are not those of our architecture.
int cprobe_stop_and_copy(struct cprobe_stop *_Nonnull request);

// Copies from just below `stack_pointer` up, without any stop: as much as fits and is mapped.
// 0, or -errno where nothing could be copied.
int cprobe_copy_stack(
    int32_t tid, uint64_t stack_pointer, struct cprobe_copy *_Nonnull stack,
    struct cprobe_copy *_Nonnull extra);

#endif
