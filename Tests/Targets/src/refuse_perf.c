/* TARGET helper: "refuse_perf COMMAND..." executes it where perf_event_open is not permitted (EPERM), as
 * the seccomp filter of a container does; with REFUSE_PPOLL (REFUSE_PRCTL) set, where ppoll (prctl) is not. x86-64 and aarch64;
 * the numbers are those of this build.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
  unsigned refused = getenv("REFUSE_PPOLL")   ? SYS_ppoll
                     : getenv("REFUSE_PRCTL") ? SYS_prctl
                                              : SYS_perf_event_open;
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("refuse_perf");
    return 2;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
