/* The blocks of a launch that are watched: see launches.h. */
#include "../cuda/program/program.h"
#include "../report/text/numbers.h"
#include "launches.h"
#include <stdlib.h>

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

/* Of the launch whose blocks were chosen last. */
static struct block_run chosen[WRITERS_RUNS + SAMPLE];
static struct block_runs runs;

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

/* --- what is known ---------------------------------------------------------------------------- */

static bool is_of(const struct writers_launch *l, const struct launch *launch) {
    const struct uint3 *grid = &launch->grid, *block = &launch->block;
    return l->number == number() && l->grid[0] == grid->x && l->grid[1] == grid->y &&
           l->grid[2] == grid->z && l->block[0] == block->x && l->block[1] == block->y &&
           l->block[2] == block->z;
}

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

/* The blocks that write; null: not known. */
static const struct writers_launch *written_by(const struct launch *launch) {
    if (!asked) known = ask_for();
    asked = true;
    for (uint32_t i = 0; known && i < known->count && i < WRITERS_LAUNCHES; i++) {
        const struct writers_launch *l = &known->launch[i];
        if (is_of(l, launch)) return is_sound(l, launch) ? l : NULL;
    }
    return NULL;
}

/* --- the sample ------------------------------------------------------------------------------- */

struct sample {
    const struct block_run *writers;
    uint32_t count;
    uint64_t blocks, block[SAMPLE];
    int size;
};

/* The first block from this one on that writes nothing, `blocks` where there is none. */
static uint64_t next_silent(const struct sample *s, uint64_t block) {
    for (uint32_t i = 0; i < s->count && s->writers[i].first <= block; i++)
        if (block <= s->writers[i].last) block = s->writers[i].last + 1;
    return block;
}

static bool is_silent(const struct sample *s, uint64_t block) {
    return next_silent(s, block) == block;
}

static void take(struct sample *s, uint64_t block) {
    if (block < s->blocks && is_silent(s, block)) s->block[s->size++] = block;
}

/* The one of the silent blocks with this rank. */
static uint64_t silent_of_rank(const struct sample *s, uint64_t rank) {
    uint64_t block = rank;
    for (uint32_t i = 0; i < s->count && s->writers[i].first <= block; i++)
        block += s->writers[i].last - s->writers[i].first + 1;
    return block;
}

/* The first silent block on an edge of the grid, from block 0 on. */
static void take_on_edge(struct sample *s, uint64_t step, unsigned length) {
    for (unsigned i = 0; i < length; i++)
        if (is_silent(s, i * step)) {
            take(s, i * step);
            return;
        }
}

static void take_sample(struct sample *s, const struct launch *launch, uint64_t silent) {
    const unsigned extent[AXES] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint64_t step[AXES] = {1, extent[0], (uint64_t)extent[0] * extent[1]};
    const uint64_t key = known->sample + (uint64_t)number();
    take(s, next_silent(s, 0));
    take(s, silent_of_rank(s, silent - 1));
    for (int corner = 0; corner < CORNERS; corner++) {
        uint64_t block = 0;
        for (int axis = 0; axis < AXES; axis++)
            if (corner >> axis & 1) block += (extent[axis] - 1) * step[axis];
        take(s, block);
    }
    for (int axis = 0; axis < AXES; axis++) take_on_edge(s, step[axis], extent[axis]);
    for (uint64_t i = 0; i < DRAWN; i++) take(s, silent_of_rank(s, random64(key, i) % silent));
}

/* --- what is watched -------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Both, in order. */
static void merge(struct sample *s) {
    int at = 0;
    runs = (struct block_runs){chosen, 0};
    qsort(s->block, (size_t)s->size, sizeof *s->block, by_number);
    for (uint32_t i = 0; i <= s->count; i++) {
        const uint64_t next = i < s->count ? s->writers[i].first : s->blocks;
        for (; at < s->size && s->block[at] < next; at++)
            if (!at || s->block[at] != s->block[at - 1])
                chosen[runs.count++] = (struct block_run){s->block[at], s->block[at]};
        if (i < s->count) chosen[runs.count++] = s->writers[i];
    }
}

const struct block_runs *surplus_choose(const struct launch *launch) {
    uint64_t writing = 0;
    passed_over = 0;
    if (!ask_for || launch->blocks * launch->block_threads <= WRITERS_THREADS ||
        program_has_variables())
        return NULL;
    const struct writers_launch *l = written_by(launch);
    if (!l) return NULL;
    struct sample sample = {&known->run[l->first], l->count, launch->blocks, {0}, 0};
    for (uint32_t i = 0; i < l->count; i++)
        writing += sample.writers[i].last - sample.writers[i].first + 1;
    if (launch->blocks - writing <= SAMPLE) return NULL;
    take_sample(&sample, launch, launch->blocks - writing);
    merge(&sample);
    const struct launch chosen_of = {.blocks = launch->blocks, .only = &runs};
    const uint64_t watched = surplus_count(&chosen_of);
    passed_over = launch->blocks - watched;
    seen.all += launch->blocks;
    seen.watched += watched;
    seen.writing += writing;
    return &runs;
}

uint64_t surplus_count(const struct launch *launch) {
    uint64_t count = 0;
    if (!launch->only) return launch->blocks;
    for (size_t i = 0; i < launch->only->count; i++)
        count += launch->only->run[i].last - launch->only->run[i].first + 1;
    return count;
}

uint64_t surplus_block(const struct launch *launch, uint64_t rank) {
    const struct block_runs *only = launch->only;
    for (size_t i = 0; only && i < only->count; i++) {
        const uint64_t blocks = only->run[i].last - only->run[i].first + 1;
        if (rank < blocks) return only->run[i].first + rank;
        rank -= blocks;
    }
    return rank;
}
