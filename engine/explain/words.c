/* What a finding says: one function for each kind whose words depend on the event. What depends on
 * the kind alone is in findings.def. */
#define _GNU_SOURCE
#include "words.h"
#include "../cuda/program/names.h"
#include "../report/text.h"
#include "allocation.h"
#include "barrier_lines.h"
#include "element.h"
#include "say.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *load_or_store(const struct event *e) { return e->write ? "store" : "load"; }

/* --- races on global memory ------------------------------------------------------------------- */

static void say_global_race(struct diagnosis *d) {
    const struct finding *f = d->f;
    bool blocks = d->e->block != d->e->other_block;
    WHAT("race %s on %s", blocks ? "between blocks" : "between threads",
         f->variable[0] ? f->variable : "global memory");
    if (blocks)
        DETAIL("thread %s of block %s %s %s, thread %s of block %s %s it%s", AT,
               block_of(d->e, &f->at).text, verb(&f->at), ELEMENT, OTHER,
               block_of(d->e, &f->other).text, verb(&f->other), at_place(&f->other).text);
    else
        DETAIL("thread %s %s %s, thread %s of the same block %s it%s", AT, verb(&f->at), ELEMENT,
               OTHER, verb(&f->other), at_place(&f->other).text);
    if (d->e->synchronises || d->e->atomic || d->e->other_atomic)
        HINT("an atomic operation or a flag orders only accesses to its own address; it orders "
             "others with a __threadfence() before it in the one thread, and one behind it in the "
             "other");
    else if (blocks)
        HINT("blocks run in any order, and no barrier synchronises them: which block does %s "
             "belong to?",
             ELEMENT);
    else
        HINT("which thread does %s belong to?", ELEMENT);
}

/* --- out of bounds ---------------------------------------------------------------------------- */

/* An index that was computed in an int, and did not fit, is wrong by 2^32: exactly that far from
 * the address is an element of an array. Or so many bytes, where the offset was computed in bytes.
 */
static void say_overflow(struct diagnosis *d) {
    const uint64_t wrap = UINT64_C(1) << 32;
    for (const struct region *r = region_first(); r; r = r->next) {
        if (!r->array || r->freed) continue;
        if (d->e->address + wrap * array_element_bytes(r->array) - r->begin < r->bytes)
            DETAIL("\nthe index into %s is 2^32 elements too small", r->array->name);
        else if (d->e->address + wrap - r->begin < r->bytes)
            DETAIL("\nthe offset into %s is 2^32 bytes too small", r->array->name);
        else
            continue;
        HINT("an int holds no number above 2^31 - 1: was this one computed in an int?");
        return;
    }
}

/* How large an allocation with a name is. */
static void say_size(struct diagnosis *d, const struct region *r) {
    struct allocation_name name;
    if (!d->f->variable[0] || !allocation_name(r, &name)) return;
    const size_t size = name.element ? name.element : 1, count = r->bytes / size;
    DETAIL(", but %s has %zu %s%s", name.text, count, name.element ? "element" : "byte",
           plural(count));
}

static void say_outside_of_arrays(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct region *r = element_region(e);
    long after = r ? (long)(e->address - (r->begin + r->bytes)) : 0;
    const long far = 1l << 36;
    WHAT("out-of-bounds %s: the address is in no allocation", load_or_store(e));
    if (e->address < 4096) {
        DETAIL("thread %s dereferences a null pointer", AT);
        HINT("where did this pointer get its value?");
    } else if (!r || labs(after) > far) {
        DETAIL("thread %s %s address %#lx, far from every allocation", AT, verb(&d->f->at),
               (unsigned long)e->address);
        say_overflow(d);
        if (!d->f->hint[0]) HINT("is the index negative, or of a type that is too small?");
    } else {
        DETAIL("thread %s %s %s", AT, verb(&d->f->at), ELEMENT);
        say_size(d, r);
    }
}

