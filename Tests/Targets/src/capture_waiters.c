/* Threads that wait with time-outs in the calls which notice a stop and in some that do not, and
 * count what they notice. Says `ready`, goes on until its standard input ends, then says
 * `NAME CALLS INTERRUPTED` for each. No signal is ever sent to it. */
#include "target.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>

enum { EPOLL, SIGWAIT, SEMOP, RECV, READ, NANOSLEEP, POLL, KINDS };

static const char *names[KINDS] = {"epoll",     "sigwait", "semop", "recv",
                                   "sockread", "nanosleep", "poll"};
static int calls[KINDS], interrupted[KINDS];
static volatile int is_over;
static int queue;

static int wait_once(int kind, int epoll, int end) {
  struct timespec limit = {0, 20000000};
  struct epoll_event event;
  struct sembuf take = {0, -1, 0};
  sigset_t set;
  char byte;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  switch (kind) {
    case EPOLL:
      return epoll_wait(epoll, &event, 1, 20);
    case SIGWAIT:
      return sigtimedwait(&set, NULL, &limit);
    case SEMOP:
      return semtimedop(queue, &take, 1, &limit);
    case RECV:
      return (int)recv(end, &byte, 1, 0);
    case READ:
      return (int)read(end, &byte, 1);
    case NANOSLEEP:
      return nanosleep(&limit, NULL);
    default:
      return poll(NULL, 0, 20);
  }
}

static void *wait_on(void *argument) {
  int kind = (int)(intptr_t)argument, epoll = epoll_create1(0), ends[2];
  struct timeval limit = {0, 20000};
  prctl(PR_SET_NAME, names[kind]);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    exit(1);
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  while (!is_over) {
    calls[kind]++;
    if (wait_once(kind, epoll, ends[0]) < 0 && errno == EINTR)
      interrupted[kind]++;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[KINDS];
  char byte;
  alarm(60);
  queue = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
  for (int kind = 0; kind < KINDS; kind++)
    pthread_create(&threads[kind], NULL, wait_on, (void *)(intptr_t)kind);
  printf("ready\n");
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {
  }
  is_over = 1;
  for (int kind = 0; kind < KINDS; kind++)
    pthread_join(threads[kind], NULL);
  semctl(queue, 0, IPC_RMID);
  for (int kind = 0; kind < KINDS; kind++)
    printf("%s %d %d\n", names[kind], calls[kind], interrupted[kind]);
  return 0;
}
