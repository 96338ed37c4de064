/* ceilings.h: what this GPU can do at most, measured: what no kernel of the ladder gets past. */
#ifndef CEILINGS_H
#define CEILINGS_H

#include <stdbool.h>

struct ceilings {
    double ffma_flops;   /* a second, two for each FFMA, from a kernel that does nothing else */
    double memory_bytes; /* read a second, of an array far larger than the L2 cache */
    double l2_bytes;     /* ... of one that lies in it */
    double mhz;          /* the multiprocessors' clock while the FFMAs ran */
};

/* On the current device. False: ceilings_error() has the reason. */
bool ceilings_measure(struct ceilings *ceilings);
const char *ceilings_error(void);

#endif
