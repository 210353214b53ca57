// Which commit this program was built from, as SwiftPM saw it.
#ifndef CBUILDINFO_H
#define CBUILDINFO_H

// Byte `index` of the commit's hash in hex, 0 past its end or where no commit is known.
char cbuildinfo_commit(int index);

#endif