/* A 16-bit index that goes on after 32767 is -32768: as a row, or as an element. */
static void ask_about_short(struct diagnosis *d, int64_t linear) {
    enum { FIRST = -32768 };
    const struct engine_array *array = d->region->array;
    const int64_t rows = array->extent[0], elements = (int64_t)array_elements(array);
    const bool row =
        array->dimensions > 1 && rows > -FIRST && linear / array_stride(array, 0) >= FIRST;
    const bool element = elements > -FIRST && linear >= FIRST;
    if (row || element)
        HINT("is an index of a 16-bit type? After 32767 a short is -32768, and %s has %" PRId64
             " %s",
             array->name, row ? rows : elements, row ? "rows" : "elements");
}

/* "C has 4 rows and 8 columns" */
static void say_extents(struct diagnosis *d, const struct engine_array *array) {
    const int64_t *extent = array->extent;
    if (array->dimensions == 1)
        DETAIL("%s has %" PRId64 " element%s", array->name, extent[0], plural((uint64_t)extent[0]));
    else if (array->dimensions == 2)
        DETAIL("%s has %" PRId64 " row%s and %" PRId64 " column%s", array->name, extent[0],
               plural((uint64_t)extent[0]), extent[1], plural((uint64_t)extent[1]));
    else
        DETAIL("%s has %" PRId64 " x %" PRId64 " x %" PRId64 " elements", array->name, extent[0],
               extent[1], extent[2]);
}

/* Whether the thread meant an element beyond the last one of a row. */
static bool is_beyond_last_column(const struct diagnosis *d) {
    const struct engine_array *array = d->region->array;
    struct element_at at;
    return array->dimensions > 1 && element_intended(&at, d, &d->f->at) &&
           at.index[0] < array->extent[0] &&
           at.index[array->dimensions - 1] >= array_columns(array);
}

/* The element whose address it is, if the array has that. */
static void say_next_row(struct diagnosis *d, int64_t linear) {
    const struct engine_array *array = d->region->array;
    struct element_at at;
    char element[160];
    if (linear >= (int64_t)array_elements(array)) return;
    array_index(array, linear, at.index);
    element_write(element, sizeof element, array, &at);
    DETAIL("\nat the address of %s, in the next row", element);
}

static void say_out_of_bounds(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct region *r = d->region;
    if (!r) {
        say_outside_of_arrays(d);
        return;
    }
    const struct engine_array *array = r->array;
    const char *name = array->name;
    const bool before = e->address < r->begin;
    const int64_t linear = (int64_t)(e->address - r->begin) / (int64_t)array_element_bytes(array);
    const bool column = is_beyond_last_column(d);
    const bool reaches_out = !before && linear < (int64_t)array_elements(array) && !column;
    WHAT("%s %s %s", e->write ? "store to" : "load from", name,
         before                                  ? "before its beginning"
         : column                                ? "beyond its last column"
         : reaches_out || array->dimensions != 2 ? "beyond its end"
                                                 : "beyond its last row");
    DETAIL("thread %s %s ", AT, verb(&d->f->at));
    if (reaches_out) DETAIL("%u bytes from %s on, ", e->size, ELEMENT);
    if (!reaches_out) DETAIL("%s, ", ELEMENT);
    DETAIL("but ");
    say_extents(d, array);
    if (column) say_next_row(d, linear);
    if (before) say_overflow(d);
    if (before && !d->f->hint[0]) ask_about_short(d, linear);
    if (d->f->hint[0]) return;
    if (e->write)
        HINT("blocks at the edge have threads that have no element of %s", name);
    else
        HINT("blocks and tiles at the edge of %s have threads that have no element of it to load",
             name);
}

