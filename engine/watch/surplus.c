/* The blocks of a launch that are watched: see launches.h. */
#include "../cuda/program/program.h"
#include "../report/text/numbers.h"
#include "launches.h"
#include <stdlib.h>
#include <string.h>

enum {
    DRAWN = 16,
    AXES = 3,
    CORNERS = 1 << AXES,
    SAMPLE = 2 + CORNERS + AXES + DRAWN /* at most */
};

static const struct writers *(*ask_for)(void);
static const struct writers *known;
static bool asked;
static int made; /* launches, before the run */
static struct engine_blocks seen;
static uint64_t passed_over;

/* Of the launch whose blocks were chosen last: those that write, and a sample of the others. */
static struct block_run chosen[WRITERS_RUNS + SAMPLE];
static struct block_runs runs = {chosen, 0};

void surplus_begin(const struct writers *(*ask)(void)) {
    ask_for = ask;
    known = NULL;
    asked = false;
    made = launches_made();
    seen = (struct engine_blocks){0};
}

static int number(void) { return launches_made() - made; }

struct engine_blocks surplus_seen(void) {
    return seen;
}
uint64_t surplus_passed_over(void) { return passed_over; }

static uint64_t blocks_of(const struct block_run *run) { return run->last - run->first + 1; }

static uint64_t blocks_in(const struct block_runs *some) {
    uint64_t count = 0;
    for (size_t i = 0; i < some->count; i++) count += blocks_of(&some->run[i]);
    return count;
}

uint64_t surplus_count(const struct launch *launch) {
    return launch->only ? blocks_in(launch->only) : launch->blocks;
}

uint64_t surplus_block(const struct launch *launch, uint64_t rank) {
    const struct block_runs *only = launch->only;
    for (size_t i = 0; only && i < only->count; i++) {
        if (rank < blocks_of(&only->run[i])) return only->run[i].first + rank;
        rank -= blocks_of(&only->run[i]);
    }
    return rank;
}

/* --- what is known ---------------------------------------------------------------------------- */

/* In order, and within the grid: the data may come from a process that a submission ran in. */
static bool is_sound(const struct writers_launch *l, const struct launch *launch) {
    uint64_t next = 0;
    if (l->first > WRITERS_RUNS || l->count > WRITERS_RUNS - l->first) return false;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct block_run *run = &known->run[l->first + i];
        if (run->first < next || run->last < run->first || run->last >= launch->blocks)
            return false;
        next = run->last + 1;
    }
    return true;
}

/* False: it is not known which blocks write. */
static bool find_writing(const struct launch *launch, struct block_runs *writing) {
    if (!asked) known = ask_for();
    asked = true;
    for (uint32_t i = 0; known && i < WRITERS_LAUNCHES; i++) {
        const struct writers_launch *l = &known->launch[i];
        if (l->number != number() || memcmp(l->grid, &launch->grid, sizeof l->grid) != 0 ||
            memcmp(l->block, &launch->block, sizeof l->block) != 0)
            continue;
        if (is_sound(l, launch)) *writing = (struct block_runs){&known->run[l->first], l->count};
        return is_sound(l, launch);
    }
    return false;
}

/* --- the sample ------------------------------------------------------------------------------- */

/* The one of the silent blocks with this rank. */
static uint64_t silent_of_rank(const struct block_runs *writing, uint64_t rank) {
    uint64_t block = rank;
    for (size_t i = 0; i < writing->count && writing->run[i].first <= block; i++)
        block += blocks_of(&writing->run[i]);
    return block;
}

static bool take_if_silent(const struct block_runs *writing, uint64_t block) {
    for (size_t i = 0; i < writing->count && writing->run[i].first <= block; i++)
        if (block <= writing->run[i].last) return false;
    chosen[runs.count++] = (struct block_run){block, block};
    return true;
}

static void take_sample(const struct block_runs *writing, const struct launch *launch,
                        uint64_t silent) {
    const unsigned extent[AXES] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint64_t step[AXES] = {1, extent[0], (uint64_t)extent[0] * extent[1]};
    const uint64_t key = known->sample + (uint64_t)number();
    take_if_silent(writing, silent_of_rank(writing, 0));
    take_if_silent(writing, silent_of_rank(writing, silent - 1));
    for (int corner = 0; corner < CORNERS; corner++) {
        uint64_t block = 0;
        for (int axis = 0; axis < AXES; axis++)
            if (corner >> axis & 1) block += (extent[axis] - 1) * step[axis];
        take_if_silent(writing, block);
    }
    /* The first one on each edge, from block 0 on. */
    for (int axis = 0; axis < AXES; axis++)
        for (unsigned i = 0; i < extent[axis] && !take_if_silent(writing, i * step[axis]); i++)
            continue;
    for (uint64_t i = 0; i < DRAWN; i++)
        take_if_silent(writing, silent_of_rank(writing, random64(key, i) % silent));
}

/* --- what is watched -------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    const struct block_run *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* In order, each once: a block of the sample may have been taken several times. */
static void choose_runs(const struct block_runs *writing, const struct launch *launch,
                        uint64_t silent) {
    runs.count = 0;
    take_sample(writing, launch, silent);
    memcpy(&chosen[runs.count], writing->run, writing->count * sizeof *chosen);
    const size_t all = runs.count + writing->count;
    qsort(chosen, all, sizeof *chosen, by_number);
    runs.count = 0;
    for (size_t i = 0; i < all; i++)
        if (!i || chosen[i].first != chosen[runs.count - 1].first) chosen[runs.count++] = chosen[i];
}

const struct block_runs *surplus_choose(const struct launch *launch) {
    struct block_runs writing;
    passed_over = 0;
    if (!ask_for || launch->blocks * launch->block_threads <= WRITERS_THREADS ||
        program_has_variables() || !find_writing(launch, &writing))
        return NULL;
    const uint64_t silent = launch->blocks - blocks_in(&writing);
    if (silent <= SAMPLE) return NULL;
    choose_runs(&writing, launch, silent);
    passed_over = launch->blocks - blocks_in(&runs);
    seen.all += launch->blocks;
    seen.watched += blocks_in(&runs);
    seen.writing += blocks_in(&writing);
    return &runs;
}
