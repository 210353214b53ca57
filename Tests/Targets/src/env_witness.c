/* TARGET group=launch
 * Prints the state it inherited: signal mask, ignored signals, open fds, process group, session,
 * foreground group, nice, umask, RLIMIT_CORE/NOFILE, argv[0], environment hash, no_new_privs,
 * personality, subreaper, parent's death signal, TracerPid, oom_score_adj.  Under an observer every
 * field must equal a plain run from the same shell (only ppid and TracerPid may differ; LD_PRELOAD
 * and the like must not be added).
 * TRUTH: {"exit":0, "stalls":[], "compare":"inherit"}
 */
#include "target.h"

#include <dirent.h>
#include <sys/personality.h>
#include <sys/stat.h>

extern char **environ;

int main(int argc, char **argv) {
  target_start("env_witness");
  char ign[200] = "", blk[200] = "", fds[400] = "";
  sigset_t s;
  sigprocmask(SIG_SETMASK, NULL, &s);
  for (int i = 1; i < 65; i++) {
    struct sigaction sa;
    if (!sigaction(i, NULL, &sa) && sa.sa_handler == SIG_IGN)
      sprintf(ign + strlen(ign), "%s%d", *ign ? "," : "", i);
    if (sigismember(&s, i) == 1)
      sprintf(blk + strlen(blk), "%s%d", *blk ? "," : "", i);
  }
  DIR *d = opendir("/proc/self/fd");
  struct dirent *e;
  int nfd = 0;
  while (d && (e = readdir(d))) {
    int f = atoi(e->d_name);
    if (*e->d_name == '.' || f == dirfd(d) || f == target_fd)
      continue;
    if (nfd++ < 40)
      sprintf(fds + strlen(fds), "%s%d", *fds ? "," : "", f);
  }
  if (d)
    closedir(d);
  unsigned long h = 5381;
  int ne = 0;
  for (char **p = environ; *p; p++) {
    if (!strncmp(*p, "TARGET_TRUTH=", 10) || !strncmp(*p, "_=", 2))
      continue;
    ne++;
    for (char *q = *p; *q; q++)
      h = h * 33 + (unsigned char)*q;
  }
  int pds = 0, sub = 0;
  prctl(PR_GET_PDEATHSIG, &pds);
  prctl(PR_GET_CHILD_SUBREAPER, &sub);
  mode_t um = umask(0);
  umask(um);
  struct rlimit rc, rn;
  getrlimit(RLIMIT_CORE, &rc);
  getrlimit(RLIMIT_NOFILE, &rn);
  target_line(
      "{\"ev\":\"inherit\",\"ignored\":[%s],\"blocked\":[%s],\"fds\":[%s],\"own_pgrp\":%d,"
      "\"own_session\":%d,\"fg\":%d,\"nice\":%d,\"umask\":%d,\"core\":%ld,\"nofile\":%ld,\"env_n\":"
      "%d,"
      "\"env_h\":\"%lx\",\"preload\":%d,\"nnp\":%d,\"pers\":%d,\"pdeathsig\":%d,\"subreaper\":%d,"
      "\"tracer\":%ld,\"argc\":%d}",
      ign, blk, fds, getpgrp() == getpid(), getsid(0) == getpid(),
      isatty(0) ? tcgetpgrp(0) == getpgrp() : -1, getpriority(PRIO_PROCESS, 0), (int)um,
      (long)rc.rlim_cur, (long)rn.rlim_cur, ne, h, getenv("LD_PRELOAD") != NULL,
      prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), personality(0xffffffff), pds, sub,
      target_kb("TracerPid"), argc);
  (void)argv;
  target_sleep_ms(300);
  target_kind_tag = NULL;
  target_exit(0);
}
