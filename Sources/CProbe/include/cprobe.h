#ifndef CPROBE_H
#define CPROBE_H
#endif
