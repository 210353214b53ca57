/* A whole polling observer in C: the least that a poll can cost.
 *
 *   pollloop PID HZ SECONDS MODE
 *
 * timer  sleeps and does nothing else
 * lean   the process's CPU clock, statm, the main thread's schedstat; files kept open
 * kept   the same, the schedstat of every thread, and task/ listed once a second
 * Prints polls, threads and nanoseconds of CPU a poll as it sees them itself. */
#include "common.h"
#include <dirent.h>
#include <sys/resource.h>

enum { MAX_THREADS = 20000 };
static int pid, tids[MAX_THREADS], fds[MAX_THREADS], threads;
static char buffer[4096];
static volatile unsigned long long sum;

static int open_file(const char *name, int tid) {
  char path[96];
  if (tid) snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
  else snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void list_threads(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *directory = opendir(path);
  if (!directory) exit(1);
  threads = 0;
  for (struct dirent *entry; (entry = readdir(directory)) && threads < MAX_THREADS;)
    if (entry->d_name[0] != '.') tids[threads++] = atoi(entry->d_name);
  closedir(directory);
}

static void read_number(int fd) {
  ssize_t length = pread(fd, buffer, sizeof buffer - 1, 0);
  buffer[length > 0 ? length : 0] = 0;
  sum += strtoull(buffer, NULL, 10);
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  pid = atoi(argv[1]);
  unsigned hz = (unsigned)atoi(argv[2]);
  int polls = (int)(atof(argv[3]) * hz), lean = !strcmp(argv[4], "lean"), kept = !strcmp(argv[4], "kept");
  struct rlimit limit = {65536, 65536};
  setrlimit(RLIMIT_NOFILE, &limit);
  list_threads();
  int statm = open_file("statm", 0);
  for (int i = 0; i < threads; i++) fds[i] = open_file("schedstat", tids[i]);
  uint64_t next = now_ns(), before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (int k = 0; k < polls; k++) {
    next += 1000000000u / hz;
    sleep_until(next);
    if (lean || kept) {
      sum += clock_ns((clockid_t)((~(unsigned)pid << 3) | 2));
      read_number(statm);
      read_number(fds[0]);
    }
    if (kept) {
      if (k % (int)hz == 0) list_threads();
      for (int i = 1; i < threads; i++) read_number(fds[i]);
    }
  }
  uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
  printf("%d %d %llu\n", polls, threads, (unsigned long long)(cpu / (uint64_t)(polls ? polls : 1)));
}
