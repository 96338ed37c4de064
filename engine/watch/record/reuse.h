/* Which launches the output comes from, and what those have loaded: counts_reuse() of counts.h. Fed
 * by counts.c. */
#ifndef ENGINE_WATCH_RECORD_REUSE_H
#define ENGINE_WATCH_RECORD_REUSE_H
#include "counts.h"
#include "origin.h"

/* What a worker has seen of the running launch. */
struct reuse_origins {
    uint64_t loads[ORIGINS]; /* of words that are no input's, by their origin */
    uint64_t output;         /* elements of the output that were stored, each once */
};

/* The running launch, as the origin of what it stores. */
origin reuse_running(void);
/* Adds a worker's part to the launch that has ended, and clears it. */
void reuse_take_origins(struct reuse_origins *of);
/* Behind that: the next launch is another one. */
void reuse_launch_ended(const struct counted_launch *counted);

#endif
