// Opening, unpacking and summing of symbol files, in our own process.

#include "cprobe_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <lzma.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

int cprobe_open_below(int root_fd, const char *path, int nofollow) {
  struct open_how how = {
      .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (nofollow ? RESOLVE_NO_SYMLINKS : 0),
  };
  // Looked at first, as opening some devices has effects; what was seen is what is opened.
  how.flags = O_PATH | O_CLOEXEC;
  int seen = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
  if (seen < 0) return -errno;
  struct stat status;
  int fd = fstat(seen, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
  if (fd == 0) {
    how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    struct stat again;
    if (fd < 0) fd = -errno;
    else if (fstat(fd, &again) < 0 || !S_ISREG(again.st_mode) || again.st_ino != status.st_ino) {
      close(fd);
      fd = -EINVAL;
    }
  }
  close(seen);
  return fd;
}

int cprobe_duplicate(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? -errno : copy;
}

uint32_t cprobe_crc32(uint32_t crc, const uint8_t *bytes, size_t size) {
  return (uint32_t)crc32_z(crc, bytes, size);
}

int64_t cprobe_unxz(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity) {
  uint64_t memory = 64 << 20;
  size_t from = 0, to = 0;
  lzma_ret result =
      lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &from, size, out, &to, capacity);
  if (result == LZMA_OK) return (int64_t)to;
  return result == LZMA_BUF_ERROR || result == LZMA_MEMLIMIT_ERROR ? -E2BIG : -EINVAL;
}
