/* Which barrier is to blame, and between which lines one is missing: the facts of threads that
 * wait, or should. */
#ifndef ENGINE_EXPLAIN_BARRIER_LINES_H
#define ENGINE_EXPLAIN_BARRIER_LINES_H
#include "object.h"

/* Of two barriers at which threads wait, whether the second one is passed by and not the first:
 * where all waited at one of them before and both are in one loop, it is the other one; else the
 * one that is first in the text. Without the text: where fewer threads wait. */
bool barriers_exchanged(const struct diagnosis *d);

void find_shared_race(struct diagnosis *d);
void find_divergent_barrier(struct diagnosis *d);
void find_early_return(struct diagnosis *d);
void find_deadlock(struct diagnosis *d);
/* Of a kernel that does not end: the loop. */
void find_endless_loop(struct diagnosis *d);

#endif
