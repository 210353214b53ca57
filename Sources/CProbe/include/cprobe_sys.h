// Calls of the C library that Swift's Glibc module leaves out (GNU extensions, variadic functions),
// as flat functions. Each returns what the call returns, or -errno where it fails.

#ifndef CPROBE_SYS_H
#define CPROBE_SYS_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

// eventfd(2), close-on-exec and non-blocking.
int cprobe_eventfd(void);

// signalfd(2) for the signals of the set, close-on-exec and non-blocking.
int cprobe_signalfd(const sigset_t *_Nonnull set);

// ppoll(2) without a signal mask; a negative limit waits for ever.
int cprobe_poll(struct pollfd *_Nullable set, size_t count, int64_t limit_ns);

// epoll_create1(2), close-on-exec; and EPOLL_CTL_ADD of a descriptor for input, with its number as data.
int cprobe_epoll(void);
int cprobe_epoll_add(int epoll, int fd, uint32_t number);

// epoll_pwait2(2), or ppoll and epoll_wait before Linux 5.11: waits for up to `limit_ns` and answers
// which of the first 32 numbers are ready, as bits. A signal ends the wait early.
uint32_t cprobe_epoll_wait(int epoll, int64_t limit_ns);

// pthread_cond_clockwait on CLOCK_MONOTONIC up to an absolute time; 0 or the error number.
int cprobe_cond_wait(
    pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, int64_t deadline_ns);

// pthread_setname_np for the calling thread.
int cprobe_set_thread_name(const char *_Nonnull name);

// gettid(2).
int32_t cprobe_thread(void);

// prctl(PR_SET_TIMERSLACK): how late the kernel may wake the calling thread, in nanoseconds.
int cprobe_set_timer_slack(unsigned long nanoseconds);

// TIOCGWINSZ: columns in the low half, rows in the high half, or -errno.
int64_t cprobe_window_size(int fd);

// stat(2) by what the kernel has cached where a file's server would have to be asked, which on a hung
// network or FUSE file system takes as long as it hangs; 0 or a negative errno. From Linux 4.11; before,
// ENOSYS.
int cprobe_cached_status(const char *_Nonnull path, struct stat *_Nonnull out);

// getdents64(2): raw directory entries into the buffer; bytes, 0 at the end, or -errno.
int64_t cprobe_getdents(int fd, void *_Nonnull buffer, size_t size);

// ioctl(PIDFD_GET_INFO) with PIDFD_INFO_EXIT (Linux 6.15): the wait status of a process that has been
// reaped, by anybody. Returns -1 where the kernel does not tell.
int64_t cprobe_pidfd_exit_status(int pidfd);

// mallopt(M_ARENA_MAX, 1): one heap for all threads. Ours rarely allocate at the same time, and each
// further arena costs a 128 MiB mapping, three calls and its own half-empty pages.
void cprobe_use_one_heap(void);

#endif
