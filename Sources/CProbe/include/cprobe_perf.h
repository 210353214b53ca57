// perf_event_open(2) in the few forms that we use, and its ring buffer read as whole records.

#ifndef CPROBE_PERF_H
#define CPROBE_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A mapped ring buffer. All fields belong to the functions below.
struct cprobe_ring {
  int32_t fd;
  uint64_t size;
  void *_Nullable base;
};

// Records of every fork, exit and exec below task `pid` on `cpu`, from now on; times are
// CLOCK_MONOTONIC. `pages` (a power of two) is the size of the ring. 0 or -errno.
int cprobe_perf_open_tasks(int pid, int cpu, int pages, struct cprobe_ring *_Nonnull out);

// A counter of the CPU time of task `pid` and of everything it forks from now on; the descriptor, or
// -errno. Read it with cprobe_perf_read.
int cprobe_perf_open_cpu(int pid);

// A record whenever task `tid` leaves or gets a CPU, with the time (CLOCK_MONOTONIC). Permitted to an
// ordinary user for his own processes at kernel.perf_event_paranoid 2. With `places` (paranoid 1 or
// CAP_PERFMON) a sample with the user's stack pointer and program counter comes before each record of a
// CPU that was left. `pages` (a power of two) is the size of the ring. 0 or -errno.
int cprobe_perf_open_switches(
    int tid, int pages, bool places, struct cprobe_ring *_Nonnull out);

// Samples of tracepoint `id` (its number in tracefs) on task `tid`, with time, raw fields and the user's
// stack pointer and program counter. `filter` is in tracefs syntax. With `into` >= 0 the samples go to
// that event's ring and `pages` is ignored. Times are CLOCK_MONOTONIC. 0 or -errno.
int cprobe_perf_open_tracepoint(
    int tid, uint64_t id, const char *_Nonnull filter, int pages, int into,
    struct cprobe_ring *_Nonnull out);

// The counter's value in nanoseconds, or -errno.
int64_t cprobe_perf_read(int fd);

// Moves as many whole records as fit from the ring into `buffer`; the bytes moved.
size_t cprobe_ring_take(
    struct cprobe_ring *_Nonnull ring, uint8_t *_Nonnull buffer, size_t size);

// Unmaps and closes.
void cprobe_ring_close(struct cprobe_ring *_Nonnull ring);

#endif
