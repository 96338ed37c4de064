/* The phases of one block: which elements of inputs it loads between two barriers, and what
 * its shared arrays hold afterwards. */
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../launches.h"
#include "../machine.h"
#include "../shadow/regions.h"
#include "counts.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 16 }; /* of one phase */

static struct {
    const struct watch *running; /* over the block whose phases are kept, while it runs */
    struct phases kept[PHASES_LAUNCHES];
    const void *kernel[PHASES_LAUNCHES];
    int count;
    unsigned block[2];
    uint64_t shown;        /* the launch that was asked for; 0: the first that is kept */
    struct phases *phases; /* of the launch that runs; null: they are not kept */
    struct phase now;      /* being collected */
    size_t load_room;
    int *writer; /* of each word of shared memory: the thread that stored it last, plus 1 */
    size_t words;
} state;

static void *must_keep(void *made) {
    if (!made) machine_fault("out of memory while keeping phases");
    return made;
}

static void *kept_zeros(size_t count, size_t size) {
    return must_keep(calloc(count ? count : 1, size));
}

/* Whether the block has loaded an input, so that there are phases. */
static bool any_load(const struct phases *p) { return p->count || state.now.load_count; }

int phases_launches(const struct phases **launches) {
    const int count = state.count - (state.phases && !any_load(state.phases));
    for (int i = 0; i < count; ++i) {
        struct phases *p = &state.kept[i];
        launches_kernel_name(state.kernel[i], p->kernel, sizeof p->kernel);
        p->many = launches_noted();
    }
    *launches = state.kept;
    return count;
}

const struct phases *phases_shown(void) {
    const struct phases *launches;
    const int count = phases_launches(&launches);
    for (int i = 0; i < count; ++i)
        if (!state.shown || launches[i].number == state.shown) return &launches[i];
    return NULL;
}

/* --- accesses --------------------------------------------------------------------------------- */

static void note_load(int array, size_t element) {
    struct phase *now = &state.now;
    int *first = state.phases->first[array];
    if (!first[element]) first[element] = state.phases->count + 1;
    if (now->load_count == state.load_room) {
        state.load_room = state.load_room ? 2 * state.load_room : 256;
        now->loads = must_keep(realloc(now->loads, state.load_room * sizeof *now->loads));
    }
    now->loads[now->load_count++] = (struct phase_load){array, element};
}

/* -1: none of the run's. */
static int number_of(const struct region *r) {
    int number = ENGINE_ARRAYS - 1;
    while (number >= 0 && region_of_array(number) != r) --number;
    return number;
}

static void note_global(const struct access *access) {
    const struct region *r = region_find(access->address);
    const int array = r && r->array ? number_of(r) : -1;
    if (array < 0) return;
    const size_t bytes = array_element_bytes(r->array), all = array_elements(r->array);
    size_t element = (access->address - r->begin) / bytes;
    const size_t end = (access->address + access->size - 1 - r->begin) / bytes + 1;
    for (; element < end && element < all; ++element) {
        if (!region_is_input(r))
            state.phases->stored[array][element] |= access->write;
        else if (!access->write)
            note_load(array, element);
    }
}

static void note_access(struct watch *w, const struct access *access) {
    if (w != state.running) return;
    if (!watch_is_shared(w, access->address)) {
        note_global(access);
        return;
    }
    size_t word = watch_word(w, access->address);
    size_t end = watch_word(w, access->address + access->size - 1) + 1;
    for (; word < end && word < state.words && access->write; ++word)
        state.writer[word] = (int)running_index.linear + 1;
}

/* A copy stores when it arrives. */
static void note_unless_copying(struct watch *w, const struct access *access) {
    if (!access->copying) note_access(w, access);
}

/* --- the end of a phase ----------------------------------------------------------------------- */

/* An array of structures, or of what is not known, is one of words. */
static void set_shape(struct phase_array *array, const struct shared_name *name) {
    size_t count = 1, inner = 0;
    if (name && name->type != ELEMENT_BYTES) array->element = name->type;
    array->count = array->size / element_type_bytes(array->element);
    if (name && name->type == ELEMENT_BYTES) inner = name->element / WORD;
    array->dimensions = name ? name->dimensions : 0;
    if (name) memcpy(array->dimension, name->dimension, sizeof name->dimension);
    if (inner > 1) array->dimension[array->dimensions++] = inner;
    for (int i = 0; i < array->dimensions; ++i) count *= array->dimension[i];
    if (array->dimensions && count == array->count) return;
    array->dimensions = 1;
    array->dimension[0] = array->count;
}

/* So many bytes of shared memory from `begin` on become an array of the phase, with their values.
 */
static void keep_array(const struct watch *w, const char *name, uintptr_t begin, size_t bytes,
                       const struct shared_name *shape) {
    struct phase *now = &state.now;
    if (!now->arrays) now->arrays = kept_zeros(MOST_ARRAYS, sizeof *now->arrays);
    if (now->array_count == MOST_ARRAYS) return;
    struct phase_array *array = &now->arrays[now->array_count++];
    *array = (struct phase_array){.size = bytes, .element = ELEMENT_F32};
    snprintf(array->name, sizeof array->name, "%s", name);
    set_shape(array, shape);
    array->bytes = kept_zeros(bytes, 1);
    array->writer = kept_zeros(array->count, sizeof *array->writer);
    memcpy(array->bytes, (const void *)begin, bytes);
    const size_t size = element_type_bytes(array->element);
    for (size_t i = 0; i < array->count; ++i)
        array->writer[i] = state.writer[watch_word(w, begin + i * size)] - 1;
}

