/* Where what is in device memory comes from: which launch stored each word. From that follows
 * whether a load may bring an element of an input, and which launches a result comes from. Kept
 * where loads are counted (counts.c). */
#ifndef ENGINE_WATCH_RECORD_ORIGIN_H
#define ENGINE_WATCH_RECORD_ORIGIN_H
#include "../shadow/regions.h"

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

/* Before each launch, on the host's thread. Allocations that are made later have no origins. */
void origin_prepare(void);

/* Of the word that this address is in; of memory that has no origins, ORIGIN_HOST. */
origin origin_of(uintptr_t address);
/* Sets it. Returns the one that it had before, or `now` where there are no origins. */
origin origin_set(uintptr_t address, origin now);
/* A call of the host's has copied this; `from` is null: it has set all bytes to one value. */
void origin_copied(char *to, const char *from, size_t bytes);

#endif
