// Opening and reading what a watched process has mapped; the process may be hostile.

#ifndef CPROBE_MODULE_H
#define CPROBE_MODULE_H

#include <stddef.h>
#include <stdint.h>

// Opens a regular file for reading, without blocking and without ever opening anything else: a FIFO
// or a device is looked at by O_PATH only, as opening some devices has effects.
// root_fd >= 0: the path is resolved as if that directory were /, symbolic links included
// (openat2, Linux 5.6), and `nofollow` refuses symbolic links anywhere in it (-ELOOP). root_fd < 0: an
// ordinary path, the kernel's own links in /proc included.
// Returns the descriptor, or -errno; -EINVAL where it is no regular file.
int cprobe_open_regular(int root_fd, const char *_Nonnull path, int nofollow);

// process_vm_readv(2) of one range; the bytes read, which may be fewer, or -errno.
int64_t cprobe_copy_memory(
    int32_t pid, uint64_t address, void *_Nonnull buffer, size_t size);

#endif