/* Of dynamic shared memory, whole words. */
static void keep_dynamic(const struct watch *w, size_t words) {
    const char *only = name_of_dynamic();
    keep_array(w, only ? only : "dynamic shared memory", w->shared_begin + w->dynamic_first * WORD,
               words * WORD, NULL);
}

/* The array that holds this word; returns the word behind it. */
static size_t keep_array_at(const struct watch *w, size_t word) {
    uintptr_t storage = (uintptr_t)w->memory.thread_local_storage.begin;
    size_t dynamic = (w->launch->shared_bytes + WORD - 1) / WORD;
    struct shared_name name;
    if (word - w->dynamic_first < dynamic) {
        keep_dynamic(w, dynamic);
        return w->dynamic_first + dynamic;
    }
    if (!name_find(w->shared_begin + word * WORD - storage, &name)) return word + 1;
    keep_array(w, name.name, storage + name.offset, name.bytes, &name);
    return watch_word(w, storage + name.offset + name.bytes - 1) + 1;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct phase_array *)a)->name, ((const struct phase_array *)b)->name);
}

static void end_phase(const struct watch *w) {
    struct phases *p = state.phases;
    for (size_t word = 0; word < state.words;)
        word = state.writer[word] ? keep_array_at(w, word) : word + 1;
    qsort(state.now.arrays, (size_t)state.now.array_count, sizeof *state.now.arrays, by_name);
    p->phases = must_keep(realloc(p->phases, (size_t)(p->count + 1) * sizeof *p->phases));
    p->phases[p->count++] = state.now;
    state.now = (struct phase){0};
    state.load_room = 0;
}

static void phases_barrier_opens(struct watch *w) {
    if (w != state.running) return;
    if (state.now.load_count) end_phase(w);
    memset(state.writer, 0, state.words * sizeof *state.writer);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct watch *w) {
    const struct uint3 *grid = &w->launch->grid;
    const unsigned *block = state.block;
    const bool room = state.count < PHASES_LAUNCHES || launches_noted() == state.shown;
    return room && block[0] < grid->x && block[1] < grid->y &&
           w->epochs.block == block[0] + (uint64_t)grid->x * block[1];
}

/* For each element of an array, zero. */
static void make_arrays(struct phases *p) {
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (!r) continue;
        if (region_is_input(r))
            p->first[i] = kept_zeros(array_elements(r->array), sizeof *p->first[i]);
        else
            p->stored[i] = kept_zeros(array_elements(r->array), sizeof *p->stored[i]);
    }
    free(state.writer);
    state.writer = kept_zeros(state.words, sizeof *state.writer);
}

/* The last launch that is kept makes room for another one. */
static void drop_last(void) {
    struct phases *p = &state.kept[--state.count];
    for (int i = 0; i < p->count; ++i) {
        for (int a = 0; a < p->phases[i].array_count; ++a) {
            free(p->phases[i].arrays[a].bytes);
            free(p->phases[i].arrays[a].writer);
        }
        free(p->phases[i].arrays);
        free(p->phases[i].loads);
    }
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        free(p->first[i]);
        free(p->stored[i]);
    }
    free(p->phases);
    *p = (struct phases){.number = 0};
}

static void phases_block_begins(struct watch *w) {
    const struct launch *l = w->launch;
    if (!is_wanted(w)) return;
    if (state.phases && !any_load(state.phases)) drop_last(); /* its block was stopped */
    if (state.count == PHASES_LAUNCHES) drop_last();
    state.now = (struct phase){0};
    state.load_room = 0;
    state.kernel[state.count] = l->kernel;
    struct phases *p = state.phases = &state.kept[state.count++];
    *p = (struct phases){.grid = {l->grid.x, l->grid.y, l->grid.z},
                         .block_size = {l->block.x, l->block.y, l->block.z},
                         .block = {state.block[0], state.block[1]},
                         .number = launches_noted()};
    state.running = w;
    state.words = w->all_words;
    make_arrays(p);
}

/* A launch in which it loads no input is none that anyone asks about. */
static void phases_block_ended(struct watch *w) {
    if (w != state.running) return;
    phases_barrier_opens(w);
    if (!any_load(state.phases)) drop_last();
    state.running = NULL;
    state.phases = NULL;
}

void phases_watch(unsigned x, unsigned y, uint64_t launch) {
    static const struct consumer keeping = {.access = note_unless_copying,
                                            .copy_arrived = note_access};
    static const struct detector beside = {.block_begins = phases_block_begins,
                                           .barrier_opens = phases_barrier_opens,
                                           .block_ended = phases_block_ended};
    state.block[0] = x;
    state.block[1] = y;
    state.shown = launch;
    watch_add_consumer(&keeping);
    detector_attach(&beside);
}
