// The functions of cprobe_sys.h; see there for what each does.

#include "cprobe_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

int cprobe_eventfd(void) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int cprobe_signalfd(const sigset_t *set) {
  int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int cprobe_poll(struct pollfd *set, size_t count, int64_t limit_ns) {
  struct timespec limit = {(time_t)(limit_ns / 1000000000), (long)(limit_ns % 1000000000)};
  int ready = ppoll(set, count, limit_ns < 0 ? NULL : &limit, NULL);
  if (ready < 0 && (errno == EPERM || errno == ENOSYS)) {
    // A filter of system calls. Callers come back at once, so a failure must not make them spin.
    ready = poll(set, count, limit_ns < 0 ? -1 : (int)((limit_ns + 999999) / 1000000));
    if (ready < 0 && errno != EINTR) {
      struct timespec moment = {0, 10000000};
      nanosleep(&moment, NULL);
      errno = EINTR;
    }
  }
  return ready < 0 ? -errno : ready;
}

int cprobe_epoll(void) {
  int fd = epoll_create1(EPOLL_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int cprobe_epoll_add(int epoll, int fd, uint32_t number) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

uint32_t cprobe_epoll_wait(int epoll, int64_t limit_ns) {
  struct epoll_event events[8];
  if (limit_ns < 0) limit_ns = 0;
  // struct __kernel_timespec.
  struct { int64_t seconds, nanoseconds; } limit = {limit_ns / 1000000000, limit_ns % 1000000000};
  int ready = (int)syscall(SYS_epoll_pwait2, epoll, events, 8, &limit, NULL, 0);
  if (ready < 0 && errno != EINTR) {
    struct pollfd set = {.fd = epoll, .events = POLLIN};
    ready = cprobe_poll(&set, 1, limit_ns) > 0 ? epoll_wait(epoll, events, 8, 0) : 0;
  }
  uint32_t numbers = 0;
  for (int i = 0; i < ready; i++) numbers |= 1u << (events[i].data.u32 & 31);
  return numbers;
}

int cprobe_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_ns) {
  struct timespec end = {(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)};
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &end);
}

int cprobe_set_thread_name(const char *name) {
  return pthread_setname_np(pthread_self(), name);
}

int cprobe_set_timer_slack(unsigned long nanoseconds) {
  return prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0) < 0 ? -errno : 0;
}

int64_t cprobe_window_size(int fd) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) < 0) return -errno;
  return (int64_t)size.ws_row << 32 | size.ws_col;
}

int cprobe_cached_status(const char *path, struct stat *out) {
  struct statx all;
  int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  if (statx(AT_FDCWD, path, flags, STATX_BASIC_STATS, &all) < 0) return -errno;
  *out = (struct stat){
      .st_dev = makedev(all.stx_dev_major, all.stx_dev_minor),
      .st_ino = all.stx_ino,
      .st_mode = all.stx_mode,
      .st_nlink = all.stx_nlink,
      .st_uid = all.stx_uid,
      .st_rdev = makedev(all.stx_rdev_major, all.stx_rdev_minor),
      .st_size = (off_t)all.stx_size,
      .st_mtim = {.tv_sec = all.stx_mtime.tv_sec, .tv_nsec = all.stx_mtime.tv_nsec},
  };
  return 0;
}

int64_t cprobe_getdents(int fd, void *buffer, size_t size) {
  long count = syscall(SYS_getdents64, fd, buffer, size);
  return count < 0 ? -errno : count;
}

int64_t cprobe_pidfd_exit_status(int pidfd) {
  // struct pidfd_info of linux/pidfd.h, first published size (64 bytes), which older headers lack.
  struct {
    uint64_t mask, cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
  } info = {.mask = 1u << 3};
  _Static_assert(sizeof info == 64, "the kernel checks the size");
  if (ioctl(pidfd, _IOWR(0xFF, 11, info), &info) < 0) return -1;
  return info.mask & 1u << 3 ? (int64_t)(uint32_t)info.exit_code : -1;
}

void cprobe_use_one_heap(void) {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 1);
#endif
}

int32_t cprobe_thread(void) { return (int32_t)syscall(SYS_gettid); }

// Before all others: the Swift runtime aborts with a backtrace where it cannot find its own path.
__attribute__((constructor(101))) static void need_proc(void) {
  static const char text[] =
      "perfwatch: /proc is not mounted; mount it (mount -t proc proc /proc)\n";
  if (access("/proc/self/exe", F_OK) == 0 || errno != ENOENT) return;
  ssize_t ignored = write(2, text, sizeof text - 1);
  (void)ignored;
  _exit(125);
}
