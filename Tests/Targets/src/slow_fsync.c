/* TARGET group=cause
 * poll loop; the main thread calls fsync twice on a file of a file system whose server, the child
 * "slowdisk", takes 300 ms for it: a slow device, made of FUSE's plain protocol in a mount namespace of
 * its own. Exits with 77 where that may not be mounted (it needs root and /dev/fuse).
 * TRUTH: {"exit":0, "stalls":[{"fn":"save", "n":2, "ms":300, "tol":40, "how":"fsync"}]}
 */
#include "target.h"

#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static char folder[64], path[80];
static volatile int sink;

/* The root folder is node 1; any name in it is node 2, an empty file. */
static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr a = {.ino = node, .nlink = 1, .blksize = 4096};
  a.mode = node == 1 ? S_IFDIR | 0700 : S_IFREG | 0600;
  return a;
}

static void serve(int device) {
  static char buffer[1 << 18];
  prctl(PR_SET_NAME, "slowdisk");
  for (;;) {
    ssize_t count = read(device, buffer, sizeof buffer);
    if (count < (ssize_t)sizeof(struct fuse_in_header)) {
      if (count < 0 && (errno == EINTR || errno == ENOENT))
        continue;
      _exit(0);
    }
    struct fuse_in_header *in = (void *)buffer;
    struct {
      struct fuse_out_header head;
      union {
        struct fuse_init_out init;
        struct fuse_entry_out entry;
        struct fuse_attr_out attr;
        struct fuse_open_out open;
        struct fuse_write_out write;
      };
    } out = {.head = {.unique = in->unique}};
    size_t size = 0;
    switch (in->opcode) {
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: continue;
    case FUSE_INIT:
      out.init.major = FUSE_KERNEL_VERSION;
      out.init.minor = FUSE_KERNEL_MINOR_VERSION;
      out.init.max_write = 1 << 16;
      size = sizeof out.init;
      break;
    case FUSE_LOOKUP:
      out.entry.nodeid = 2;
      out.entry.entry_valid = out.entry.attr_valid = 60;
      out.entry.attr = attributes(2);
      size = sizeof out.entry;
      break;
    case FUSE_GETATTR:
    case FUSE_SETATTR:
      out.attr.attr_valid = 60;
      out.attr.attr = attributes(in->nodeid);
      size = sizeof out.attr;
      break;
    case FUSE_OPEN:
      out.open.open_flags = FOPEN_DIRECT_IO;
      size = sizeof out.open;
      break;
    case FUSE_WRITE:
      out.write.size = ((struct fuse_write_in *)(in + 1))->size;
      size = sizeof out.write;
      break;
    case FUSE_FSYNC: target_sleep_ms(300); break;
    case FUSE_FLUSH:
    case FUSE_RELEASE: break;
    default: out.head.error = -ENOSYS;
    }
    out.head.len = (uint32_t)(sizeof out.head + size);
    if (write(device, &out, out.head.len) < 0)
      continue;
  }
}

NOINLINE void save(int file) {
  fsync(file);
  sink++;
}

int main(void) {
  target_start("slow_fsync");
  char options[96];
  int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(folder, sizeof folder, "/tmp/perfwatch-slow.%d", (int)getpid());
  snprintf(path, sizeof path, "%s/app.db", folder);
  snprintf(
      options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d", device,
      (int)getuid(), (int)getgid());
  if (device < 0 || unshare(CLONE_NEWNS) || mkdir(folder, 0700))
    target_exit(77);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
      mount("slowdisk", folder, "fuse", MS_NOSUID | MS_NODEV, options)) {
    rmdir(folder);
    target_exit(77);
  }
  pid_t child = fork();
  if (!child)
    serve(device);
  close(device);
  int file = open(path, O_RDWR);
  if (file < 0)
    target_exit(1);
  for (int i = 1; i <= 55; i++) {
    target_idle_begin();
    poll(NULL, 0, 20);
    target_idle_end();
    if (i != 20 && i != 40)
      continue;
    if (write(file, "row", 3) != 3)
      target_exit(1);
    target_tag("save", "fsync");
    save(file);
  }
  target_idle_begin();
  target_idle_end();
  close(file);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  umount2(folder, MNT_DETACH);
  rmdir(folder);
  target_exit(0);
}
