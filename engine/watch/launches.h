/* The launches of a run: which kernel, in how many blocks of how many threads, and which line of
 * the program launches it; and which of a launch's blocks are watched. */
#ifndef ENGINE_WATCH_LAUNCHES_H
#define ENGINE_WATCH_LAUNCHES_H
#include "../cuda/runtime/runtime.h"
#include "../engine.h"
#include "../finding.h"

/* Of a run that makes more launches than this, the first ones and the last ones are kept. */
enum { LAUNCHES_FIRST = 8, LAUNCHES_LAST = 8 };

/* A run begins, and has made none. */
void launches_begin(void);
/* The host launches that now, or has tried to: a refused launch counts. */
void launches_note(const struct launch *launch);
/* Since the run began. */
uint64_t launches_noted(void);

/* The launch with this number, from 1 to launches_noted(), without its place. False: it
 * was not kept. */
bool launches_find(uint64_t number, struct finding_launch *launch);
/* Where it is: kernel<<<...>>>. Asks addr2line. Line 0: unknown. */
struct place launches_place(uint64_t number);

/* The name of a kernel, without its parameters. */
void launches_kernel_name(const void *kernel, char *name, size_t bytes);

/* --- surplus.c: which blocks are watched ------------------------------------------------------
 *
 * A grid may have far more blocks than write anything: where a run of the plain build has noted
 * which blocks write (engine/cuda/runtime/allocations.c), only those run here, and a sample of the
 * others: nothing comes of the rest.
 *
 * Of blocks that write nothing, the sample has the first and the last one, those at the grid's
 * corners and the first ones along its edges, and some that are drawn. What it does not have was
 * run by the plain build, where an access far outside of an allocation faults. */

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