static void say_bad_index(struct diagnosis *d) {
    const struct event *e = d->e;
    bool local = e->kind == FINDING_LOCAL_OUT_OF_BOUNDS;
    if (!e->has_index) {
        WHAT("a pointer or an index leaves a local array");
        DETAIL("thread %s", AT);
        HINT("%s", finding_text(FINDING_LOCAL_OUT_OF_BOUNDS)->hint);
        return;
    }
    const char *open = strchr(e->array_type, '[');
    long count = open ? strtol(open + 1, NULL, 10) : 0;
    WHAT("index %ld of a %s array that has 0 to %ld", e->index, local ? "local" : "shared",
         count - 1);
    if (local || !ELEMENT[0])
        DETAIL("thread %s, in an array of type %s", AT, e->array_type);
    else
        DETAIL("thread %s %s %s, which %s", AT, verb(&d->f->at), ELEMENT,
               d->other_row ? "is in another row of it" : "is not in it");
    HINT("%s", finding_text(FINDING_LOCAL_OUT_OF_BOUNDS)->hint);
}

static void say_shared_bounds(struct diagnosis *d) {
    const struct event *e = d->e;
    if (e->has_index) {
        say_bad_index(d);
        return;
    }
    if (!element_is_dynamic(e)) {
        WHAT("%s outside a shared array", load_or_store(e));
        DETAIL("thread %s %s %s, which is not in it", AT, verb(&d->f->at), ELEMENT);
        return;
    }
    WHAT("%s outside dynamic shared memory", load_or_store(e));
    DETAIL("thread %s %s %s, but the launch asked for %zu bytes, %zu floats", AT, verb(&d->f->at),
           ELEMENT, e->dynamic_bytes, e->dynamic_bytes / WORD);
    HINT("the third value in <<<...>>> is the number of bytes that a block gets");
}

/* --- values and pointers ---------------------------------------------------------------------- */

/* "A_s" of A_s[3][7]; "buffers[1]" of buffers[1][3][7]: what uninitialized.c looks at. */
static struct phrase table_of(const char *element) {
    struct phrase p;
    const char *last = strrchr(element, '['), *row = NULL;
    for (const char *at = element; last && at < last; ++at)
        if (*at == '[') row = at;
    if (row) last = row;
    snprintf(p.text, sizeof p.text, "%.*s", last ? (int)(last - element) : 0, element);
    return p;
}

static void say_unstored(struct diagnosis *d, const char *table) {
    const struct unstored *u = &d->e->unstored;
    const bool row = strchr(ELEMENT + strlen(table) + 1, '[') != NULL, one = u->first == u->last;
    const char *what = u->what == UNSTORED_COLUMNS ? "column" : row ? "row" : "element";
    switch (u->what) {
    case UNSTORED_UNKNOWN: break;
    case UNSTORED_ALL:
        DETAIL("\nno thread of the block has stored any element of %s", table);
        break;
    case UNSTORED_ROWS:
    case UNSTORED_COLUMNS:
        if (one)
            DETAIL("\n%s %zu of %s has not been stored", what, u->first, table);
        else
            DETAIL("\n%ss %zu to %zu of %s have not been stored", what, u->first, u->last, table);
        break;
    case UNSTORED_SOME:
        DETAIL("\n%zu of the %zu elements of %s %s not been stored", u->first, u->last, table,
               u->first == 1 ? "has" : "have");
    }
}

static void say_uninitialised_shared(struct diagnosis *d) {
    DETAIL("thread %s reads %s, which no thread has written", AT, ELEMENT);
    if (strchr(ELEMENT, '[')) say_unstored(d, table_of(ELEMENT).text);
}

static void say_uninitialised_global(struct diagnosis *d) {
    const char *name = d->f->variable[0] ? d->f->variable : "memory from cudaMalloc";
    WHAT("%s is read before it is written", name);
    DETAIL("thread %s %s %s, which holds no value yet", AT, d->e->atomic ? "adds to" : "reads",
           ELEMENT);
    HINT("what does %s hold before the kernel runs?", name);
}

