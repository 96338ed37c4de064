/* Which launches the output comes from, and what those have loaded: reuse_counted(). Fed
 * by counts.c. */
#ifndef ENGINE_WATCH_RECORD_REUSE_H
#define ENGINE_WATCH_RECORD_REUSE_H
#include "counted.h"
#include "origin.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Of the launches that the output comes from, without their blocks that store nothing. */
struct counted_reuse {
    uint64_t loads;     /* and atomics, of global memory but for COUNTED_CONSTANTS */
    uint64_t needed;    /* of inputs, as above; and all loads of COUNTED_OTHER */
    uint64_t exchanged; /* as above */
};

/* After the last launch. A launch comes from those before it whose stores it loads; but for so few
 * loads (a sixteenth of the output, in all launches together) that they can be of counters and
 * flags only. The output comes from the launches that have stored it last, and theirs. Where
 * launches have stored all of it before, each of them could have been the last; what is returned is
 * of that one which, with those that it comes from, has loaded most. Of all launches, where none
 * has stored any of it. */
struct counted_reuse reuse_counted(void);

#ifdef __cplusplus
}
#endif

#endif
