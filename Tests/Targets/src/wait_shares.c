/* TARGET group=proc
 * A loop whose turns wait in known shares: a poll of 30 ms (home), a read of a pipe that its child
 * writes to after 12 ms, a sleep of 6 ms, a lock that another thread holds for 6 ms, then computing for
 * 3 ms.  Four seconds.  The truth gives the sums as the thread itself measures them: the time of each call,
 * which is what it was blocked and its wait for a CPU afterwards; so the shares, not the sums, are exact on
 * a busy machine.
 * TRUTH: {"exit":0, "waits":"in the file"}
 */
#include "target.h"

#include <poll.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, held;

static void *hold(void *argument) {
  (void)argument;
  prctl(PR_SET_NAME, "holder");
  for (;;) {
    sem_wait(&wanted);
    pthread_mutex_lock(&lock);
    sem_post(&held);
    target_sleep_ms(6);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  int ask[2], answer[2];
  if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC))
    return 2;
  pid_t child = fork();
  if (!child) {
    close(ask[1]);
    prctl(PR_SET_NAME, "writer");
    char c;
    while (read(ask[0], &c, 1) == 1) {
      target_sleep_ms(12);
      if (write(answer[1], &c, 1) != 1)
        break;
    }
    _exit(0);
  }
  close(ask[0]);
  close(answer[1]);
  target_start("wait_shares");
  sem_init(&wanted, 0, 0);
  sem_init(&held, 0, 0);
  pthread_t holder;
  pthread_create(&holder, NULL, hold, NULL);
  double sum[5] = {0}, begin = target_now();
  int turns = 0;
  for (; target_now() - begin < 4; turns++) {
    target_idle_begin();
    double t0 = target_now();
    poll(NULL, 0, 30);
    double t1 = target_now();
    target_idle_end();
    char c = 1;
    if (write(ask[1], &c, 1) != 1 || read(answer[0], &c, 1) != 1)
      break;
    double t2 = target_now();
    target_sleep_ms(6);
    double t3 = target_now();
    sem_post(&wanted);
    sem_wait(&held);
    double t4 = target_now();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    double t5 = target_now();
    sum[0] += t1 - t0;
    sum[1] += t2 - t1;
    sum[2] += t3 - t2;
    sum[3] += t5 - t4;
    sum[4] += t4 - t3;
    TARGET_BURN(3);
  }
  target_line(
      "{\"ev\":\"waits\",\"turns\":%d,\"poll\":%.6f,\"pipe\":%.6f,\"sleep\":%.6f,\"lock\":%.6f,"
      "\"sem\":%.6f}",
      turns, sum[0], sum[1], sum[2], sum[3], sum[4]);
  close(ask[1]);
  waitpid(child, NULL, 0);
  target_exit(0);
}
