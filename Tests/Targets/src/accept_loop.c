/* TARGET group=loops
 * A server that takes one client after the other: parks in accept(), reads the request with a
 * blocking recv(), answers.  A child connects every 20 ms.  Twice a request is served slowly; once
 * the client sends its request only after 250 ms, so that main waits in recv().
 * TRUTH: {"exit":0, "stalls":[{"fn":"serve_slowly", "n":2, "ms":300, "tol":20, "how":"cpu",
 *   "chain":["serve_slowly", "serve", "main"]}, {"fn":"receive", "n":1, "ms":250, "tol":30,
 *   "how":"read", "chain":["recv", "receive", "serve", "main"]}], "idle":["accept"]}
 */
#include "target.h"

#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un place;
static socklen_t place_length;
volatile int sink;

NOINLINE void serve_slowly(void) {
  TARGET_BURN(300);
  sink++;
}

NOINLINE void receive(int client) {
  char c;
  if (recv(client, &c, 1, 0) == 1)
    sink++;
}

NOINLINE void serve(int client, int i) {
  volatile char frame[1024];
  frame[i] = 1;
  if (i == 45)
    target_tag("receive", "read");
  receive(client);
  if (i == 30 || i == 60) {
    target_tag("serve_slowly", "cpu");
    serve_slowly();
  }
  if (send(client, "a", 1, MSG_NOSIGNAL) == 1)
    sink += frame[i];
  close(client);
}

static void connect_again_and_again(void) {
  for (int i = 1;; i++) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    char c = 'r';
    target_sleep_ms(20);
    if (connect(s, (struct sockaddr *)&place, place_length) < 0)
      _exit(0);
    if (i == 45)
      target_sleep_ms(250);
    if (send(s, &c, 1, MSG_NOSIGNAL) != 1 || recv(s, &c, 1, 0) != 1)
      _exit(0);
    close(s);
  }
}

int main(void) {
  target_start("accept_loop");
  place.sun_family = AF_UNIX;
  snprintf(place.sun_path + 1, 90, "target-accept-%d", (int)getpid());
  place_length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(place.sun_path + 1));
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(s, (struct sockaddr *)&place, place_length) < 0 || listen(s, 4) < 0)
    return 1;
  pid_t child = fork();
  if (!child) {
    close(s);
    connect_again_and_again();
  }
  for (int i = 1; i <= 80; i++) {
    target_idle_begin();
    int client = accept(s, NULL, NULL);
    target_idle_end();
    if (client < 0)
      break;
    serve(client, i);
  }
  target_idle_begin();
  target_idle_end();
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  target_exit(0);
}
