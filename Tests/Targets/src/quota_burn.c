/* TARGET group=cause
 * poll loop in a control group of its own that may use a tenth of a CPU (version 2 where its cpu
 * controller is there, else version 1). Two stalls of 40 ms of computing each: the group is held back
 * for most of them, as its own cpu.stat tells ("quota" lines, in ms). Exits with 77 where no group can be made.
 * TRUTH: {"exit":0, "stalls":[{"fn":"compute", "n":2, "min_ms":200, "max_ms":500, "how":"quota"}]}
 */
#include "target.h"

#include <poll.h>
#include <sys/stat.h>

static char group[96];
static const char *top;
static volatile int sink;

static int put(const char *folder, const char *name, const char *text) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  int done = write(file, text, strlen(text)) > 0;
  close(file);
  return done;
}

static int enter(const char *mount, int version) {
  char pid[16];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  snprintf(group, sizeof group, "%s/perfwatch-quota.%s", mount, pid);
  if (version == 2)
    put(mount, "cgroup.subtree_control", "+cpu");
  if (mkdir(group, 0755))
    return 0;
  top = mount;
  int limited = version == 2 ? put(group, "cpu.max", "10000 100000")
                             : put(group, "cpu.cfs_period_us", "100000") &&
                                   put(group, "cpu.cfs_quota_us", "10000");
  if (limited && put(group, "cgroup.procs", pid))
    return version;
  rmdir(group);
  return 0;
}

static void leave(void) {
  char pid[16];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  put(top, "cgroup.procs", pid);
  for (int i = 0; i < 50 && rmdir(group); i++)
    target_sleep_ms(10);
}

/* Time that the group was held back, in ms. */
static double held_back(void) {
  char path[160], text[1024];
  snprintf(path, sizeof path, "%s/cpu.stat", group);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  if (count <= 0)
    return -1;
  text[count] = 0;
  char *line = strstr(text, "throttled_usec ");
  if (line)
    return atof(line + 15) / 1e3;
  line = strstr(text, "throttled_time ");
  return line ? atof(line + 15) / 1e6 : -1;
}

NOINLINE void compute(void) {
  double end = target_thread_cpu() + 0.04;
  volatile unsigned long x = 1;
  while (target_thread_cpu() < end)
    for (int i = 0; i < 20000; i++)
      x = x * 2862933555777941757UL + 3037000493UL;
  sink++;
}

int main(void) {
  target_start("quota_burn");
  int version = enter("/sys/fs/cgroup", 2);
  if (!version)
    version = enter("/sys/fs/cgroup/cpu", 1);
  if (!version)
    target_exit(77);
  for (int i = 1; i <= 60; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    double before = held_back();
    target_tag("compute", "quota");
    compute();
    target_line(
        "{\"ev\":\"quota\",\"k\":%d,\"cpu_ms\":%.2f}", version, held_back() - before);
  }
  target_idle_begin();
  target_idle_end();
  leave();
  target_exit(0);
}
