/* What every target shares: it measures itself and writes the truth about this very run as JSON
 * lines to the file named by $TARGET_TRUTH, else to stderr.
 * Times are CLOCK_MONOTONIC seconds. A "gap" is the time from the return of the loop's idle wait
 * to the next entry into it; its CPU is RUSAGE_THREAD of the loop thread.  What the kernel sees of
 * a turn is longer by the edges: "edge_ms" of a gap is the time from the wait's return to t0, and
 * an "edge" line of the same t is the time from t1 to (nearly) the next wait, if over 0.3 ms.  A
 * "late" line says that the wait's return at t came so much later than its wake-up (5 ms or more),
 * as other programs had the CPUs: no part of the gap, but /proc shows the thread as running. */
#ifndef TARGET_H
#define TARGET_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline, used))
#else
#define NOINLINE __attribute__((noinline, noclone, noipa, used))
#endif
#define INLINE static inline __attribute__((always_inline))

#ifdef __cplusplus
extern "C" {
#endif

INLINE double target_now(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return ts.tv_sec + ts.tv_nsec / 1e9;
}

INLINE double target_tv(struct timeval t) {
  return t.tv_sec + t.tv_usec / 1e6;
}

static int target_fd = -1;
static double target_t_busy, target_c_busy, target_t_start;
static const char *target_fn_tag, *target_how_tag, *target_kind_tag;
static double target_min_ms = 10, target_edge, target_gap_end;
static long target_iters, target_stalls;
static const char *target_prog = "?";

static double target_thread_cpu(void) {
  struct rusage r;
  getrusage(RUSAGE_THREAD, &r);
  return target_tv(r.ru_utime) + target_tv(r.ru_stime);
}

static void target_line(const char *fmt, ...) {
  char b[2048];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(b, sizeof b - 2, fmt, ap);
  va_end(ap);
  if (n > (int)sizeof b - 2)
    n = sizeof b - 2;
  b[n++] = '\n';
  ssize_t w = write(target_fd, b, n);
  (void)w;
}

/* Time that the calling thread has waited for a CPU so far, in ns.  The file is read at most every
 * 5 ms, so that a fast loop does not look like one that does input and output. */
static __thread int target_schedstat = -1;
static __thread double target_delay_at, target_idle_at;
static __thread long target_delay;

static long target_run_delay(void) {
  char b[96];
  if (target_schedstat < 0)
    target_schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  ssize_t n = target_schedstat < 0 ? -1 : pread(target_schedstat, b, sizeof b - 1, 0);
  if (n <= 0)
    return 0;
  b[n] = 0;
  char *second = strchr(b, ' ');
  return second ? atol(second) : 0;
}

static void target_start(const char *prog) {
  target_prog = prog;
  const char *p = getenv("TARGET_TRUTH");
  if (p)
    target_fd = open(p, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (target_fd < 0)
    target_fd = fcntl(2, F_DUPFD_CLOEXEC, 200);
  if (target_fd < 0)
    target_fd = 2;
  target_t_start = target_t_busy = target_now();
  target_c_busy = 0;
  target_kind_tag = "startup";
  struct timespec rt;
  clock_gettime(CLOCK_REALTIME, &rt);
  target_line(
      "{\"ev\":\"start\",\"prog\":\"%s\",\"pid\":%d,\"t\":%.6f,\"real\":%.6f,"
      "\"hz\":%ld,\"cpus\":%ld}",
      prog, (int)getpid(), target_t_start, rt.tv_sec + rt.tv_nsec / 1e9, sysconf(_SC_CLK_TCK),
      sysconf(_SC_NPROCESSORS_ONLN));
}

/* say what the busy window now open is going to do */
static inline void target_tag(const char *fn, const char *how) {
  target_fn_tag = fn;
  target_how_tag = how;
  if (!target_kind_tag || strcmp(target_kind_tag, "startup"))
    target_kind_tag = "stall";
}

static void target_gap_emit(const char *kind) {
  double t1 = target_gap_end = target_now(), c1 = target_thread_cpu();
  double ms = (t1 - target_t_busy) * 1e3;
  if (ms >= target_min_ms || target_fn_tag) {
    target_line(
        "{\"ev\":\"gap\",\"kind\":\"%s\",\"fn\":\"%s\",\"how\":\"%s\",\"t0\":%.6f,\"t1\":%.6f,"
        "\"ms\":%.2f,\"cpu_ms\":%.2f,\"edge_ms\":%.3f}",
        kind, target_fn_tag ? target_fn_tag : "", target_how_tag ? target_how_tag : "",
        target_t_busy, t1, ms, (c1 - target_c_busy) * 1e3, target_edge * 1e3);
    if (target_fn_tag)
      target_stalls++;
  }
  target_fn_tag = target_how_tag = NULL;
  target_kind_tag = NULL;
}

/* call just before the loop's idle wait */
static void target_idle_begin(void) {
  target_gap_emit(target_kind_tag ? target_kind_tag : (target_fn_tag ? "stall" : "work"));
  double now = target_now();
  if (now - target_delay_at >= 0.005) {
    target_delay_at = now;
    target_delay = target_run_delay();
  }
  target_idle_at = target_now();
  double edge = (target_idle_at - target_gap_end) * 1e3;
  if (edge > 0.3)
    target_line("{\"ev\":\"edge\",\"t\":%.6f,\"ms\":%.3f}", target_gap_end, edge);
}

/* call just after the loop's idle wait returned */
static void target_idle_end(void) {
  double back = target_now();
  if (target_idle_at > 0 && back - target_idle_at >= 0.005) {
    double late = (target_run_delay() - target_delay) / 1e6;
    if (late >= 5)
      target_line("{\"ev\":\"late\",\"t\":%.6f,\"ms\":%.2f}", back, late);
  }
  target_iters++;
  target_c_busy = target_thread_cpu();
  target_t_busy = target_now();
  target_edge = target_t_busy - back;
}

/* A field, in kB, of a /proc file made of "Key: value" lines; -1 where it is not to be had. */
static long target_field(const char *path, const char *key) {
  char b[8192];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  ssize_t n = read(fd, b, sizeof b - 1);
  close(fd);
  if (n <= 0)
    return -1;
  b[n] = 0;
  char *p = b;
  size_t l = strlen(key);
  while (p && *p) {
    if (!strncmp(p, key, l) && p[l] == ':')
      return atol(p + l + 1);
    p = strchr(p, '\n');
    if (p)
      p++;
  }
  return -1;
}

static long target_kb(const char *key) {
  return target_field("/proc/self/status", key);
}

static long target_rollup_kb(const char *key) {
  return target_field("/proc/self/smaps_rollup", key);
}

static void target_mem(const char *what) {
  target_line(
      "{\"ev\":\"mem\",\"what\":\"%s\",\"t\":%.6f,\"rss_kb\":%ld,\"anon_kb\":%ld,\"file_kb\":%ld,"
      "\"shmem_kb\":%ld,\"hwm_kb\":%ld,"
      "\"swap_kb\":%ld,\"hugetlb_kb\":%ld,\"pss_kb\":%ld,\"uss_kb\":%ld,\"thp_kb\":%ld,"
      "\"lazyfree_kb\":%ld}",
      what, target_now(), target_kb("VmRSS"), target_kb("RssAnon"), target_kb("RssFile"),
      target_kb("RssShmem"), target_kb("VmHWM"), target_kb("VmSwap"), target_kb("HugetlbPages"),
      target_rollup_kb("Pss"),
      target_rollup_kb("Private_Clean") + target_rollup_kb("Private_Dirty"),
      target_rollup_kb("AnonHugePages"), target_rollup_kb("LazyFree"));
}

static void target_end(int code) {
  struct rusage r, rc;
  getrusage(RUSAGE_SELF, &r);
  getrusage(RUSAGE_CHILDREN, &rc);
  target_line(
      "{\"ev\":\"end\",\"prog\":\"%s\",\"pid\":%d,\"t\":%.6f,\"wall_s\":%.4f,\"user_s\":%.4f,"
      "\"sys_s\":%.4f,\"child_s\":%.4f,"
      "\"hwm_kb\":%ld,\"maxrss_kb\":%ld,\"iters\":%ld,\"stalls\":%ld,\"exit\":%d}",
      target_prog, (int)getpid(), target_now(), target_now() - target_t_start,
      target_tv(r.ru_utime), target_tv(r.ru_stime), target_tv(rc.ru_utime) + target_tv(rc.ru_stime),
      target_kb("VmHWM"), (long)r.ru_maxrss, target_iters, target_stalls, code);
}

static void target_exit(int code) {
  target_end(code);
  exit(code);
}

INLINE void target_sleep_ms(double ms) {
  struct timespec ts = {(time_t)(ms / 1000), (long)((ms - 1000 * (long)(ms / 1000)) * 1e6)};
  while (nanosleep(&ts, &ts) < 0 && errno == EINTR) {
  }
}

/* burn wall-clock milliseconds on the CPU in the calling function itself (inlined) */
#define TARGET_BURN(ms_)                                \
  do {                                                  \
    double e_ = target_now() + (ms_) / 1e3;             \
    volatile unsigned long x_ = 1;                      \
    do {                                                \
      for (int i_ = 0; i_ < 20000; i_++)                \
        x_ = x_ * 2862933555777941757UL + 3037000493UL; \
    } while (target_now() < e_);                        \
  } while (0)

/* Not every target uses every function. */
static void target_unused_(void) __attribute__((unused));

static void target_unused_(void) {
  (void)target_mem;
  (void)target_exit;
  (void)target_idle_begin;
  (void)target_idle_end;
  (void)target_start;
  (void)target_stalls;
}
#ifdef __cplusplus
}
#endif
#endif
