/* Keeping the accesses of a few blocks: see record.h. */
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../launches.h"
#include "../shadow/shadow.h"
#include "record.h"
#include <stdlib.h>
#include <string.h>

static struct {
    struct trace kept[TRACE_LAUNCHES];
    const struct trace *list[TRACE_LAUNCHES]; /* of these */
    int count;
    size_t elements;   /* accesses and barriers of all of them */
    uint64_t shown;    /* the launch that was asked for; 0: the first that loads an input */
    struct trace *now; /* of the launch that runs; null: nothing of it is kept */
    const struct watch *running; /* over a block that is kept, while it runs */
    bool one;                    /* this block alone is kept */
    unsigned block[3];
    bool storing; /* the last access is a store that has not been made yet, to here */
    uintptr_t stored_to;
} tracing;

int trace_launches(const struct trace *const **launches) {
    for (int i = 0; i < tracing.count; ++i) tracing.list[i] = &tracing.kept[i];
    *launches = tracing.list;
    return tracing.count;
}

const struct trace *trace_shown(void) {
    static const struct trace none;
    for (const struct trace *t = tracing.kept; t < tracing.kept + tracing.count; ++t)
        if (tracing.shown ? t->launch == tracing.shown : t->loads_input) return t;
    /* A launch that was stopped may have come to no input. */
    return tracing.now && !tracing.shown ? tracing.now : &none;
}

enum element trace_element(const struct trace *t, int array) {
    return array < TRACE_SHARED ? region_array(array)->element : trace_shared(t, array)->element;
}

size_t trace_element_bytes(const struct trace *t, int array) {
    return array < TRACE_SHARED ? array_element_bytes(region_array(array))
                                : element_type_bytes(trace_shared(t, array)->element);
}

/* --- which array ------------------------------------------------------------------------------ */

/* The number of a shared array, which is added if it is new; -1: no room. */
static int shared_number(struct trace *t, const struct trace_array *array) {
    for (int i = 0; i < t->shared_count; ++i)
        if (t->shared[i].offset == array->offset) return TRACE_SHARED + i;
    if (t->shared_count == TRACE_ARRAYS - TRACE_SHARED) return -1;
    t->shared[t->shared_count] = *array;
    return TRACE_SHARED + t->shared_count++;
}

/* The elements of a structure count as its words. */
static struct trace_array static_array(const struct shared_name *name) {
    const bool known = name->type != ELEMENT_BYTES;
    struct trace_array array = {.offset = name->offset,
                                .element = known ? name->type : ELEMENT_F32,
                                .dimensions = name->dimensions};
    array.elements = name->bytes / element_type_bytes(array.element);
    snprintf(array.name, sizeof array.name, "%s", name->name);
    memcpy(array.dimension, name->dimension, sizeof name->dimension);
    if (!known && name->element > WORD && array.dimensions < NAME_DIMENSIONS)
        array.dimension[array.dimensions++] = name->element / WORD;
    size_t count = 1;
    for (int i = 0; i < array.dimensions; ++i) count *= array.dimension[i];
    if (count != array.elements) array.dimensions = 0;
    return array;
}

/* The array at `offset` of the thread-local storage, or the one whose end it is beyond; -1: none.
 */
static int find_shared(struct trace *t, const struct watch *w, size_t offset) {
    for (int i = 0; i < t->shared_count; ++i)
        if (offset - t->shared[i].offset <
            t->shared[i].elements * element_type_bytes(t->shared[i].element))
            return TRACE_SHARED + i;
    const size_t dynamic =
        (size_t)(emulator_dynamic_shared - (const char *)w->memory.thread_local_storage.begin);
    struct shared_name name;
    if (w->launch->shared_bytes && offset - dynamic < SHARED_PER_BLOCK_OPTIN) {
        size_t element;
        const char *only = name_of_dynamic(&element);
        struct trace_array array = {
            .offset = dynamic, .element = ELEMENT_F32, .elements = w->launch->shared_bytes / WORD};
        snprintf(array.name, sizeof array.name, "%s",
                 only && element == WORD ? only : "dynamic shared memory");
        return shared_number(t, &array);
    }
    if ((!name_find(offset, &name) && !name_before(offset, &name)) || name_is_guard(&name))
        return -1;
    const struct trace_array array = static_array(&name);
    return shared_number(t, &array);
}

