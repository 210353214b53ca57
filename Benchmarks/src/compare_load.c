// An event loop for compare_pairs.py: a piece of work every 5 ms, and in the middle one long turn of CPU time.
// Work is so many rounds of a loop and not so much time: what the machine makes of it is the noise.
// usage: compare_load TURNS ROUNDS STALL_MS
//        compare_load             prints how many rounds take a millisecond, the best of many tries
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void small_work(long rounds) {
  for (long i = 0; i < rounds; i++)
    sink++;
}

__attribute__((noinline)) static void slow_work(double ms) {
  for (double end = cpu() + ms; cpu() < end;)
    sink += 2;
}

static void calibrate(void) {
  const long rounds = 1000000;
  double best = 1e9;
  for (int i = 0; i < 100; i++) {
    double begin = cpu();
    small_work(rounds);
    double took = cpu() - begin;
    if (took < best)
      best = took;
  }
  printf("%.0f\n", rounds / best);
}

int main(int count, char **words) {
  if (count == 1) {
    calibrate();
    return 0;
  }
  if (count < 4)
    return 2;
  int turns = atoi(words[1]);
  long rounds = atol(words[2]);
  double stall = atof(words[3]);
  for (int turn = 0; turn < turns; turn++) {
    poll(NULL, 0, 5);
    if (turn == turns / 2 && stall > 0)
      slow_work(stall);
    else
      small_work(rounds);
  }
  poll(NULL, 0, 20);
}
