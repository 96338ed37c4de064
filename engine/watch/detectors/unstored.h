/* What of a shared array no thread of the block has stored. */
#ifndef ENGINE_WATCH_DETECTORS_UNSTORED_H
#define ENGINE_WATCH_DETECTORS_UNSTORED_H
#include "../event.h"

/* About the array that the word of shared memory is in, which is unstored itself. */
struct unstored unstored_find(const struct watch *w, size_t word);

#endif
