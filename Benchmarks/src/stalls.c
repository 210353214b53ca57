/* A poll loop with COUNT stalls of 120 ms, 100 ms apart, each a wait for another: `stalls KIND COUNT`,
 * KIND lock (held by a thread that sleeps), pipe, unix or tcp (the other end is a child that answers
 * late), child (waited for). Enough of them that what a run costs once does not count. */
#include "common.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

static const uint64_t LENGTH = 120000000, APART = 100000000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static pid_t child;

static void rest(uint64_t time) { sleep_until(now_ns() + time); }

static void *hold(void *unused) {
  pthread_mutex_lock(&lock);
  *(volatile int *)unused = 1;
  rest(LENGTH);
  pthread_mutex_unlock(&lock);
  return NULL;
}

__attribute__((noinline)) static void wait_for_lock(void) {
  volatile int holds = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, hold, (void *)&holds);
  while (!holds) rest(100000);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
}

__attribute__((noinline)) static void wait_for_child(void) {
  pid_t pid = fork();
  if (pid == 0) {
    rest(LENGTH);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
}

/* The peer answers each byte late. */
static void answer(int from, int to) {
  char byte;
  while (read(from, &byte, 1) == 1) {
    rest(LENGTH);
    if (write(to, &byte, 1) != 1) break;
  }
  _exit(0);
}

__attribute__((noinline)) static void wait_for_answer(void) {
  char byte = 1;
  if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) exit(1);
}

static void make_pipe_peer(void) {
  int there[2], back[2];
  if (pipe(there) || pipe(back)) exit(1);
  if ((child = fork()) == 0) {
    close(there[1]);
    close(back[0]);
    answer(there[0], back[1]);
  }
  close(there[0]);
  close(back[1]);
  ends[0] = back[0];
  ends[1] = there[1];
}

static void make_socket_peer(int is_tcp) {
  int pair[2];
  if (!is_tcp) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) exit(1);
    if ((child = fork()) == 0) {
      close(pair[0]);
      answer(pair[1], pair[1]);
    }
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
      exit(1);
    if ((child = fork()) == 0) {
      pair[1] = accept(listener, NULL, NULL);
      answer(pair[1], pair[1]);
    }
    close(listener);
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(pair[0], (struct sockaddr *)&address, size)) exit(1);
  }
  if (!is_tcp) close(pair[1]);
  ends[0] = ends[1] = pair[0];
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char *kind = argv[1];
  void (*stall)(void) = wait_for_answer;
  if (!strcmp(kind, "lock")) stall = wait_for_lock;
  else if (!strcmp(kind, "child")) stall = wait_for_child;
  else if (!strcmp(kind, "pipe")) make_pipe_peer();
  else if (!strcmp(kind, "unix") || !strcmp(kind, "tcp")) make_socket_peer(kind[0] == 't');
  else return 2;
  for (int i = 0; i < atoi(argv[2]); i++) {
    for (uint64_t until = now_ns() + APART; now_ns() < until;) poll(NULL, 0, 5);
    stall();
  }
  for (int i = 0; i < 20; i++) poll(NULL, 0, 5);
  if (child) kill(child, SIGKILL);
  return 0;
}
