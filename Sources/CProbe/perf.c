// The functions of cprobe_perf.h; see there for what each does.

#include "cprobe_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Numbers of enum perf_event_x86_regs and perf_event_arm_regs.
#if defined(__aarch64__)
enum { REGISTER_SP = 31, REGISTER_PC = 32 };
#else
enum { REGISTER_SP = 7, REGISTER_PC = 8 };
#endif

static int open_any(struct perf_event_attr *attr, int pid, int cpu) {
  attr->size = sizeof *attr;
  attr->exclude_hv = 1;
  long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : (int)fd;
}

static int open_event(struct perf_event_attr *attr, int pid, int cpu) {
  attr->type = PERF_TYPE_SOFTWARE;
  // With the kernel left out it is allowed to an ordinary user at paranoid level 2.
  attr->exclude_kernel = 1;
  return open_any(attr, pid, cpu);
}

static int map_ring(int fd, int pages, struct cprobe_ring *out) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size = (size_t)pages * page;
  void *base = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    int error = errno;
    close(fd);
    return -error;
  }
  out->fd = fd;
  out->size = size;
  out->base = base;
  return 0;
}

int cprobe_perf_open_tasks(int pid, int cpu, int pages, struct cprobe_ring *out) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.task = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.inherit = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;  // never wake a poll: the ring is read at every tick
  int fd = open_event(&attr, pid, cpu);
  if (fd < 0) return fd;
  return map_ring(fd, pages, out);
}

int cprobe_perf_open_switches(int tid, int pages, bool places, struct cprobe_ring *out) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.context_switch = 1;
  // One thread, one ring: its number would only make each record longer.
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;  // never wake a poll: the ring is read at every probe
  int fd;
  if (places) {
    // The switch happens in the kernel, so this cannot leave the kernel out.
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.sample_period = 1;
    attr.sample_type |= PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = 1ull << REGISTER_SP | 1ull << REGISTER_PC;
    fd = open_any(&attr, tid, -1);
  } else {
    fd = open_event(&attr, tid, -1);
  }
  if (fd < 0) return fd;
  return map_ring(fd, pages, out);
}

int cprobe_perf_open_tracepoint(
    int tid, uint64_t id, const char *filter, int pages, int into, struct cprobe_ring *out) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = id;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = 1ull << REGISTER_SP | 1ull << REGISTER_PC;
  attr.disabled = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = 1u << 30;  // never wake a poll: the ring is read at every probe
  int fd = open_any(&attr, tid, -1);
  if (fd < 0) return fd;
  // Once only: the kernel does not replace the filter of an event (EEXIST).
  int result = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? -errno : 0;
  if (result == 0 && into >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, into) < 0) result = -errno;
  if (result < 0) {
    close(fd);
    return result;
  }
  if (into >= 0) {
    out->fd = fd;
    out->size = 0;
    out->base = NULL;
  } else {
    result = map_ring(fd, pages, out);
    if (result < 0) return result;
  }
  if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
    result = -errno;
    cprobe_ring_close(out);
  }
  return result;
}

int cprobe_perf_open_cpu(int pid) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.inherit = 1;
  return open_event(&attr, pid, -1);
}

int64_t cprobe_perf_read(int fd) {
  uint64_t value;
  ssize_t count = read(fd, &value, sizeof value);
  if (count != (ssize_t)sizeof value) return count < 0 ? -errno : -EIO;
  return (int64_t)value;
}

size_t cprobe_ring_take(struct cprobe_ring *ring, uint8_t *buffer, size_t size) {
  struct perf_event_mmap_page *header = ring->base;
  if (!header) return 0;
  const uint8_t *data = (const uint8_t *)ring->base + (size_t)sysconf(_SC_PAGESIZE);
  uint64_t head = __atomic_load_n(&header->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = header->data_tail;
  size_t done = 0;
  while (tail < head) {
    // A record's header never wraps: records are multiples of 8 bytes and so is the ring.
    struct perf_event_header record;
    memcpy(&record, data + tail % ring->size, sizeof record);
    if (record.size < sizeof record || record.size > head - tail) break;
    if (record.size > size - done) break;
    size_t at = tail % ring->size;
    size_t first = ring->size - at < record.size ? ring->size - at : record.size;
    memcpy(buffer + done, data + at, first);
    memcpy(buffer + done + first, data, record.size - first);
    done += record.size;
    tail += record.size;
  }
  __atomic_store_n(&header->data_tail, tail, __ATOMIC_RELEASE);
  return done;
}

void cprobe_ring_close(struct cprobe_ring *ring) {
  if (ring->base) munmap(ring->base, ring->size + (size_t)sysconf(_SC_PAGESIZE));
  if (ring->fd >= 0) close(ring->fd);
  ring->base = NULL;
  ring->fd = -1;
}
