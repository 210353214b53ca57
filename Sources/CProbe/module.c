// The functions of cprobe_module.h; see there for what each does.

#include "cprobe_module.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int cprobe_open_regular(int root_fd, const char *path, int nofollow) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC};
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (nofollow ? RESOLVE_NO_SYMLINKS : 0);
  int found = root_fd >= 0 ? (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how)
                           : open(path, O_PATH | O_CLOEXEC);
  if (found < 0) return -errno;
  struct stat status;
  int result = fstat(found, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
  if (result == 0) {
    // What was looked at is what is opened, whatever has the name by now.
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", found);
    result = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (result < 0) result = -errno;
  }
  close(found);
  return result;
}

int64_t cprobe_copy_memory(int32_t pid, uint64_t address, void *buffer, size_t size) {
  struct iovec to = {buffer, size};
  struct iovec from = {(void *)(uintptr_t)address, size};
  ssize_t count = process_vm_readv(pid, &to, 1, &from, 1, 0);
  return count < 0 ? -errno : count;
}
