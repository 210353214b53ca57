// An event loop for budgets-noise.py: 2 ms of CPU time every 20 ms, and if asked for one turn of that
// much CPU time, however long the machine takes to give it.
// usage: budget_loop TURNS STALL_MS
#include <poll.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void small_work(double ms) {
  for (double end = cpu() + ms; cpu() < end;)
    sink++;
}

__attribute__((noinline)) static void slow_work(double ms) {
  for (double end = cpu() + ms; cpu() < end;)
    sink += 2;
}

int main(int count, char **words) {
  if (count < 3)
    return 2;
  int turns = atoi(words[1]);
  for (int turn = 0; turn < turns; turn++) {
    poll(NULL, 0, 20);
    if (turn == turns / 2 && atof(words[2]) > 0)
      slow_work(atof(words[2]));
    else
      small_work(2);
  }
  poll(NULL, 0, 20);
}
