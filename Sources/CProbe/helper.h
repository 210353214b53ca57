// What the parts of the isolated helper share. Not seen by Swift.

#ifndef HELPER_H
#define HELPER_H

#include "cprobe_symbols.h"

// Forks the helper. Returns 1 in the child, isolated, with nothing open but `keep` (or -1) and
// `out->pipe` to answer into; 0 in the parent; or -errno.
int helper_fork(int keep, struct cprobe_helper *out);

// Sends one answer; ends the child if the parent is gone.
void helper_answer(int pipe, struct cprobe_answer head, const char *name, const char *file);

// Demangles into `out` up to `limit` bytes; the length, or 0 if it is no mangled name.
size_t helper_demangle(const char *name, char *out, size_t limit, uint16_t *is_cut);

#endif
