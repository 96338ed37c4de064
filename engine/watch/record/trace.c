/* Keeping the accesses of a few blocks: see trace.h. */
#include "trace.h"
#include "../../cuda/program/names.h"
#include "../block.h"
#include "../regions.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 21 }; /* accesses; 32 bytes each */

static struct {
    struct trace trace;
    size_t room, barrier_room;
    const struct watch *running; /* over a block that is kept, while it runs */
    const struct launch *launch; /* the first */
    bool ended;
    bool one; /* this block alone is kept */
    unsigned block[3];
    bool storing; /* the last access is a store that has not been made yet, to here */
    uintptr_t stored_to;
} state;

const struct trace *trace_kept(void) { return &state.trace; }

/* --- which array ------------------------------------------------------------------------------ */

/* The number of a shared array, which is added if it is new; -1: no room. */
static int shared_number(const struct trace_array *array) {
    struct trace *t = &state.trace;
    for (int i = 0; i < t->shared_count; ++i)
        if (t->shared[i].offset == array->offset) return TRACE_SHARED + i;
    if (t->shared_count == TRACE_ARRAYS - TRACE_SHARED) return -1;
    t->shared[t->shared_count] = *array;
    return TRACE_SHARED + t->shared_count++;
}

static bool is_within(const struct trace_array *array, size_t offset) {
    return offset - array->offset < array->words * WORD;
}

static struct trace_array static_array(const struct shared_name *name) {
    struct trace_array array = {
        .offset = name->offset, .words = name->bytes / WORD, .dimensions = name->dimensions};
    snprintf(array.name, sizeof array.name, "%s", name->name);
    memcpy(array.dimension, name->dimension, sizeof name->dimension);
    if (name->element > WORD && array.dimensions < NAME_DIMENSIONS)
        array.dimension[array.dimensions++] = name->element / WORD;
    return array;
}

/* The array at `offset` of the thread-local storage, or the one whose end it is beyond; -1: none.
 */
static int find_shared(const struct watch *w, size_t offset) {
    const struct trace *t = &state.trace;
    for (int i = 0; i < t->shared_count; ++i)
        if (is_within(&t->shared[i], offset)) return TRACE_SHARED + i;
    const size_t dynamic =
        (size_t)(emulator_dynamic_shared - (const char *)w->memory.thread_local_storage.begin);
    struct shared_name name;
    if (w->launch->shared_bytes && offset - dynamic < SHARED_PER_BLOCK_OPTIN) {
        const char *only = name_of_dynamic();
        struct trace_array array = {.offset = dynamic, .words = w->launch->shared_bytes / WORD};
        snprintf(array.name, sizeof array.name, "%s", only ? only : "dynamic shared memory");
        return shared_number(&array);
    }
    if (!name_find(offset, &name) && !name_before(offset, &name)) return -1;
    if (name_is_guard(&name)) return -1;
    const struct trace_array array = static_array(&name);
    return shared_number(&array);
}

/* Of a matrix: also where the address is beyond it, but in the same allocation. */
static int find_matrix(uintptr_t address, struct trace_access *kept) {
    const struct region *nearest = NULL;
    if (state.one && !region_find(address)) nearest = region_nearest(address);
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (!r || (r != nearest && !region_reaches(r, address))) continue;
        kept->offset = ((int64_t)address - (int64_t)r->begin) / WORD;
        kept->valued = r != nearest;
        return i;
    }
    return -1;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* Room for one more element behind `count`, or none, and the trace is not complete. */
static bool make_room(void **elements, size_t *room, size_t count, size_t size) {
    if (count < *room) return true;
    const size_t more = *room ? 2 * *room : 256;
    void *larger = more <= MOST ? realloc(*elements, more * size) : NULL;
    if (!larger) {
        state.trace.complete = false;
        return false;
    }
    *elements = larger;
    *room = more;
    return true;
}

static void keep(const struct trace_access *kept) {
    struct trace *t = &state.trace;
    void *accesses = t->access;
    if (!make_room(&accesses, &state.room, t->count, sizeof *kept)) return;
    t->access = accesses;
    t->access[t->count++] = *kept;
}

static void keep_barrier(const struct trace_barrier *kept) {
    struct trace *t = &state.trace;
    void *barriers = t->barrier;
    if (!make_room(&barriers, &state.barrier_room, t->barrier_count, sizeof *kept)) return;
    t->barrier = barriers;
    t->barrier[t->barrier_count++] = *kept;
}

static uint32_t interval_of(const struct watch *w) {
    return (uint32_t)(w->epochs.interval >> INTERVAL_BIT) - FIRST_INTERVAL;
}

/* False: the trace has no place for it. */
static bool find_array(const struct watch *w, const struct access *access,
                       struct trace_access *kept) {
    int array;
    if (access->size < WORD || access->size > 16 || access->address % WORD) return false;
    if (!watch_is_shared(w, access->address)) {
        array = find_matrix(access->address, kept);
    } else {
        size_t offset = access->address - (uintptr_t)w->memory.thread_local_storage.begin;
        array = find_shared(w, offset);
        if (array >= 0)
            kept->offset =
                ((int64_t)offset - (int64_t)trace_shared(&state.trace, array)->offset) / WORD;
        kept->valued = true;
    }
    kept->array = (uint8_t)array;
    return array >= 0;
}

/* Whatever follows, in this block, follows the store. */
static void complete_store(void) {
    if (!state.storing) return;
    struct trace_access *a = &state.trace.access[state.trace.count - 1];
    memcpy(a->bits, (const void *)state.stored_to, a->words * WORD);
    a->valued = true;
    state.storing = false;
}

