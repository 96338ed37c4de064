/* Which blocks of a launch are watched. A grid may have far more blocks than write anything: where
 * a run of the plain build has noted which blocks write (engine/cuda/runtime/writers.c), only those
 * run here, and a sample of the others: nothing comes of the rest.
 *
 * Of blocks that write nothing, the sample has the first and the last one, those at the grid's
 * corners and the first ones along its edges, and some that are drawn. What it does not have was
 * run by the plain build, where an access far outside of an allocation faults. */
#ifndef ENGINE_WATCH_SURPLUS_H
#define ENGINE_WATCH_SURPLUS_H
#include "../cuda/runtime/runtime.h"
#include "../engine.h"

/* From now on launches are looked up there, if they have so many threads that they are noted. `ask`
 * is called once, at the first such launch; it may return null. */
void surplus_begin(const struct writers *(*ask)(void));

/* The observer's: the blocks of the launch that run; null: all. */
const struct block_runs *surplus_choose(const struct launch *launch);

/* Of the launches so far of which not all blocks ran. */
struct engine_blocks surplus_seen(void);

/* How many of a launch's blocks run; and the number of one of them, by its rank among them. */
uint64_t surplus_count(const struct launch *launch);
uint64_t surplus_block(const struct launch *launch, uint64_t rank);

/* Blocks of the running launch that do not run, as they write nothing. */
uint64_t surplus_passed_over(void);

#endif
