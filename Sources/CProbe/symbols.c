// Unpacking and summing of symbol files, in our own process.

#include "cprobe_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

int cprobe_duplicate(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? -errno : copy;
}

uint32_t cprobe_crc32(uint32_t crc, const uint8_t *bytes, size_t size) {
  return (uint32_t)crc32_z(crc, bytes, size);
}

int64_t cprobe_inflate(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity) {
  uLongf count = capacity;
  int result = uncompress(out, &count, bytes, size);
  return result == Z_OK ? (int64_t)count : result == Z_BUF_ERROR ? -E2BIG : -EINVAL;
}

int64_t cprobe_unxz(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity) {
  uint64_t memory = 64 << 20;
  size_t from = 0, to = 0;
  lzma_ret result =
      lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &from, size, out, &to, capacity);
  if (result == LZMA_OK) return (int64_t)to;
  return result == LZMA_BUF_ERROR || result == LZMA_MEMLIMIT_ERROR ? -E2BIG : -EINVAL;
}
