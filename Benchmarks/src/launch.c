/* How long it takes from the decision to launch a program until its main() runs.
 *
 *   launch stamp           the launched program: prints CLOCK_MONOTONIC in ns and ends
 *   launch MODE COUNT      prints COUNT lines of ns from decision to main()
 *
 * spawn    posix_spawn: the least there is
 * barrier  fork, wait at a pipe, exec: what a launcher must do that watches from the start */
#include "common.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static pid_t launch(int barrier, const char *self, int output) {
  char *arguments[] = {(char *)self, (char *)"stamp", NULL};
  pid_t pid = -1;
  if (!barrier) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn(&pid, self, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  int gate[2];
  if (pipe(gate)) exit(1);
  pid = fork();
  if (pid == 0) {
    char go;
    dup2(output, 1);
    if (read(gate[0], &go, 1) == 1) execve(self, arguments, environ);
    _exit(127);
  }
  if (write(gate[1], "x", 1) != 1) exit(1);
  close(gate[0]);
  close(gate[1]);
  return pid;
}

int main(int argc, char **argv) {
  uint64_t stamp = now_ns();
  if (argc == 2 && !strcmp(argv[1], "stamp")) return printf("%llu\n", (unsigned long long)stamp) < 0;
  if (argc < 3) return 2;
  char self[4096] = {0};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  for (int i = 0; i < atoi(argv[2]); i++) {
    int output[2];
    char text[64] = {0};
    if (pipe2(output, O_CLOEXEC)) return 1;
    uint64_t decided = now_ns();
    pid_t pid = launch(!strcmp(argv[1], "barrier"), self, output[1]);
    if (pid < 0 || read(output[0], text, sizeof text - 1) <= 0) return 1;
    waitpid(pid, NULL, 0);
    printf("%llu\n", (unsigned long long)(strtoull(text, NULL, 10) - decided));
    close(output[0]);
    close(output[1]);
  }
}