static void say_input_written(struct diagnosis *d) {
    WHAT("%s is written, although it is an input", d->f->variable);
    if (d->e->in_kernel)
        DETAIL("thread %s writes %s", AT, ELEMENT);
    else
        DETAIL("a copy or cudaMemset writes it, from %s on", ELEMENT);
}

static void say_freed(struct diagnosis *d) {
    if (d->e->in_kernel) DETAIL("thread %s %s it", AT, verb(&d->f->at));
}

static void say_device_pointer(struct diagnosis *d) {
    DETAIL("it %s %s, which is in the GPU's memory", verb(&d->f->at),
           ELEMENT[0] ? ELEMENT : "an address");
}

static void say_device_variable(struct diagnosis *d) {
    DETAIL("on a GPU it would read another copy, which no kernel writes");
}

static void say_host_pointer(struct diagnosis *d) {
    DETAIL("thread %s %s memory of the host", AT, verb(&d->f->at));
}

/* Where an element is in an array with rows of `cols` floats that begins at a multiple of the
 * vector's size: whether it is the row that begins elsewhere, or the column. */
static void say_alignment(struct diagnosis *d, const char *name, size_t element, size_t cols) {
    const size_t floats = d->e->size / WORD, row = element / cols, col = element % cols;
    if (row * cols % floats)
        DETAIL("\nrow %zu of %s begins at element %zu, which is not a multiple of %zu: %s has %zu "
               "column%s",
               row, name, row * cols, floats, name, cols, plural(cols));
    else if (col % floats)
        DETAIL("\nrow %zu of %s begins at a multiple of %zu, column %zu is none", row, name, floats,
               col);
}

static void say_why_misaligned(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct region *r = d->region;
    struct shared_name name;
    if (e->size < 2 * WORD || e->address % WORD) return;
    if (e->in_shared && !element_is_dynamic(e) && name_find(e->shared_offset, &name)) {
        const size_t offset = e->shared_offset - name.offset;
        if (name.element == WORD && name.dimensions > 1 && (e->address - offset) % e->size == 0)
            say_alignment(d, name.name, offset / WORD, name.dimension[name.dimensions - 1]);
    } else if (r && e->address - r->begin < r->bytes && r->begin % e->size == 0) {
        say_alignment(d, r->array->name, (e->address - r->begin) / WORD,
                      (size_t)array_columns(r->array) * array_element_bytes(r->array) / WORD);
    }
}

static void say_misaligned(struct diagnosis *d) {
    const unsigned size = d->e->size ? d->e->size : 16;
    WHAT("misaligned %s of %u bytes", load_or_store(d->e), size);
    DETAIL("thread %s %s %u bytes from %s on, an address that is not a multiple of %u", AT,
           verb(&d->f->at), size, ELEMENT[0] ? ELEMENT : "there", size);
    say_why_misaligned(d);
}

/* --- the launch and the wrapper --------------------------------------------------------------- */

static void say_bad_launch(struct diagnosis *d) {
    DETAIL("%s\n%s", d->e->text,
           d->e->checked ? "the wrapper called cudaGetLastError() and went on"
                         : "the error was not checked: call cudaGetLastError() after the launch");
    HINT("%s", d->e->hint);
}

static void say_failed_call(struct diagnosis *d) {
    const char *called = d->e->place.called;
    WHAT("%s failed: %s", called[0] ? called : "a call of the CUDA runtime", d->e->text);
    DETAIL(d->e->forgotten ? "the wrapper called cudaGetLastError() and went on"
                           : "and the error was still pending when the wrapper returned");
}

static void say_leak(struct diagnosis *d) {
    DETAIL("%u allocation%s, %zu bytes in all; the first was made here", d->e->count,
           plural(d->e->count), d->e->bytes);
}

/* In the runtime's words. */
static void say_fault(struct diagnosis *d) {
    WHAT("%s", d->e->text);
    if (d->e->in_kernel) DETAIL("thread %s", AT);
}

static void say_host_function(struct diagnosis *d) {
    WHAT("a kernel calls %s, a host function", d->e->text);
    DETAIL("thread %s", AT);
}

