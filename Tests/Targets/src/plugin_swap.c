/* TARGET group=plugin
 * usage: plugin_swap other|overwrite FOLDER
 * A poll loop that stalls for 600 ms in a plug-in, unloads it, loads another one and stalls for 600 ms
 * in that. The loader puts both at the same address (a line "swapped" says whether it did); `other`
 * loads another file, `overwrite` the same one, with other bytes written into it. The frames of their
 * functions differ in size, so that nothing known of one is true of the other.
 * This file is both plug-ins too: with PLUGIN, the name of the function, and ROOM.
 * TRUTH: {"exit":0, "stalls":[{"fn":"alpha_work", "n":1, "ms":600, "tol":20, "how":"cpu",
 *   "chain":["alpha_work", "main"]}, {"fn":"gamma_work", "n":1, "ms":600, "tol":20, "how":"cpu",
 *   "chain":["gamma_work", "main"]}], "idle":["poll"]}
 */
#ifdef PLUGIN
#include <time.h>

volatile int plugin_sink;

__attribute__((noinline)) static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) void PLUGIN(double ms) {
  volatile char room[ROOM];
  for (double end = now() + ms / 1e3; now() < end;)
    for (int i = 0; i < 20000; i++) plugin_sink += i + (room[i % ROOM] = (char)i);
  plugin_sink++;
}

__attribute__((noinline)) void plugin_run(double ms) {
  PLUGIN(ms);
  plugin_sink++;
}
#else
#include "target.h"

#include <dlfcn.h>
#include <libgen.h>
#include <link.h>
#include <poll.h>

static void calm(void) {
  for (int i = 0; i < 30; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
  }
}

/* In place: the file stays the same one. */
static int copy(const char *from, const char *to) {
  static char bytes[1 << 20];
  int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  ssize_t size = in < 0 || out < 0 ? -1 : read(in, bytes, sizeof bytes);
  int done = size > 0 && write(out, bytes, (size_t)size) == size;
  close(in);
  close(out);
  return done ? 0 : -1;
}

static unsigned long base(void *plugin) { return ((struct link_map *)plugin)->l_addr; }

static void *load(const char *path, void (**run)(double)) {
  void *plugin = dlopen(path, RTLD_NOW);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  *run = (void (*)(double))dlsym(plugin, "plugin_run");
  return plugin;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  char own[4096], first[4200], second[4200], loaded[4200];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  own[length > 0 ? length : 0] = 0;
  const char *folder = dirname(own);
  snprintf(first, sizeof first, "%s/plugin_alpha.so", folder);
  snprintf(second, sizeof second, "%s/plugin_gamma.so", folder);
  snprintf(loaded, sizeof loaded, "%s/loaded.so", argv[2]);
  int overwrites = !strcmp(argv[1], "overwrite");
  if (copy(first, loaded))
    return 2;
  target_start("plugin_swap");
  void (*run)(double), (*other)(double);
  void *plugin = load(loaded, &run);
  calm();
  target_tag("alpha_work", "cpu");
  run(600);
  target_idle_begin();
  target_idle_end();
  unsigned long before = base(plugin);
  dlclose(plugin);
  if (overwrites && copy(second, loaded))
    return 2;
  plugin = load(overwrites ? loaded : second, &other);
  target_line("{\"ev\":\"swapped\",\"same\":%s}", base(plugin) == before ? "true" : "false");
  calm();
  target_tag("gamma_work", "cpu");
  other(600);
  target_idle_begin();
  target_idle_end();
  calm();
  target_exit(0);
}
#endif
