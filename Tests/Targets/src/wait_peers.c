/* TARGET group=cause
 * wait_peers KIND: poll loop; the main thread waits twice for 300 ms for another process or nobody:
 * connect (a port whose queue is full), unix (a socket whose peer, a child, sleeps), tcp (the same
 * over the loopback), flock (a file that a child has locked), fifo (opening one that nobody writes).
 * TRUTH: {"exit":0, "stalls":[{"fn":"ask", "n":2, "ms":300, "tol":40, "how":"peer"}]}
 */
#include "target.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const char *kind;
static volatile int sink;
static struct sockaddr_in address = {.sin_family = AF_INET};
static int line[2] = {-1, -1}, order[2], file = -1;
static char path[64];

static int is(const char *text) {
  return !strcmp(kind, text);
}

/* A server whose queue is full and who never accepts. */
static void fill_queue(void) {
  int server = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(server, (void *)&address, sizeof address) || listen(server, 0) ||
      getsockname(server, (void *)&address, &size))
    _exit(1);
  for (int i = 0; i < 4; i++) {
    int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(client, (void *)&address, sizeof address);
  }
  target_sleep_ms(30);
}

static void tcp_pair(void) {
  int server = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  line[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(server, (void *)&address, sizeof address) || listen(server, 1) ||
      getsockname(server, (void *)&address, &size) ||
      connect(line[0], (void *)&address, sizeof address))
    _exit(1);
  line[1] = accept(server, NULL, NULL);
  close(server);
}

static void answer(void) {
  char c;
  prctl(PR_SET_NAME, "answerer");
  close(line[0]);
  close(order[1]);
  int mine = is("flock") ? open(path, O_RDWR) : -1;
  while (read(order[0], &c, 1) == 1) {
    if (is("flock"))
      flock(mine, LOCK_EX);
    if (is("fifo")) {
      target_sleep_ms(300);
      close(open(path, O_WRONLY));
      continue;
    }
    if (is("flock") && kill(getppid(), SIGUSR1))
      break;
    target_sleep_ms(300);
    if (is("flock"))
      flock(mine, LOCK_UN);
    else if (write(line[1], &c, 1) != 1)
      break;
  }
  _exit(0);
}

static void nothing(int signal) {
  (void)signal;
}

NOINLINE void ask(void) {
  char c = 'q';
  if (is("connect")) {
    int client = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval time = {0, 300000};
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    connect(client, (void *)&address, sizeof address);
    close(client);
  } else if (is("flock")) {
    flock(file, LOCK_EX);
    flock(file, LOCK_UN);
  } else if (is("fifo")) {
    close(open(path, O_RDONLY));
  } else {
    sink += (int)read(line[0], &c, 1);
  }
  sink++;
}

int main(int count, char **words) {
  target_start("wait_peers");
  kind = count > 1 ? words[1] : "connect";
  snprintf(path, sizeof path, "/tmp/perfwatch-peers.%d", (int)getpid());
  signal(SIGUSR1, nothing);
  sigset_t blocked, former;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, &former);
  if (pipe(order))
    return 1;
  if (is("connect"))
    fill_queue();
  if (is("unix") && socketpair(AF_UNIX, SOCK_STREAM, 0, line))
    return 1;
  if (is("tcp"))
    tcp_pair();
  if (is("flock"))
    file = open(path, O_RDWR | O_CREAT, 0600);
  if (is("fifo") && mkfifo(path, 0600))
    return 1;
  pid_t child = is("connect") ? 0 : fork();
  if (!child && !is("connect"))
    answer();
  if (line[1] >= 0)
    close(line[1]);
  for (int i = 1; i <= 55; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    if (!is("connect") && write(order[1], "q", 1) != 1)
      return 1;
    if (is("flock"))
      sigwaitinfo(&blocked, NULL);
    target_tag("ask", "peer");
    ask();
  }
  target_idle_begin();
  target_idle_end();
  close(order[1]);
  if (child)
    waitpid(child, NULL, 0);
  if (file >= 0 || is("fifo"))
    unlink(path);
  target_exit(0);
}
