/* Spins DEPTH calls deep and writes each gap of over 5 us into FILE, a ring that any observer maps:
 * a count of gaps, 24 bytes of nothing, then (at, length) in ns of CLOCK_MONOTONIC. */
#include "common.h"
#include <sys/mman.h>

#define GAPS 65536u
#define GAP_NS 5000u

static struct {
  volatile uint64_t count, unused[3];
  struct {
    uint64_t at, length;
  } gaps[GAPS];
} *ring;
static volatile int sink, is_over;

__attribute__((noinline)) static void spin(void) {
  printf("ready\n");
  fflush(stdout);
  for (uint64_t last = now_ns(); !is_over;) {
    uint64_t now = now_ns();
    if (now - last > GAP_NS) {
      uint64_t at = ring->count % GAPS;
      ring->gaps[at].at = last;
      ring->gaps[at].length = now - last;
      __atomic_store_n(&ring->count, ring->count + 1, __ATOMIC_RELEASE);
      now = now_ns();
    }
    last = now;
  }
}

__attribute__((noinline)) int deeper(int left) {
  volatile char space[40];
  space[0] = (char)left;
  int result = 0;
  if (left <= 1)
    spin();
  else
    result = deeper(left - 1) + space[0];
  sink += result;
  return result;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  int file = open(arguments[1], O_RDWR);
  if (file < 0 || ftruncate(file, sizeof *ring)) return 2;
  ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ring == MAP_FAILED) return 2;
  for (size_t at = 0; at < sizeof *ring; at += 4096) ((volatile char *)ring)[at] = 0;
  return deeper(atoi(arguments[2]));
}
