/* The phases of one block: which elements of inputs it loads between two barriers, and what
 * its shared arrays hold afterwards. */
#include "../detector.h"
#include "../launches.h"
#include "../machine.h"
#include "../shadow/shadow.h"
#include "record.h"
#include <stdlib.h>
#include <string.h>

static struct {
    unsigned block[2];
    uint64_t shown; /* the launch that was asked for; 0: the first one that loads an input */
    const struct watch *running; /* over the block, while it runs */
    const void *kernel;
    struct phases phases;       /* of the last launch that was looked at */
    struct phase now;           /* being collected */
    struct trace arrays;        /* of it, the shared arrays alone */
    bool written[TRACE_ARRAYS]; /* of these: in this phase */
} state;

static void *kept_zeros(size_t count, size_t size) {
    return machine_memory(calloc(count ? count : 1, size));
}

/* Whether the block has loaded an input, so that there are phases. */
static bool any_load(void) { return state.phases.count || state.now.load_count; }

const struct phases *phases_shown(void) {
    struct phases *p = &state.phases;
    if (!any_load()) return NULL;
    launches_kernel_name(state.kernel, p->kernel, sizeof p->kernel);
    p->many = launches_noted();
    return p;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* The list has room for a power of two. */
static void note_load(int array, size_t element) {
    struct phase *now = &state.now;
    int *first = &state.phases.first[array][element];
    const size_t count = now->load_count++;
    if (!*first) *first = state.phases.count + 1;
    if (!(count & (count - 1)))
        now->loads =
            machine_memory(realloc(now->loads, (count ? 2 * count : 1) * sizeof *now->loads));
    now->loads[count] = (struct phase_load){array, element};
}

static size_t elements_of(int array) {
    return array < TRACE_SHARED ? array_elements(region_array(array))
                                : trace_shared(&state.arrays, array)->elements;
}

static void note_element(int array, size_t element, bool write) {
    bool *stored = array < TRACE_SHARED ? state.phases.stored[array] : NULL;
    state.written[array] |= write;
    if (array >= TRACE_SHARED) return;
    if (stored)
        stored[element] |= write;
    else if (!write)
        note_load(array, element);
}

static void note_access(struct watch *w, const struct access *access) {
    struct trace_access a;
    if (w != state.running || !trace_find(&state.arrays, w, access, &a)) return;
    for (int64_t i = a.offset; i < a.offset + a.elements; ++i)
        if (i >= 0 && (size_t)i < elements_of(a.array))
            note_element(a.array, (size_t)i, access->write);
}

/* A copy stores when it arrives. */
static void note_unless_copying(struct watch *w, const struct access *access) {
    if (!access->copying) note_access(w, access);
}

/* With its values, if anything was stored there. */
static void keep_array(const struct watch *w, int number) {
    const struct trace_array *of = trace_shared(&state.arrays, number);
    struct phase_array *array = &state.now.arrays[state.now.array_count];
    if (!state.written[number]) return;
    *array = (struct phase_array){.dimensions = of->dimensions,
                                  .element = of->element,
                                  .count = of->elements,
                                  .size = of->elements * element_type_bytes(of->element)};
    memcpy(array->name, of->name, sizeof array->name);
    memcpy(array->dimension, of->dimension, sizeof of->dimension);
    if (!array->dimensions) array->dimension[array->dimensions++] = of->elements;
    array->bytes = kept_zeros(array->size, 1);
    memcpy(array->bytes, (char *)w->memory.thread_local_storage.begin + of->offset, array->size);
    state.now.array_count++;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct phase_array *)a)->name, ((const struct phase_array *)b)->name);
}

static void end_phase(const struct watch *w) {
    struct phases *p = &state.phases;
    state.now.arrays = kept_zeros((size_t)state.arrays.shared_count, sizeof *state.now.arrays);
    for (int i = 0; i < state.arrays.shared_count; ++i) keep_array(w, TRACE_SHARED + i);
    qsort(state.now.arrays, (size_t)state.now.array_count, sizeof *state.now.arrays, by_name);
    p->phases = machine_memory(realloc(p->phases, (size_t)(p->count + 1) * sizeof *p->phases));
    p->phases[p->count++] = state.now;
    state.now = (struct phase){0};
}

static void phases_barrier_opens(struct watch *w) {
    if (w != state.running) return;
    if (state.now.load_count) end_phase(w);
    memset(state.written, 0, sizeof state.written);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct watch *w) {
    const struct uint3 *grid = &w->launch->grid;
    const unsigned x = state.block[0], y = state.block[1];
    if (state.shown ? launches_noted() != state.shown : any_load()) return false;
    return x < grid->x && y < grid->y && w->epochs.block == x + (uint64_t)grid->x * y;
}

/* For each element of an array, zero. */
static void make_arrays(struct phases *p) {
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        free(p->first[i]);
        free(p->stored[i]);
        const size_t count = r ? array_elements(r->array) : 0;
        p->first[i] = r && region_is_input(r) ? kept_zeros(count, sizeof *p->first[i]) : NULL;
        p->stored[i] = r && !region_is_input(r) ? kept_zeros(count, sizeof *p->stored[i]) : NULL;
    }
    memset(state.written, 0, sizeof state.written);
    state.arrays = (struct trace){.shared_count = 0};
}

/* Of launches before this one nothing is kept: they have loaded no input. */
static void phases_block_comes(struct watch *w) {
    const struct launch *l = w->launch;
    struct phases *p = &state.phases;
    w->slow |= SLOW_RECORDER;
    if (w == state.running) state.running = NULL; /* it was stopped */
    if (!is_wanted(w)) return;
    state.running = w;
    state.kernel = l->kernel;
    make_arrays(p);
    memcpy(p->block_size, (unsigned[]){l->block.x, l->block.y, l->block.z}, sizeof p->block_size);
    memcpy(p->block, state.block, sizeof state.block);
    p->number = launches_noted();
}

static void phases_block_ended(struct watch *w) {
    phases_barrier_opens(w);
    if (w == state.running) state.running = NULL;
}

void phases_watch(const unsigned block[2], uint64_t launch) {
    static const struct detector recorder = {.block_comes = phases_block_comes,
                                             .accessed = note_unless_copying,
                                             .copy_arrived = note_access,
                                             .barrier_opens = phases_barrier_opens,
                                             .block_ended = phases_block_ended};
    memcpy(state.block, block, sizeof state.block);
    state.shown = launch;
    detector_attach(&recorder);
}
