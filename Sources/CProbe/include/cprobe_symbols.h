// Names and lines out of files that may be hostile. libdw, libiberty and Swift's demangler are not made
// for that, so they run in a forked child that can do nothing but compute and answer into a pipe: a
// crash, a hang or an endless name there costs its answers and nothing else.

#ifndef CPROBE_SYMBOLS_H
#define CPROBE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A child at work. Its answers come from `pipe`, which does not block and ends with it.
struct cprobe_helper {
  int32_t pid;
  int32_t pipe;
};

/// An answer: this header, then `name_length` and `file_length` bytes.
struct cprobe_answer {
  /// Which of the names or addresses that were asked for.
  uint32_t index;
  /// One of the kinds below.
  uint16_t kind;
  /// The name was cut at the limit.
  uint16_t is_cut;
  /// 0 is unknown.
  uint32_t line;
  uint32_t name_length;
  uint32_t file_length;
};

enum {
  /// A demangled name.
  CPROBE_ANSWER_NAME = 1,
  /// A function inlined at the address, innermost first.
  CPROBE_ANSWER_INLINED = 2,
  /// The function that the inlined ones are in; name_length may be 0.
  CPROBE_ANSWER_FUNCTION = 3,
  /// All about this address has been said.
  CPROBE_ANSWER_DONE = 4,
  /// The file has no debug information that can be read.
  CPROBE_ANSWER_NO_DEBUG = 5,
};

/// Demangles `count` names that stand one after the other in `names`, each with a NUL after it: names of
/// Swift, C++ (Itanium) and Rust (legacy, v0). A name that is none of these gets no answer.
/// Returns 0 or -errno.
int cprobe_demangle_start(
    const char *names, size_t size, size_t count, size_t limit, struct cprobe_helper *out);

/// Looks lines and inlined functions up in the DWARF of an open ELF file, in the order of `addresses`
/// (as the file's symbol table has them). Returns 0 or -errno.
int cprobe_lines_start(
    int fd, const uint64_t *addresses, size_t count, size_t limit, struct cprobe_helper *out);

/// Ends the child however far it got, reaps it and closes the pipe. Returns the microseconds of CPU
/// that it took; `status` is as of wait(2).
int64_t cprobe_helper_end(struct cprobe_helper *helper, int32_t *status);

/// A second descriptor of the same file, close-on-exec, or -errno.
int cprobe_duplicate(int fd);

/// CRC-32 as .gnu_debuglink has it, continued from `crc` (0 at first).
uint32_t cprobe_crc32(uint32_t crc, const uint8_t *bytes, size_t size);

/// Unpacks a zlib stream; the size of the result, or a negative errno: -E2BIG if `capacity` is not
/// enough or the stream is cut, -EINVAL for anything that is no such stream.
int64_t cprobe_inflate(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity);

/// Unpacks an .xz stream; the size of the result, or a negative errno: -E2BIG if `capacity` is not
/// enough (or 64 MiB for the decoder), -EINVAL for anything that is no whole .xz stream.
int64_t cprobe_unxz(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity);

#pragma clang assume_nonnull end

#endif
