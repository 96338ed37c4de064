/* Which blocks of a launch write to device memory: found by the memory's hardware, in a program
 * that is not instrumented.
 *
 * Device memory can be read only while a block runs. The first write to an allocation faults, which
 * says that this block writes, and opens the allocation until the block has ended. So a block that
 * writes nothing costs nothing; one that does, some microseconds. A block that is not noted as one
 * that writes has written nothing to device memory, whatever its instructions were; of variables of
 * the program's this knows nothing. */
#include "runtime.h"
#include <string.h>

static struct writers *into; /* null: nothing is noted */
static struct {
    volatile bool writes; /* the running block */
    uint64_t writers_work;
    uint32_t first; /* of the launch's runs */
    bool full;      /* there are more runs than there is room for */
} now;

void writers_note(struct writers *writers) { into = writers; }

bool writers_launch_begins(const struct launch *launch) {
    if (!into || launch->blocks * launch->block_threads <= WRITERS_THREADS ||
        into->count == WRITERS_LAUNCHES || !memory_refuse_writes())
        return false;
    now.writes = now.full = false;
    now.writers_work = 0;
    now.first = into->runs;
    return true;
}

bool writers_faulted(const void *address) {
    if (!into || !memory_allow_writes(address)) return false;
    now.writes = true;
    return true;
}

static void add(uint64_t block) {
    struct block_run *last = into->runs > now.first ? &into->run[into->runs - 1] : NULL;
    if (last && last->last + 1 == block)
        last->last = block;
    else if (into->runs < WRITERS_RUNS)
        into->run[into->runs++] = (struct block_run){block, block};
    else
        now.full = true;
}

void writers_block_ended(uint64_t block, uint64_t work) {
    if (!now.writes) return;
    now.writes = false;
    now.writers_work += work;
    add(block);
    memory_refuse_writes();
}

void writers_launch_ended(const struct launch *launch, int number, bool all) {
    if (!into) return;
    const bool known = launch->noted && all && !now.full && launch->blocks_ended == launch->blocks;
    into->work += known ? now.writers_work : launch->work;
    if (!known) {
        if (launch->noted) into->runs = now.first;
        return;
    }
    struct writers_launch *kept = &into->launch[into->count++];
    *kept = (struct writers_launch){
        .number = number,
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .first = now.first,
        .count = into->runs - now.first,
    };
}
