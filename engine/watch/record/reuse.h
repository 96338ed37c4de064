/* Where what is in device memory comes from: which launch stored each word. From that follows
 * whether a load may bring an element of an input, and which launches a result comes from:
 * reuse_counted(). Kept where loads are counted (counts.c). */
#ifndef ENGINE_WATCH_RECORD_REUSE_H
#define ENGINE_WATCH_RECORD_REUSE_H
#include "../shadow/regions.h"

/* --- words ------------------------------------------------------------------------------------ */

/* Of a word. No kernel has stored it, nor has a call of the host's copied it from a word that one
 * has stored: it holds what the host has put there, or nothing. Else it is an input's, or such a
 * call's copy of it; or the last launch that stored it, as a number from ORIGIN_LAUNCH on. */
typedef uint16_t origin;
enum {
    ORIGIN_HOST = 0,
    ORIGIN_INPUT,
    ORIGIN_LAUNCH,
    ORIGIN_LAUNCHES = 1024, /* all later launches count as the last of these */
    ORIGINS = ORIGIN_LAUNCH + ORIGIN_LAUNCHES
};

/* Of the word that this address is in; of memory that has no origins, ORIGIN_HOST. */
origin origin_of(uintptr_t address);
/* Sets it. Returns the one that it had before, or `now` where a word has none. */
origin origin_set(uintptr_t address, origin now);
/* A call of the host's has copied this; `from` is null: it has set all bytes to one value. */
void origin_copied(const char *to, const char *from, size_t bytes);

/* --- launches --------------------------------------------------------------------------------- */

/* What a worker has seen of the running launch. */
struct reuse_origins {
    uint64_t loads[ORIGINS]; /* of words that are no input's, by their origin */
    uint64_t output;         /* elements of the output that were stored, each once */
};

/* Of launches, without their blocks that store nothing: see struct counted_launch. */
struct counted_reuse {
    uint64_t loads;  /* and atomics, of global memory but for COUNTED_CONSTANTS */
    uint64_t needed; /* of inputs, and all loads of COUNTED_OTHER */
    uint64_t exchanged;
};

/* The running launch, as the origin of what it stores. */
origin reuse_running(void);
/* Adds a worker's part to the launch that has ended, and clears it. */
void reuse_take_origins(struct reuse_origins *of);
/* Behind that: what it has counted. The next launch is another one. */
void reuse_launch_ended(const struct counted_reuse *own);

/* Of the launches that the output comes from, after the last one. A launch comes from those before
 * it whose stores it loads; but for so few loads (a sixteenth of the output, in all launches
 * together) that they can be of counters and flags only. The output comes from the launches that
 * have stored it last, and theirs. Where launches have stored all of it before, each of them could
 * have been the last; what is returned is of that one which, with those that it comes from, has
 * loaded most. Of all launches, where none has stored any of it. */
struct counted_reuse reuse_counted(void);

#endif
