/* Which accesses happen before which: by barriers, by warp operations, and by atomics that are used
 * as a lock, a flag or a counter of finished blocks.
 *
 * The rules, as the PTX memory model has them but for what is marked (*):
 *
 *   - Accesses of one thread happen in the order of the program; so do launches.
 *   - A barrier orders all accesses of the block before it and behind it. A warp operation orders
 *     those of the lanes that take part in it, (*) and those of lanes that have returned before.
 *   - An atomic operation orders nothing but accesses to its own address. With fences it is more: a
 *     thread's __threadfence() before it *releases* all that happened before the fence; a thread
 *     whose atomic on the same address comes later has *acquired* that when a fence, (*) a barrier
 *     or a warp operation is behind it. (*) The fence may be any thread's between the access and
 *     the release; NVIDIA's samples have each thread fence, and one count after the barrier.
 *     __threadfence_block() releases to the thread's own block. The releasing atomic itself happens
 *     before what is behind the acquisition and accesses its address.
 *   - A volatile load acquires as an atomic does, and (*) volatile accesses need no fence behind
 * it. A volatile store releases, right behind a fence.
 *
 * Atomics, volatile loads, and volatile stores right behind a fence, are *strong*: two strong
 * accesses never race.
 *
 * Each thread has a step, which its warp operations and fences raise. What a thread knows of the
 * others is the step before which their accesses happened before its own: of its warp's lanes a
 * table; of all others, other blocks too, references to the releases that it has acquired. */
#ifndef ENGINE_WATCH_SHADOW_ORDER_H
#define ENGINE_WATCH_SHADOW_ORDER_H
#include "epoch.h"

/* What the threads of a worker's running block know; one for each worker. */
struct order;

/* Of an access that the running thread makes. */
struct stamp order_now(const struct order *o, const struct access *access);
/* Of an epoch of the running block's in which the step is complete. */
struct stamp order_stamp(const struct order *o, epoch when);

/* Whether an access was made in another launch than the running one. */
bool order_other_launch(const struct order *o, const struct stamp *s);

/* Whether an access happens before this one of the running thread to the same address; null: before
 * a plain one. */
bool order_before(struct order *o, const struct stamp *earlier, const struct access *access);

/* Whether single threads of the kernels may be ordered, because there are fences in them, or warp
 * operations of some of a warp's lanes have been made. Else nothing orders threads of two blocks,
 * and of a block barriers and operations of whole warps do. */
bool order_has_pairs(void);
/* The program has fences. */
void order_expect_fences(void);

/* --- what the runtime and the compiler's calls report ----------------------------------------- */

void order_begin_launch(void);
/* Of the block whose epochs these are, which must outlive it; null: out of memory. */
struct order *order_make(struct epochs *epochs);
/* The running block's number. */
uint64_t order_block(const struct order *o);
void order_begin_block(struct order *o);
/* A barrier opens. Before the interval's number changes. */
void order_end_interval(struct order *o);
/* The running thread comes to a warp operation that others of its warp do not. It sets has_pairs of
 * the epochs, as a fence does; steps may set many_steps. */
void order_warp_parts(struct order *o);
/* These lanes meet in a warp operation. */
void order_warp_met(struct order *o, unsigned warp, unsigned lanes);
/* The running thread fences: __threadfence(), or __threadfence_block(). */
void order_fence(struct order *o, bool device);
/* Its atomic operation, volatile load or volatile store at the address: a release comes before, an
 * acquisition behind it. */
void order_release(struct order *o, uintptr_t address, bool in_shared);
void order_acquire(struct order *o, uintptr_t address, bool in_shared);
void order_volatile_load(struct order *o, uintptr_t address, bool in_shared);
/* Whether the running thread's last fence comes after its last volatile store. */
bool order_is_behind_fence(const struct order *o);
void order_volatile_store(struct order *o, uintptr_t address, bool in_shared);

#endif
