// One look at a process whose threads are known, in one small function. Between two looks our caches
// are lost to others, so each line of code and memory that a look touches costs a miss:
// what is read is only noted here, and many notes are turned into events at once.

#ifndef CPROBE_TICK_H
#define CPROBE_TICK_H

#include <stddef.h>
#include <stdint.h>

enum { CPROBE_TICK_THREADS = 16, CPROBE_TICK_NOTES = 16, CPROBE_TICK_PAGES = 120 };

/// What a thread's schedstat said, in nanoseconds.
struct cprobe_tick_reading {
  int64_t cpu, delay;
};

struct cprobe_tick_note {
  /// Monotonic time, how late it was, and the process's CPU clock, in nanoseconds.
  int64_t at, late, clock;
  int32_t skipped;
  /// The process ran, so what the threads said is in `threads`.
  int16_t ran;
  int16_t new_pages;
  struct cprobe_tick_reading threads[CPROBE_TICK_THREADS];
};

struct cprobe_ticks {
  /// The clock at the last look, and the part of it that is not the threads'.
  int64_t clock, rest;
  /// /proc/<pid>/statm, or -1 for none; and its text at the last look.
  int32_t statm;
  int32_t pages_length;
  char pages[CPROBE_TICK_PAGES];
  int32_t thread_count, note_count;
  /// The threads' schedstat files.
  int32_t files[CPROBE_TICK_THREADS];
  struct cprobe_tick_note notes[CPROBE_TICK_NOTES];
};

enum {
  /// Noted; no page has come or gone.
  CPROBE_TICK_NOTED = 0,
  /// Noted; memory has to be read.
  CPROBE_TICK_NEW_PAGES = 1,
  /// Not noted: other threads have run, one has ended, or there is no room for a note.
  CPROBE_TICK_UNKNOWN = 2,
};

/// Reads the threads' files if the clock has moved, and notes what they say if that explains it.
int cprobe_tick(
    struct cprobe_ticks *_Nonnull ticks, int64_t at, int64_t late, int32_t skipped, int64_t clock);

/// A time of looks without anything else to do.
struct cprobe_looks {
  /// What is waited for meanwhile: see cprobe_epoll_wait.
  int32_t epoll;
  /// The process's CPU clock.
  int32_t clock;
  /// Monotonic times in nanoseconds: of the next look, which is moved on; and from when there is more to do.
  int64_t deadline, limit;
  int64_t period;
  /// So late at the most, or it is for the caller to judge.
  int64_t latest;
  /// The oldest note is written when it is so old.
  int64_t age;
  /// When it returned, and which descriptors were readable then.
  int64_t now;
  uint32_t ready;
};

enum {
  /// Nothing is noted of `now`: a descriptor is readable, or a look is due that is late or beyond the limit.
  CPROBE_LOOKS_WOKEN = 3,
  /// The notes are to be written.
  CPROBE_LOOKS_AGED = 4,
};

/// Waits and looks, at each deadline, until there is something else to do; also answers as cprobe_tick
/// where that is not CPROBE_TICK_NOTED.
int cprobe_look_on(struct cprobe_ticks *_Nonnull ticks, struct cprobe_looks *_Nonnull looks);

/// Swift sees arrays of C as tuples.
static inline const struct cprobe_tick_note *_Nonnull cprobe_tick_note(
    const struct cprobe_ticks *_Nonnull ticks, size_t number) {
  return &ticks->notes[number];
}

static inline struct cprobe_tick_reading cprobe_tick_reading(
    const struct cprobe_ticks *_Nonnull ticks, size_t number, size_t thread) {
  return ticks->notes[number].threads[thread];
}

static inline void cprobe_tick_add(struct cprobe_ticks *_Nonnull ticks, int32_t file) {
  ticks->files[ticks->thread_count++] = file;
}

#endif
