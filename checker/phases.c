/* The tile phases of one block: which elements of A and B it loads between two barriers, and what
 * its shared arrays hold afterwards. counts.c passes on the accesses of that block alone. */
#include "counts.h"
#include "watch.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 16 }; /* of one phase */

/* Whose phases are kept, and what is being collected. */
static struct {
    bool wanted, kept;
    const void *kernel;
    struct phases phases;
    struct phase now;
    size_t load_room;
    int *
        writer; /* of each word of shared memory: the thread that stored it in this phase, plus 1 */
    size_t words;
} state;

static void *room_for(size_t count, size_t size) {
    void *made = calloc(count ? count : 1, size);
    if (!made) {
        fprintf(stderr, "out of memory while keeping tile phases\n");
        abort();
    }
    return made;
}

void checker_watch_phases(unsigned x, unsigned y, int m, int n, int k) {
    checker_count();
    state.wanted = true;
    state.phases = (struct phases){.block = {x, y, 0}, .m = m, .n = n, .k = k};
    state.phases.first_a = room_for((size_t)m * (size_t)k, sizeof(int));
    state.phases.first_b = room_for((size_t)k * (size_t)n, sizeof(int));
    state.phases.stored = room_for((size_t)m * (size_t)n, sizeof(bool));
}

const struct phases *checker_phases(void) {
    if (!state.kept) return NULL;
    counts_kernel_name(state.kernel, state.phases.kernel, sizeof state.phases.kernel);
    return &state.phases;
}

/* --- accesses --------------------------------------------------------------------------------- */

static void note_load(const struct region *r, int matrix, size_t word) {
    struct phase *now = &state.now;
    int *first = matrix ? state.phases.first_b : state.phases.first_a;
    if (!first[word]) first[word] = state.phases.count + 1;
    if (now->load_count == state.load_room) {
        state.load_room = state.load_room ? 2 * state.load_room : 256;
        now->loads = realloc(now->loads, state.load_room * sizeof *now->loads);
        if (!now->loads) abort();
    }
    now->loads[now->load_count++] = (struct phase_access){.thread = running_index.linear,
                                                          .matrix = matrix,
                                                          .row = (int)(word / (size_t)r->cols),
                                                          .col = (int)(word % (size_t)r->cols)};
    state.kept = true;
}

static void note_global(const struct access *access) {
    const struct region *r = global_find(access->address);
    if (!r || !r->name) return;
    size_t word = (access->address - r->begin) / WORD;
    size_t end = (access->address + access->size - 1 - r->begin) / WORD + 1;
    for (; word < end && word < r->bytes / WORD; ++word) {
        if (r->name[0] == 'C')
            state.phases.stored[word] |= access->write;
        else if (!access->write)
            note_load(r, r->name[0] == 'B', word);
    }
}

void phases_access(struct watch *w, const struct access *access) {
    size_t word = (access->address - w->shared_begin) / WORD;
    size_t end = (access->address + access->size - 1 - w->shared_begin) / WORD + 1;
    if (access->address - w->shared_begin >= w->all_words * WORD) {
        note_global(access);
        return;
    }
    for (; word < end && word < state.words && access->write; ++word)
        state.writer[word] = (int)running_index.linear + 1;
}

/* --- the end of a phase ------------------------------------------------------------------------
 */

static void set_dimensions(struct phase_array *array, const struct shared_name *name) {
    array->dimensions = name->dimensions;
    memcpy(array->dimension, name->dimension, sizeof name->dimension);
    if (name->element > WORD) array->dimension[array->dimensions++] = name->element / WORD;
    size_t count = 1;
    for (int i = 0; i < array->dimensions; ++i) count *= array->dimension[i];
    if (array->dimensions && count == array->count) return;
    array->dimensions = 1;
    array->dimension[0] = array->count;
}

/* The words of shared memory from `first` on become an array of the phase, with their values. */
static void keep_array(const struct watch *w, const char *name, size_t first, size_t count,
                       const struct shared_name *shape) {
    struct phase *now = &state.now;
    if (!now->arrays) now->arrays = room_for(MOST_ARRAYS, sizeof *now->arrays);
    if (now->array_count == MOST_ARRAYS) return;
    struct phase_array *array = &now->arrays[now->array_count++];
    snprintf(array->name, sizeof array->name, "%s", name);
    array->count = count;
    array->values = room_for(count, sizeof *array->values);
    array->writer = room_for(count, sizeof *array->writer);
    memcpy(array->values, (const char *)w->shared_begin + first * WORD, count * WORD);
    for (size_t i = 0; i < count; ++i) array->writer[i] = state.writer[first + i] - 1;
    if (shape) {
        set_dimensions(array, shape);
    } else {
        array->dimensions = 1;
        array->dimension[0] = count;
    }
}

/* The array that holds this word; returns the word behind it. */
static size_t keep_array_at(const struct watch *w, size_t word) {
    uintptr_t storage = (uintptr_t)w->memory.thread_local_storage.begin;
    size_t dynamic = (w->launch->shared_bytes + WORD - 1) / WORD;
    struct shared_name name;
    if (word - w->dynamic_first < dynamic) {
        keep_array(w, name_of_dynamic(), w->dynamic_first, dynamic, NULL);
        return w->dynamic_first + dynamic;
    }
    if (!name_find(w->shared_begin + word * WORD - storage, &name)) return word + 1;
    size_t first = (storage + name.offset - w->shared_begin) / WORD;
    size_t count = (name.bytes + WORD - 1) / WORD;
    keep_array(w, name.name, first, count, &name);
    return first + count;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct phase_array *)a)->name, ((const struct phase_array *)b)->name);
}

static void end_phase(const struct watch *w) {
    struct phases *p = &state.phases;
    for (size_t word = 0; word < state.words;)
        word = state.writer[word] ? keep_array_at(w, word) : word + 1;
    qsort(state.now.arrays, (size_t)state.now.array_count, sizeof *state.now.arrays, by_name);
    p->phases = realloc(p->phases, (size_t)(p->count + 1) * sizeof *p->phases);
    if (!p->phases) abort();
    p->phases[p->count++] = state.now;
    state.now = (struct phase){0};
    state.load_room = 0;
}

void phases_interval_ends(struct watch *w) {
    if (state.now.load_count) end_phase(w);
    memset(state.writer, 0, state.words * sizeof *state.writer);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct watch *w) {
    const struct uint3 *grid = &w->launch->grid;
    const unsigned *block = state.phases.block;
    if (!state.wanted || state.kept || block[0] >= grid->x || block[1] >= grid->y) return false;
    return w->block == block[0] + (uint64_t)grid->x * block[1];
}

void phases_block_begins(struct watch *w) {
    struct phases *p = &state.phases;
    w->phases = is_wanted(w);
    if (!w->phases) return;
    const struct launch *launch = w->launch;
    const struct counted_launch *before;
    p->launch = checker_counted(&before);
    state.kernel = launch->kernel;
    memcpy(p->grid, (unsigned[]){launch->grid.x, launch->grid.y, launch->grid.z}, sizeof p->grid);
    memcpy(p->block_size, (unsigned[]){launch->block.x, launch->block.y, launch->block.z},
           sizeof p->block_size);
    state.words = w->all_words;
    if (!state.writer) state.writer = room_for(state.words, sizeof *state.writer);
    memset(state.writer, 0, state.words * sizeof *state.writer);
    memset(p->stored, 0, (size_t)p->m * (size_t)p->n);
}

void phases_block_ended(struct watch *w) {
    phases_interval_ends(w);
    state.phases.finished = true;
    w->phases = false;
}
