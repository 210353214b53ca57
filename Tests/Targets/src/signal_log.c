/* TARGET group=launch
 * Logs every signal it gets for up to 6 s (SIGINT, TERM, HUP, QUIT, USR1, USR2, WINCH, CONT, TSTP,
 * PIPE) with the sender, and exits 20 + number of SIGINT/SIGTERM/SIGHUP seen, 300 ms after the
 * first of them.  Ctrl-C in a terminal must reach it exactly once (not once from the tty and again
 * forwarded); a SIGTERM sent to the observer alone must be forwarded once; with no signal it exits
 * 0.
 * TRUTH: {"exit":0, "stalls":[], "per_sigint":{"count":1, "exit":21}}
 */
#include "target.h"

static volatile int nterm;
static volatile double first;

static void on(int s, siginfo_t *si, void *u) {
  (void)u;
  char b[160];
  int n = snprintf(b, sizeof b, "{\"ev\":\"sig\",\"sig\":%d,\"code\":%d,\"pid\":%d,\"t\":%.6f}\n",
                   s, si->si_code, (int)si->si_pid, target_now());
  if (write(target_fd, b, n) < 0)
    n = 0;
  if (s == SIGINT || s == SIGTERM || s == SIGHUP) {
    if (!nterm++)
      first = target_now();
  }
}

int main(int argc, char **argv) {
  target_start("signal_log");
  int l[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGPIPE};
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sa.sa_sigaction = on;
  sa.sa_flags = SA_SIGINFO | SA_RESTART;
  for (unsigned i = 0; i < sizeof l / sizeof *l; i++)
    sigaction(l[i], &sa, NULL);
  target_line("{\"ev\":\"ready\"}");
  double lim = argc > 1 ? atof(argv[1]) : 1.5, t = target_now();
  target_kind_tag = NULL;
  while (target_now() - t < lim) {
    struct timespec ts = {0, 20000000};
    nanosleep(&ts, NULL);
    if (nterm && target_now() - first > 0.3)
      break;
  }
  target_exit(nterm ? 20 + nterm : 0);
}
