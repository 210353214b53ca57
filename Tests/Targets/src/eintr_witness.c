/* TARGET group=attach
 * Twelve threads wait (no signal is ever sent to them) in nanosleep, epoll_wait, poll, select,
 * futex (cond), read(pipe), sigtimedwait, semtimedop, msgrcv, sem_timedwait,
 * accept, ppoll - and count EINTR / short sleeps for 2.5 s while the observer captures stacks.
 * ptrace stops make epoll_wait, semtimedop, sigtimedwait and friends return EINTR to the program
 * even without a handler.  The main thread makes 3 stalls
 * of 250 ms so that a capture happens.  A polite observer (main thread only, few captures) leaves
 * every count at 0 except perhaps on main.
 * TRUTH: {"exit":0, "stalls":[{"fn":"provoke_capture", "n":3, "ms":250, "tol":30, "how":"cpu",
 *   "chain":["provoke_capture", "main"]}], "idle":["epoll_wait"], "eintr_expected":0}
 */
#include "target.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
  K_NANO,
  K_EPOLL,
  K_POLL,
  K_SELECT,
  K_COND,
  K_READ,
  K_SIGTW,
  K_SEMOP,
  K_MSG,
  K_SEMT,
  K_ACCEPT,
  K_PPOLL,
  K_N
};

static const char *kn[K_N] = {"nanosleep",      "epoll_wait",    "poll",         "select",
                              "cond_timedwait", "read",          "sigtimedwait", "semtimedop",
                              "msgrcv",         "sem_timedwait", "accept",       "ppoll"};
static volatile int stop, eintr[K_N], calls[K_N], other[K_N];
static volatile int sink;
static int pfd[2], lsock, semid, msgid;
static sem_t sem;

static void note(int k, int r) {
  calls[k]++;
  if (r < 0) {
    if (errno == EINTR)
      eintr[k]++;
    else if (errno != EAGAIN && errno != ETIMEDOUT)
      other[k]++;
  }
}

NOINLINE void *waiter(void *a) {
  int k = (int)(long)a;
  prctl(PR_SET_NAME, kn[k]);
  int ep = epoll_create1(0);
  struct epoll_event ev;
  sigset_t none;
  sigemptyset(&none);
  sigaddset(&none, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &none, NULL);
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  struct timeval rt = {0, 400000};
  while (!stop) {
    struct timespec ts = {0, 400000000}, abs;
    clock_gettime(CLOCK_REALTIME, &abs);
    abs.tv_nsec += 400000000;
    if (abs.tv_nsec >= 1000000000) {
      abs.tv_sec++;
      abs.tv_nsec -= 1000000000;
    }
    char ch;
    struct timeval tv = rt;
    switch (k) {
      case K_NANO:
        note(k, nanosleep(&ts, NULL));
        break;
      case K_EPOLL:
        note(k, epoll_wait(ep, &ev, 1, 400));
        break;
      case K_POLL:
        note(k, poll(NULL, 0, 400));
        break;
      case K_SELECT:
        note(k, select(0, NULL, NULL, NULL, &tv));
        break;
      case K_COND: {
        pthread_mutex_lock(&m);
        int r = pthread_cond_timedwait(&c, &m, &abs);
        pthread_mutex_unlock(&m);
        calls[k]++;
        if (r == EINTR || r == 0)
          eintr[k]++;
        break;
      }
      case K_READ:
        note(k, (int)read(pfd[0], &ch, 1));
        break;
      case K_SIGTW:
        note(k, sigtimedwait(&none, NULL, &ts));
        break;
      case K_SEMOP: {
        struct sembuf sb = {0, -1, 0};
        note(k, semtimedop(semid, &sb, 1, &ts));
        break;
      }
      case K_MSG: {
        struct {
          long t;
          char b[8];
        } mb;

        note(k, (int)msgrcv(msgid, &mb, 8, 0, 0));
        break;
      }
      case K_SEMT:
        note(k, sem_timedwait(&sem, &abs));
        break;
      case K_ACCEPT:
        note(k, accept(lsock, NULL, NULL));
        break;
      case K_PPOLL:
        note(k, ppoll(NULL, 0, &ts, NULL));
        break;
    }
  }
  return NULL;
}

NOINLINE void provoke_capture(void) {
  TARGET_BURN(250);
  sink++;
}

int main(void) {
  target_start("eintr_witness");
  if (pipe(pfd))
    return 1;
  sem_init(&sem, 0, 0);
  semid = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
  msgid = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
  lsock = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un sa;
  memset(&sa, 0, sizeof sa);
  sa.sun_family = AF_UNIX;
  snprintf(sa.sun_path + 1, 90, "target-eintr-%d", (int)getpid());
  bind(lsock, (struct sockaddr *)&sa, sizeof(sa_family_t) + 1 + (socklen_t)strlen(sa.sun_path + 1));
  listen(lsock, 4);
  struct timeval rt = {0, 400000};
  setsockopt(lsock, SOL_SOCKET, SO_RCVTIMEO, &rt, sizeof rt);
  pthread_t t[K_N];
  for (long k = 0; k < K_N; k++)
    pthread_create(&t[k], NULL, waiter, (void *)k);
  int e = epoll_create1(0);
  struct epoll_event ev;
  int main_eintr = 0;
  for (int i = 1; i <= 85; i++) {
    target_idle_begin();
    int r = epoll_wait(e, &ev, 1, 20);
    if (r < 0 && errno == EINTR)
      main_eintr++;
    target_idle_end();
    if (i == 20 || i == 45 || i == 70) {
      target_tag("provoke_capture", "cpu");
      provoke_capture();
    }
  }
  stop = 1;
  if (write(pfd[1], "x", 1) != 1)
    sink++;

  struct {
    long t;
    char b[8];
  } mb = {1, "x"};

  msgsnd(msgid, &mb, 8, 0);
  target_idle_begin();
  for (int k = 0; k < K_N; k++)
    pthread_join(t[k], NULL);
  target_idle_end();
  semctl(semid, 0, IPC_RMID);
  msgctl(msgid, IPC_RMID, NULL);
  int tot = main_eintr;
  char b[900];
  int n = snprintf(b, sizeof b, "\"main_epoll\":%d", main_eintr);
  for (int k = 0; k < K_N; k++) {
    tot += eintr[k];
    n += snprintf(b + n, sizeof b - n, ",\"%s\":%d", kn[k], eintr[k]);
  }
  target_line("{\"ev\":\"eintr\",\"total\":%d,%s}", tot, b);
  target_exit(0);
}