/* The array, and how many bytes behind its beginning the access is; -1: none. Of the run's arrays:
 * also where the address is beyond one, but in the same allocation. */
static int find_array(struct trace *t, const struct watch *w, uintptr_t address, int64_t *bytes,
                      bool *valued) {
    const struct region *nearest = NULL;
    *valued = true;
    if (watch_is_shared(w, address)) {
        const size_t offset = address - (uintptr_t)w->memory.thread_local_storage.begin;
        const int array = find_shared(t, w, offset);
        if (array >= 0) *bytes = (int64_t)offset - (int64_t)trace_shared(t, array)->offset;
        return array;
    }
    if (tracing.one && !region_find(address)) nearest = region_nearest(address);
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (!r || (r != nearest && !region_reaches(r, address))) continue;
        *bytes = (int64_t)(address - r->begin);
        *valued = r != nearest;
        return i;
    }
    return -1;
}

bool trace_find(struct trace *t, const struct watch *w, const struct access *access,
                struct trace_access *found) {
    int64_t bytes = 0;
    if (access->size > TRACE_BYTES) return false;
    const int array = find_array(t, w, access->address, &bytes, &found->valued);
    if (array < 0) return false;
    const int64_t element = (int64_t)trace_element_bytes(t, array);
    if (access->size % element || bytes % element) return false;
    found->array = (uint8_t)array;
    found->elements = (uint8_t)(access->size / element);
    found->offset = bytes / element;
    return true;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* The list, which always has room for a power of two, with room for one more behind `count`. Null,
 * and the trace is not complete: it cannot have more, or all launches together have TRACE_MOST. */
static void *room_for_one(void *list, size_t count, size_t size) {
    const bool full = !(count & (count - 1));
    if (tracing.elements < TRACE_MOST && full) list = realloc(list, (count ? 2 * count : 1) * size);
    if (tracing.elements == TRACE_MOST || !list) {
        tracing.now->complete = false;
        return NULL;
    }
    ++tracing.elements;
    return list;
}

static uint32_t interval_of(const struct watch *w) {
    return (uint32_t)(w->epochs.interval >> INTERVAL_BIT) - FIRST_INTERVAL;
}

/* Whatever follows, in this block, follows the store. */
static void complete_store(void) {
    if (!tracing.storing) return;
    const struct trace *t = tracing.now;
    struct trace_access *a = &t->access[t->count - 1];
    memcpy(a->bytes, (const void *)tracing.stored_to,
           a->elements * trace_element_bytes(t, a->array));
    a->valued = true;
    tracing.storing = false;
}

static void trace_accessed(struct watch *w, const struct access *access) {
    struct trace *t = tracing.now;
    if (w != tracing.running) return;
    complete_store();
    struct trace_access kept = {
        .code = access->code,
        .interval = interval_of(w),
        .thread = (uint16_t)running_index.linear,
        .block = (uint8_t)(t->block_count - 1),
        .write = access->write,
        .atomic = access->atomic,
    };
    if (access->atomic || access->copying) t->plain = false;
    if (!trace_find(t, w, access, &kept)) {
        t->plain = false;
        if (!access->write || watch_is_shared(w, access->address)) t->others = true;
        return;
    }
    const bool there = kept.valued, of_run = kept.array < TRACE_SHARED;
    if (!kept.write && of_run && region_is_input(region_of_array(kept.array)))
        t->loads_input = true;
    if (access->old) memcpy(&kept.bytes[access->size], access->old, access->size);
    if (there && !access->write) /* what a load gets is there already */
        memcpy(kept.bytes, (const void *)access->address, access->size);
    if (access->write) kept.valued = false;
    struct trace_access *list = room_for_one(t->access, t->count, sizeof kept);
    if (!list) return;
    t->access = list;
    list[t->count++] = kept;
    tracing.storing = there && access->write;
    tracing.stored_to = access->address;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void block_index(const struct watch *w, unsigned index[3]) {
    const struct uint3 *grid = &w->launch->grid;
    index[0] = (unsigned)(w->epochs.block % grid->x);
    index[1] = (unsigned)(w->epochs.block / grid->x % grid->y);
    index[2] = (unsigned)(w->epochs.block / grid->x / grid->y);
}

/* Whether it is one of the blocks that are kept: of a large grid the first two and the last one in
 * each direction. */
static bool is_kept(const struct watch *w) {
    const unsigned grid[] = {w->launch->grid.x, w->launch->grid.y, w->launch->grid.z};
    unsigned index[3];
    if (!tracing.now) return false;
    block_index(w, index);
    if (tracing.one) return memcmp(index, tracing.block, sizeof index) == 0;
    if (w->launch->blocks <= TRACE_WHOLE) return true;
    for (int i = 0; i < 3; ++i)
        if (index[i] != grid[i] - 1 && index[i] >= 2) return false;
    return true;
}

static void trace_block_comes(struct watch *w) {
    if (!is_kept(w)) return;
    struct trace *t = tracing.now;
    if (t->block_count == TRACE_BLOCKS) return;
    w->slow |= SLOW_RECORDER;
    block_index(w, t->blocks[t->block_count++]);
    tracing.running = w;
}

/* Whether a warp of the block has synchronized, or a thread fenced, since the last barrier. */
static bool any_step(const struct watch *w) {
    epoch met = 0;
    for (unsigned i = 0; i < w->launch->block_threads; ++i) met |= w->epochs.thread[i];
    return met & EPOCH_STEP_MASK;
}

static void trace_barrier_opens(struct watch *w) {
    struct trace_barrier ended = {
        .code = w->arrived[0].code, .interval = interval_of(w), .returned = w->epochs.returned};
    if (w != tracing.running) return;
    struct trace *t = tracing.now;
    ended.block = (uint8_t)(t->block_count - 1);
    complete_store();
    if (any_step(w)) t->plain = false;
    memcpy(ended.at, w->arrived, sizeof ended.at);
    struct trace_barrier *list = room_for_one(t->barrier, t->barrier_count, sizeof ended);
    if (!list) return;
    t->barrier = list;
    list[t->barrier_count++] = ended;
}

static void trace_block_ended(struct watch *w) {
    if (w != tracing.running) return;
    complete_store();
    if (any_step(w)) tracing.now->plain = false;
    tracing.running = NULL;
}

/* --- launches --------------------------------------------------------------------------------- */

/* Where the launch with this number is kept; null: it is not. */
static struct trace *slot_for(uint64_t number) {
    const int room = tracing.one ? 1 : TRACE_LAUNCHES;
    const bool found = trace_shown()->block_count != 0;
    const bool wanted = tracing.shown ? number == tracing.shown : !found;
    if (!wanted && (tracing.one || tracing.count == room)) return NULL;
    if (tracing.count < room) return &tracing.kept[tracing.count++];
    struct trace *last = &tracing.kept[room - 1]; /* for which there is no use makes room */
    tracing.elements -= last->count + last->barrier_count;
    free(last->access);
    free(last->barrier);
    return last;
}

static void trace_launch_begins(const struct launch *launch) {
    const struct uint3 g = launch->grid, b = launch->block;
    const uint64_t number = launches_noted();
    if (!(tracing.now = slot_for(number))) return;
    *tracing.now = (struct trace){.launch = number,
                                  .kernel = launch->kernel,
                                  .grid = {g.x, g.y, g.z},
                                  .block = {b.x, b.y, b.z},
                                  .complete = true,
                                  .plain = true};
}

static void trace_launch_ended(const struct launch *launch) {
    struct trace *t = tracing.now;
    if (!t) return;
    if (tracing.running) { /* its block did not come to its end */
        t->stopped = true;
        t->returned = tracing.running->epochs.returned;
        memcpy(t->waiting, tracing.running->arrived, sizeof t->waiting);
        tracing.storing = false;
        tracing.running = NULL;
    }
    t->ended = launch->blocks_ended == launch->blocks;
    tracing.now = NULL;
}

void trace_watch(uint64_t launch, const unsigned *block) {
    static const struct detector recorder = {.block_comes = trace_block_comes,
                                             .accessed = trace_accessed,
                                             .barrier_opens = trace_barrier_opens,
                                             .block_ended = trace_block_ended,
                                             .launch_begins = trace_launch_begins,
                                             .launch_ended = trace_launch_ended};
    tracing.shown = launch;
    tracing.one = block;
    if (block) memcpy(tracing.block, block, sizeof tracing.block);
    detector_attach(&recorder);
}