static void ask_about_blocks(struct diagnosis *d, const struct engine_array *output) {
    HINT("%s is ", output->name);
    for (int i = 0; i < output->dimensions; ++i)
        HINT(i ? " x %" PRId64 : "%" PRId64, output->extent[i]);
    HINT("%s: how many blocks does it need?", output->dimensions == 1 ? " elements long" : "");
}

/* Blocks that end are no endless loop: what takes the time is their number, or what each does. */
static void say_time_limit(struct diagnosis *d) {
    const struct region *output = region_output();
    const struct uint3 *grid = &d->e->grid_size, *block = &d->e->block_size;
    uint64_t blocks = (uint64_t)grid->x * grid->y * grid->z;
    uint64_t threads = blocks * block->x * block->y * block->z;
    WHAT("%s", d->e->text);
    if (d->e->in_kernel) DETAIL("thread %s was running here\n", AT);
    DETAIL("grid %u x %u x %u, block %u x %u x %u", grid->x, grid->y, grid->z, block->x, block->y,
           block->z);
    if (output && threads / 4 > array_elements(output->array))
        ask_about_blocks(d, output->array);
    else
        HINT("what does each thread compute more than once?");
}

static void say_foreign_local(struct diagnosis *d) {
    DETAIL("thread %s %s a local variable that is not its own; on a GPU, each thread finds its own "
           "at that address",
           AT, verb(&d->f->at));
}

static void say_tampering(struct diagnosis *d) {
    DETAIL("the address belongs to a variable that is not kernel.cu's");
}

/* --- all of them ------------------------------------------------------------------------------ */

static void (*const say_kind[FINDING_KINDS])(struct diagnosis *d) = {
    [FINDING_SHARED_RACE] = say_shared_race,
    [FINDING_GLOBAL_RACE] = say_global_race,
    [FINDING_DIVERGENT_BARRIER] = say_divergent_barrier,
    [FINDING_EARLY_RETURN] = say_early_return,
    [FINDING_OUT_OF_BOUNDS] = say_out_of_bounds,
    [FINDING_SHARED_OUT_OF_BOUNDS] = say_shared_bounds,
    [FINDING_LOCAL_OUT_OF_BOUNDS] = say_bad_index,
    [FINDING_FOREIGN_LOCAL] = say_foreign_local,
    [FINDING_UNINITIALISED_SHARED] = say_uninitialised_shared,
    [FINDING_UNINITIALISED_GLOBAL] = say_uninitialised_global,
    [FINDING_INPUT_WRITTEN] = say_input_written,
    [FINDING_FREED_MEMORY] = say_freed,
    [FINDING_DEVICE_POINTER_ON_HOST] = say_device_pointer,
    [FINDING_DEVICE_VARIABLE_ON_HOST] = say_device_variable,
    [FINDING_HOST_POINTER_ON_DEVICE] = say_host_pointer,
    [FINDING_HOST_FUNCTION] = say_host_function,
    [FINDING_MISALIGNED] = say_misaligned,
    [FINDING_BAD_LAUNCH] = say_bad_launch,
    [FINDING_FAILED_CALL] = say_failed_call,
    [FINDING_LEAK] = say_leak,
    [FINDING_ENDLESS] = say_endless,
    [FINDING_TIME_LIMIT] = say_time_limit,
    [FINDING_DEADLOCK] = say_deadlock,
    [FINDING_KERNEL_FAULT] = say_fault,
    [FINDING_HOST_FAULT] = say_fault,
    [FINDING_TAMPERING] = say_tampering,
};

void words_say(struct diagnosis *d) {
    const struct finding_kind_text *text = finding_text(d->f->kind);
    if (say_kind[d->f->kind]) say_kind[d->f->kind](d);
    if (!d->f->what[0]) WHAT("%s", text->headline);
    if (!d->f->hint[0]) HINT("%s", text->hint);
}
