// The functions of cprobe_tick.h.

#include "cprobe_tick.h"

#include "cprobe_sys.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

// A decimal number and the blank after it; the place behind, or NULL.
static const char *number(const char *text, int64_t *value) {
  uint64_t result = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) result = result * 10 + (uint64_t)(*at - '0');
  if (at == text || at - text > 18 || *at != ' ') return NULL;
  *value = (int64_t)result;
  return at + 1;
}

int cprobe_tick(
    struct cprobe_ticks *ticks, int64_t at, int64_t late, int32_t skipped, int64_t clock) {
  if (ticks->note_count >= CPROBE_TICK_NOTES) return CPROBE_TICK_UNKNOWN;
  struct cprobe_tick_note *note = &ticks->notes[ticks->note_count];
  note->at = at;
  note->late = late;
  note->clock = clock;
  note->skipped = skipped;
  note->ran = clock != ticks->clock;
  note->new_pages = 0;
  if (note->ran) {
    char text[CPROBE_TICK_PAGES + 1];
    int64_t sum = ticks->rest;
    for (int32_t i = 0; i < ticks->thread_count; i++) {
      ssize_t length = pread(ticks->files[i], text, CPROBE_TICK_PAGES, 0);
      if (length <= 0) return CPROBE_TICK_UNKNOWN;
      text[length] = 0;
      const char *rest = number(text, &note->threads[i].cpu);
      if (!rest || !number(rest, &note->threads[i].delay)) return CPROBE_TICK_UNKNOWN;
      sum += note->threads[i].cpu;
    }
    if (sum != clock) return CPROBE_TICK_UNKNOWN;
    ssize_t length = ticks->statm < 0 ? -1 : pread(ticks->statm, text, CPROBE_TICK_PAGES, 0);
    if (length != ticks->pages_length || memcmp(text, ticks->pages, (size_t)length) != 0) {
      note->new_pages = 1;
      ticks->pages_length = length > 0 ? (int32_t)length : -1;
      if (length > 0) memcpy(ticks->pages, text, (size_t)length);
    }
    ticks->clock = clock;
  }
  ticks->note_count++;
  return note->new_pages ? CPROBE_TICK_NEW_PAGES : CPROBE_TICK_NOTED;
}

static int64_t read_clock(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int cprobe_look_on(struct cprobe_ticks *ticks, struct cprobe_looks *looks) {
  int64_t now = read_clock(CLOCK_MONOTONIC);
  for (;;) {
    looks->ready = cprobe_epoll_wait(looks->epoll, looks->deadline - now);
    looks->now = now = read_clock(CLOCK_MONOTONIC);
    if (looks->ready) return CPROBE_LOOKS_WOKEN;
    int64_t late = now - looks->deadline;
    if (late < 0) continue;
    if (now >= looks->limit || late > looks->latest || late >= looks->period) {
      return CPROBE_LOOKS_WOKEN;
    }
    int64_t clock = read_clock(looks->clock);
    if (clock < 0) return CPROBE_TICK_UNKNOWN;
    int answer = cprobe_tick(ticks, now, late, 0, clock);
    if (answer == CPROBE_TICK_UNKNOWN) return answer;
    looks->deadline += looks->period;
    if (answer != CPROBE_TICK_NOTED) return answer;
    if (ticks->note_count == CPROBE_TICK_NOTES || now - ticks->notes[0].at >= looks->age) {
      return CPROBE_LOOKS_AGED;
    }
  }
}
