/* Spins DEPTH calls deep and writes each gap of over 5 us into FILE, a ring that any observer maps:
 * a count of gaps, 24 bytes of nothing, then (at, length) in ns of CLOCK_MONOTONIC.
 *
 * spin FILE DEPTH [THREADS [LIBRARIES]]
 * THREADS others block ten calls deep, half in a futex, half in poll. LIBRARIES is a file of paths,
 * one a line, to load what can be loaded of them: a program with many mappings, whose stack then goes
 * through some of them (glib, sqlite, expat and qsort, as far as they are there). */
#include "common.h"
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>

#define GAPS 65536u
#define GAP_NS 5000u

static struct {
  volatile uint64_t count, unused[3];
  struct {
    uint64_t at, length;
  } gaps[GAPS];
} *ring;
static volatile int sink, is_over, started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

/* The processor's own counter where it can be read: the innermost frame is then no other library's. */
#if defined(__x86_64__)
static inline uint64_t ticks(void) { return __builtin_ia32_rdtsc(); }
#else
static inline uint64_t ticks(void) { return now_ns(); }
#endif

/* The same moment by both: of several tries the one with nothing in between. */
static void same_moment(uint64_t *clock, uint64_t *tick) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; i++) {
    uint64_t before = ticks(), now = now_ns(), after = ticks();
    if (after - before >= least) continue;
    least = after - before;
    *clock = now;
    *tick = before;
  }
}

__attribute__((noinline)) static void spin(void) {
  uint64_t clock = 0, first = 0, later = 0, last_tick = 0;
  same_moment(&clock, &first);
  while (now_ns() - clock < 200000000u) {
  }
  same_moment(&later, &last_tick);
  double length = (double)(later - clock) / (double)(last_tick - first);
  uint64_t limit = (uint64_t)(GAP_NS / length);
  printf("ready\n");
  fflush(stdout);
  for (uint64_t last = ticks(), turns = 0; !is_over; turns++) {
    uint64_t now = ticks();
    if (now - last > limit) {
      uint64_t at = ring->count % GAPS;
      ring->gaps[at].at = clock + (uint64_t)((double)(last - first) * length);
      ring->gaps[at].length = (uint64_t)((double)(now - last) * length);
      __atomic_store_n(&ring->count, ring->count + 1, __ATOMIC_RELEASE);
      now = ticks();
    }
    if ((turns & 0xffffff) == 0) { /* against drift */
      same_moment(&clock, &first);
      now = ticks();
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

__attribute__((noinline)) static int block(int left, int number) {
  volatile char space[40];
  space[0] = (char)left;
  if (left > 1) {
    int result = block(left - 1, number) + space[0];
    sink += result;
    return result;
  }
  if (!(number & 1)) pthread_mutex_lock(&lock);
  __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
  while (!is_over)
    if (number & 1)
      poll(NULL, 0, -1);
    else
      pthread_cond_wait(&never, &lock);
  return 0;
}

static void *other(void *argument) {
  return (void *)(intptr_t)block(10, (int)(intptr_t)argument);
}

static int start_others(int count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, other, (void *)(intptr_t)i)) return 0;
  }
  while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < count) usleep(1000);
  return 1;
}

static void load(const char *list) {
  char line[4096];
  FILE *file = fopen(list, "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    dlopen(line, RTLD_LAZY | RTLD_LOCAL);
  }
  if (file) fclose(file);
}

static int depth;

static int compare(const void *left, const void *right) {
  sink += deeper(depth);
  return (left > right) - (left < right);
}

static void on_start(void *data, const char *name, const char **attributes) {
  (void)data, (void)name, (void)attributes;
  int two[] = {2, 1};
  qsort(two, 2, sizeof *two, compare);
  sink++;
}

static int on_row(void *data, int columns, char **values, char **names) {
  (void)columns, (void)values, (void)names;
  void *expat = dlopen("libexpat.so.1", RTLD_NOW), *parser = NULL;
  void *(*create)(const char *) = expat ? (void *(*)(const char *))dlsym(expat, "XML_ParserCreate") : NULL;
  if (!create || !(parser = create(NULL))) on_start(data, NULL, NULL);
  void (*handlers)(void *, void (*)(void *, const char *, const char **), void *) =
      (void (*)(void *, void (*)(void *, const char *, const char **), void *))dlsym(expat, "XML_SetElementHandler");
  int (*parse)(void *, const char *, int, int) =
      (int (*)(void *, const char *, int, int))dlsym(expat, "XML_Parse");
  handlers(parser, on_start, NULL);
  sink += parse(parser, "<a></a>", 7, 1);
  return 0;
}

static void on_item(void *item, void *data) {
  (void)item;
  void *sqlite = dlopen("libsqlite3.so.0", RTLD_NOW), *base = NULL;
  if (!sqlite) on_row(data, 0, NULL, NULL);
  int (*open)(const char *, void **) = (int (*)(const char *, void **))dlsym(sqlite, "sqlite3_open");
  int (*exec)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **) =
      (int (*)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **))dlsym(
          sqlite, "sqlite3_exec");
  sink += open(":memory:", &base);
  sink += exec(base, "select 1 union select 2", on_row, data, NULL);
}

/* Does not return where it finds what it needs. */
static void through_libraries(void) {
  void *glib = dlopen("libglib-2.0.so.0", RTLD_NOW);
  if (!glib) on_item(NULL, NULL);
  void *(*append)(void *, void *) = (void *(*)(void *, void *))dlsym(glib, "g_list_append");
  void (*each)(void *, void (*)(void *, void *), void *) =
      (void (*)(void *, void (*)(void *, void *), void *))dlsym(glib, "g_list_foreach");
  each(append(NULL, NULL), on_item, NULL);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  int file = open(arguments[1], O_RDWR);
  if (file < 0 || ftruncate(file, sizeof *ring)) return 2;
  ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ring == MAP_FAILED) return 2;
  for (size_t at = 0; at < sizeof *ring; at += 4096) ((volatile char *)ring)[at] = 0;
  if (count > 4) load(arguments[4]);
  if (count > 3 && !start_others(atoi(arguments[3]))) return 2;
  depth = atoi(arguments[2]);
  if (count > 4) through_libraries();
  return deeper(depth);
}
