/* The accesses that do not come from the compiler's calls in access.c. */
#ifndef ENGINE_WATCH_ACCESS_H
#define ENGINE_WATCH_ACCESS_H
#include "block.h"

/* Whatever the fast path does not do: the detectors and consumers get the access. */
void access_slowly(const struct access *access);

/* To the audit: the next access of this thread is to these bytes, or to others announced since its
 * last one. access_slowly() has done so for one access; where several are announced before they are
 * made, other threads may have run in between. */
void access_announce(const void *p, size_t size);

#endif
