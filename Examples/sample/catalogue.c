/* A small server without a network: an event loop that keeps a catalogue of words.
 *
 * The sample that `make demo` watches. It lives for about six seconds and does what real programs
 * do: a timer of 20 ms drives short turns, a worker thread compresses in the background, memory
 * grows, and now and then the loop is kept busy for far too long, in functions whose names tell:
 *
 *   parse_catalogue   computes for about 400 ms
 *   rebuild_index     computes for about 250 ms, twice
 *   flush_pages       computes for about 150 ms
 *   read_statistics   waits about 300 ms for a lock that the worker holds
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_MS = 20, LIFE_MS = 6000, PAGE = 256 * 1024, PAGES = 160 };

static pthread_mutex_t statistics_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t compressed_bytes;
static int orders;    /* eventfd: the loop asks the worker for something */
static int finished;  /* eventfd: the worker tells the loop that it is done */
static char *pages[PAGES];
static int page_count;
static volatile uint64_t result; /* keeps the compiler from leaving the work out */

static uint64_t cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t wall_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

__attribute__((noinline)) static uint64_t hash_word(uint64_t seed) {
  for (int i = 0; i < 2000; i++) seed = (seed ^ (seed >> 29)) * 0xbf58476d1ce4e5b9u + (uint64_t)i;
  return seed;
}

__attribute__((noinline)) static void parse_line(uint64_t number) { result += hash_word(number); }

/* Each of these burns its time on the CPU, whatever the machine's speed. */
__attribute__((noinline)) static void parse_catalogue(unsigned ms) {
  uint64_t end = cpu_ms() + ms;
  for (uint64_t line = 0; cpu_ms() < end; line++) parse_line(line);
}

__attribute__((noinline)) static void rebuild_index(unsigned ms) {
  uint64_t end = cpu_ms() + ms;
  for (uint64_t key = 1; cpu_ms() < end; key++) result ^= hash_word(key << 32);
}

__attribute__((noinline)) static void flush_pages(unsigned ms) {
  uint64_t end = cpu_ms() + ms;
  while (cpu_ms() < end) {
    for (int i = 0; i < page_count; i++) {
      for (int at = 0; at < PAGE; at += 64) result += (unsigned char)pages[i][at];
      if (cpu_ms() >= end) break;
    }
  }
}

__attribute__((noinline)) static void load_page(void) {
  if (page_count == PAGES) return;
  char *page = malloc(PAGE);
  if (!page) return;
  memset(page, page_count, PAGE);
  pages[page_count++] = page;
}

__attribute__((noinline)) static void read_statistics(void) {
  pthread_mutex_lock(&statistics_lock);
  result += compressed_bytes;
  pthread_mutex_unlock(&statistics_lock);
}

/* The worker's mistake: it computes while it holds the lock that the loop needs. */
__attribute__((noinline)) static void compress_statistics(unsigned ms) {
  pthread_mutex_lock(&statistics_lock);
  uint64_t told = 1, end = cpu_ms() + ms;
  if (write(finished, &told, sizeof told) < 0) perror("catalogue: eventfd");
  while (cpu_ms() < end) compressed_bytes += hash_word(end) & 0xff;
  pthread_mutex_unlock(&statistics_lock);
}

static void *work(void *unused) {
  (void)unused;
  prctl(PR_SET_NAME, "compressor");
  uint64_t order;
  while (read(orders, &order, sizeof order) == sizeof order) {
    if (order >= 1000) break;
    compress_statistics(320);
  }
  return NULL;
}

/* One turn of the loop; `turn` counts timer periods since the start. */
static void handle_turn(unsigned turn) {
  result += hash_word(turn);
  if (turn % 2 == 0) load_page();
  switch (turn) {
    case 50: parse_catalogue(400); break;
    case 120: case 260: rebuild_index(250); break;
    case 200: flush_pages(150); break;
    case 160: { uint64_t one = 1; if (write(orders, &one, sizeof one) < 0) perror("catalogue: eventfd"); break; }
    default: break;
  }
}

static void watch(int poller, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) { perror("catalogue: epoll_ctl"); exit(1); }
}

int main(void) {
  int poller = epoll_create1(EPOLL_CLOEXEC);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  orders = eventfd(0, EFD_CLOEXEC);
  finished = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (poller < 0 || timer < 0 || orders < 0 || finished < 0) { perror("catalogue"); return 1; }
  struct itimerspec period = {{0, PERIOD_MS * 1000000}, {0, PERIOD_MS * 1000000}};
  timerfd_settime(timer, 0, &period, NULL);
  watch(poller, timer);
  watch(poller, finished);
  pthread_t worker;
  if (pthread_create(&worker, NULL, work, NULL)) { perror("catalogue: pthread_create"); return 1; }

  printf("catalogue: serving for %d s\n", LIFE_MS / 1000);
  fflush(stdout);
  unsigned turn = 0, late = 0;
  for (uint64_t end = wall_ms() + LIFE_MS; wall_ms() < end;) {
    struct epoll_event events[4];
    int ready = epoll_wait(poller, events, 4, -1);
    if (ready < 0 && errno != EINTR) { perror("catalogue: epoll_wait"); return 1; }
    for (int i = 0; i < ready; i++) {
      uint64_t count = 0;
      if (read(events[i].data.fd, &count, sizeof count) != sizeof count) continue;
      if (events[i].data.fd == finished) { read_statistics(); continue; }
      late += count > 1 ? (unsigned)count - 1 : 0;
      for (uint64_t k = 0; k < count; k++) handle_turn(turn++);
    }
  }
  uint64_t stop = 1000;
  if (write(orders, &stop, sizeof stop) < 0) perror("catalogue: eventfd");
  pthread_join(worker, NULL);
  printf("catalogue: %u turns, %u of them late, %d pages\n", turn, late, page_count);
  return 0;
}
