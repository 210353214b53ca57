// Demangling, in the isolated helper: short names can stand for gigabytes, in C++ and in Swift.

#include "helper.h"

#include <libiberty/demangle.h>
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of Swift's runtime. With a buffer given it fills that, and returns it.
extern char *swift_demangle(
    const char *name, size_t length, char *out, size_t *capacity, uint32_t flags);

// Takes a demangled name as it comes. Template arguments (what is in angle brackets) deeper than `depth`
// are replaced by a mark: the function's name may stand behind 80 kB of them.
struct sink {
  char *out;
  size_t length, limit;
  int depth, level, is_skipping;
  // Bytes that came, shown or not.
  size_t seen;
  // The last bytes that came, newest lowest.
  uint64_t last;
  jmp_buf full;
};

// Nobody's name comes to this; but some hostile ones go on for ever.
enum { SEEN_LIMIT = 1 << 20, SWIFT_LIMIT = 1 << 16 };

static const char mark[] = "\xe2\x80\xa6";

static void put(struct sink *sink, const char *text, size_t length) {
  size_t room = sink->limit - sink->length;
  memcpy(sink->out + sink->length, text, length < room ? length : room);
  sink->length += length < room ? length : room;
  // Leaves a demangler that is still at work; it may leak there, in a process that ends soon.
  if (length > room) longjmp(sink->full, 1);
}

static int opens(const struct sink *sink, char c) {
  // operator< and operator<<
  return c == '<' && sink->last != 0x6f70657261746f72 && (sink->last & 0xff) != '<';
}

static int closes(const struct sink *sink, char c) {
  return c == '>' && sink->level > 0 && (sink->last & 0xff) != '-' &&
         sink->last != 0x6f70657261746f72;
}

static void take(const char *text, size_t length, void *opaque) {
  struct sink *sink = opaque;
  sink->seen += length;
  if (sink->seen > SEEN_LIMIT) longjmp(sink->full, 1);
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    int is_end = closes(sink, c);
    if (is_end) sink->level--;
    if (sink->level <= sink->depth) put(sink, &c, 1);
    if (!is_end && opens(sink, c) && ++sink->level == sink->depth + 1) {
      put(sink, mark, sizeof mark - 1);
    }
    sink->last = sink->last << 8 | (unsigned char)c;
  }
}

static int is_swift(const char *name) {
  return !strncmp(name, "$s", 2) || !strncmp(name, "$S", 2) || !strncmp(name, "$e", 2) ||
         !strncmp(name, "_$s", 3) || !strncmp(name, "_$S", 3) || !strncmp(name, "_T0", 3);
}

// Sends the demangled name to the sink; 0 if it is none.
static int send_demangled(const char *name, struct sink *sink) {
  if (is_swift(name)) {
    static char text[SWIFT_LIMIT];
    size_t size = sizeof text;
    if (!swift_demangle(name, strlen(name), text, &size, 0)) return 0;
    text[sizeof text - 1] = 0;
    take(text, strlen(text), sink);
    return 1;
  }
  if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) return 0;
  // First, as a legacy Rust name is a C++ name as well. Without its hash, as DMGL_VERBOSE is not set.
  if (rust_demangle_callback(name, 0, take, sink)) return 1;
  sink->length = 0;
  sink->level = 0;
  return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, take, sink);
}

size_t helper_demangle(const char *name, char *out, size_t limit, uint16_t *is_cut) {
  // Whole if it fits, else with ever fewer arguments of templates.
  static const int depths[] = {INT_MAX, 2, 1, 0};
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    // Static: what a longjmp leaves of an automatic variable is undefined.
    static struct sink sink;
    memset(&sink, 0, sizeof sink);
    sink.out = out;
    sink.limit = limit;
    sink.depth = depths[i] == INT_MAX ? INT_MAX - 1 : depths[i];
    *is_cut = 0;
    if (setjmp(sink.full) == 0) return send_demangled(name, &sink) ? sink.length : 0;
    *is_cut = 1;
    if (sink.seen > SEEN_LIMIT || depths[i] == 0) return sink.length;
  }
  return 0;
}

int cprobe_demangle_start(
    const char *names, size_t size, size_t count, size_t limit, struct cprobe_helper *out) {
  struct cprobe_helper helper;
  int role = helper_fork(-1, &helper);
  if (role <= 0) {
    *out = helper;
    return role;
  }
  char *text = malloc(limit + 1);
  if (!text) _exit(1);
  const char *at = names, *end = names + size;
  for (uint32_t index = 0; index < count && at < end; index++) {
    struct cprobe_answer head = {.index = index, .kind = CPROBE_ANSWER_NAME};
    head.name_length = (uint32_t)helper_demangle(at, text, limit, &head.is_cut);
    helper_answer(helper.pipe, head, text, "");
    at += strlen(at) + 1;
  }
  _exit(0);
}
