// A target of its own, so that a new commit recompiles this file and little else.

#include "cbuildinfo.h"

#ifndef PERFWATCH_COMMIT
#define PERFWATCH_COMMIT ""
#endif

char cbuildinfo_commit(int index) {
  static const char text[] = PERFWATCH_COMMIT;
  return index >= 0 && index < (int)sizeof text ? text[index] : 0;
}