/* What a load gets is there already. */
static void keep_value(struct trace_access *kept, const struct access *access) {
    const bool there = kept->valued;
    if (access->old) memcpy(&kept->bits[kept->words], access->old, access->size);
    if (there && !access->write) memcpy(kept->bits, (const void *)access->address, access->size);
    if (access->write) kept->valued = false;
    const size_t before = state.trace.count;
    keep(kept);
    state.storing = there && access->write && state.trace.count > before;
    state.stored_to = access->address;
}

static void note(struct watch *w, const struct access *access) {
    if (w != state.running) return;
    complete_store();
    struct trace_access kept = {
        .code = access->code,
        .interval = interval_of(w),
        .thread = (uint16_t)running_index.linear,
        .block = (uint8_t)(state.trace.block_count - 1),
        .words = (uint8_t)(access->size / WORD),
        .write = access->write,
        .atomic = access->atomic,
    };
    if (access->atomic || access->copying) state.trace.plain = false;
    if (!find_array(w, access, &kept)) {
        state.trace.plain = false;
        return;
    }
    keep_value(&kept, access);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void block_index(const struct watch *w, unsigned index[3]) {
    const struct uint3 *grid = &w->launch->grid;
    index[0] = (unsigned)(w->epochs.block % grid->x);
    index[1] = (unsigned)(w->epochs.block / grid->x % grid->y);
    index[2] = (unsigned)(w->epochs.block / grid->x / grid->y);
}

/* Whether it is one of the blocks that are kept. */
static bool is_kept(const struct watch *w) {
    const unsigned grid[] = {w->launch->grid.x, w->launch->grid.y, w->launch->grid.z};
    unsigned index[3];
    block_index(w, index);
    if (state.one) return !state.ended && memcmp(index, state.block, sizeof index) == 0;
    for (int i = 0; i < 3; ++i)
        if (index[i] != grid[i] - 1 && index[i] >= (i < 2 ? 2 : 1)) return false;
    return !state.ended;
}

static bool skips(const struct watch *w) { return !is_kept(w); }

static void block_begins(struct watch *w) {
    struct trace *t = &state.trace;
    const struct launch *l = w->launch;
    if (!state.launch) {
        state.launch = l;
        t->complete = t->plain = true;
        memcpy(t->grid, (unsigned[]){l->grid.x, l->grid.y, l->grid.z}, sizeof t->grid);
        memcpy(t->block, (unsigned[]){l->block.x, l->block.y, l->block.z}, sizeof t->block);
    }
    if (!is_kept(w) || t->block_count == TRACE_BLOCKS) return;
    block_index(w, t->blocks[t->block_count++]);
    state.running = w;
}

/* Whether a warp of the block has synchronised, or a thread fenced, since the last barrier. */
static bool any_step(const struct watch *w) {
    epoch met = 0;
    for (unsigned i = 0; i < w->launch->block_threads; ++i) met |= w->epochs.thread[i];
    return met & EPOCH_STEP_MASK;
}

static void copy_waiting(const struct watch *w, struct trace_waiting waiting[2]) {
    for (int i = 0; i < 2; ++i)
        waiting[i] = (struct trace_waiting){w->arrived[i].code, w->arrived[i].threads};
}

static void interval_ends(struct watch *w) {
    struct trace_barrier ended = {.code = w->arrived[0].code,
                                  .interval = interval_of(w),
                                  .block = (uint8_t)(state.trace.block_count - 1),
                                  .returned = w->epochs.returned};
    if (w != state.running) return;
    complete_store();
    if (any_step(w)) state.trace.plain = false;
    copy_waiting(w, ended.at);
    keep_barrier(&ended);
}

static void block_ended(struct watch *w) {
    if (w != state.running) return;
    complete_store();
    if (any_step(w)) state.trace.plain = false;
    state.running = NULL;
}

/* Of a block that did not come to its end. */
static void block_stopped(const struct watch *w) {
    struct trace *t = &state.trace;
    t->stopped = true;
    t->returned = w->epochs.returned;
    copy_waiting(w, t->waiting);
    state.storing = false;
    state.running = NULL;
}

static bool loads_an_input(const struct trace_access *a) {
    const struct region *r = a->array < TRACE_SHARED ? region_of_array(a->array) : NULL;
    return r && region_is_input(r) && !a->write;
}

/* A launch that loads no input is none that anyone asks about. */
static void launch_ended(const struct launch *launch) {
    struct trace *t = &state.trace;
    size_t i = 0;
    if (state.ended) t->later_launches++;
    if (launch != state.launch || state.ended) return;
    if (state.running) block_stopped(state.running);
    while (i < t->count && !loads_an_input(&t->access[i])) ++i;
    state.ended = i < t->count;
    t->ended = launch->blocks_ended == launch->blocks;
    if (state.ended) return;
    t->count = t->barrier_count = 0;
    t->block_count = t->shared_count = 0;
    t->stopped = false;
    state.launch = NULL;
}

void trace_watch(void) {
    static const struct consumer keeping = {.skips = skips,
                                            .block_begins = block_begins,
                                            .access = note,
                                            .interval_ends = interval_ends,
                                            .block_ended = block_ended,
                                            .launch_ended = launch_ended};
    watch_add_consumer(&keeping);
}

void trace_watch_block(const unsigned block[3]) {
    state.one = true;
    memcpy(state.block, block, sizeof state.block);
    trace_watch();
}
