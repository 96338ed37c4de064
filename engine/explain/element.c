/* Which element of which variable an address is: A_s[3][7], C[34][0]; also where it is none,
 * because the index is wrong. */
#define _GNU_SOURCE
#include "element.h"
#include "../cuda/program/extents.h"
#include "../cuda/program/names.h"
#include "../report/text.h"
#include "allocation.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool element_is_dynamic(const struct event *e) {
    return e->shared_offset - e->dynamic_offset < SHARED_PER_BLOCK_OPTIN &&
           (e->dynamic_bytes || name_has_dynamic());
}

static void name_dynamic(struct finding *f, const struct event *e) {
    size_t offset = e->shared_offset - e->dynamic_offset;
    const char *name = name_of_dynamic();
    snprintf(f->variable, sizeof f->variable, "%s", name ? name : "");
    if (name)
        snprintf(f->element, sizeof f->element, "%.60s[%zu]", name, offset / WORD);
    else
        snprintf(f->element, sizeof f->element, "byte %zu of dynamic shared memory", offset);
}

/* The element of a bad index: its row or column is the index itself, not where that leads. */
static void name_bad_element(struct finding *f, const struct event *e,
                             const struct shared_name *name) {
    long element = ((long)e->shared_offset - (long)name->offset) / (long)name->element;
    size_t behind = 1;
    int at = name->dimensions;
    for (const char *p = strchr(e->array_type, '['); p; p = strchr(p + 1, '[')) at--;
    for (int i = at + 1; i < name->dimensions; ++i) behind *= name->dimension[i];
    long inside = element - e->index * (long)behind; /* with the bad index as 0 */
    size_t row = behind * name->dimension[at];
    APPEND(f->element, "%s", name->name);
    for (int i = 0; i < name->dimensions; ++i) {
        size_t size = 1;
        for (int j = i + 1; j < name->dimensions; ++j) size *= name->dimension[j];
        long index = i == at  ? e->index
                     : i < at ? inside / (long)size % (long)name->dimension[i]
                              : inside % (long)row / (long)size % (long)name->dimension[i];
        APPEND(f->element, "[%ld]", index);
    }
}

static void name_static(struct finding *f, const struct event *e, const struct shared_name *name) {
    size_t offset = e->shared_offset - name->offset;
    size_t element = name->element ? offset / name->element : 0;
    snprintf(f->variable, sizeof f->variable, "%s", name->name);
    snprintf(f->element, sizeof f->element, "%s", name->name);
    if (!name->dimensions && name->bytes > WORD)
        APPEND(f->element, " (byte %zu of its %zu)", offset, name->bytes);
    name_append_indices(f->element, sizeof f->element, name->dimension, name->dimensions, element);
}

static void name_shared(struct diagnosis *d) {
    const struct event *e = d->e;
    struct finding *f = d->f;
    struct shared_name name, reached;
    if (!e->address) {
        if (name_any_ends_as(e->array_type, &name)) strcpy(f->variable, name.name);
    } else if (element_is_dynamic(e) && !e->has_index) {
        name_dynamic(f, e);
    } else if (e->has_index && name_of_index(e->shared_offset, e->array_type, e->index, &name)) {
        snprintf(f->variable, sizeof f->variable, "%s", name.name);
        name_bad_element(f, e, &name);
        d->other_row = name.dimensions > 1 && name_find(e->shared_offset, &reached) &&
                       reached.offset == name.offset;
    } else if (name_find(e->shared_offset, &name) || name_before(e->shared_offset, &name)) {
        name_static(f, e, &name);
    } else {
        snprintf(f->element, sizeof f->element, "shared memory");
    }
}

/* Which of the program's own allocations it is: by its name; or else by the line that made it. */
static void name_scratch(struct finding *f, const struct region *r, long offset) {
    struct allocation_name name;
    if (allocation_name(r, &name)) {
        snprintf(f->variable, sizeof f->variable, "%s", name.text);
        if (name.element)
            snprintf(f->element, sizeof f->element, "%s[%ld]", name.text,
                     (offset - (offset < 0 ? (long)name.element - 1 : 0)) / (long)name.element);
        else
            snprintf(f->element, sizeof f->element, "byte %ld of %s", offset, name.text);
        if (name.only) return;
        APPEND(f->element, " of %zu bytes", r->bytes);
        return;
    }
    struct place place = place_find(r->frames, r->frame_count);
    struct finding_party maker = party_at(&place);
    snprintf(f->element, sizeof f->element, "byte %ld of the %zu allocated", offset, r->bytes);
    APPEND(f->element, "%.80s", at_place(&maker).text);
}

/* A variable of kernel.cu's. */
static void name_variable(struct finding *f, const struct event *e) {
    struct shared_name name;
    if (!name_of_variable((const void *)e->address, &name)) return;
    snprintf(f->variable, sizeof f->variable, "%s", name.name);
    snprintf(f->element, sizeof f->element, "%s", name.name);
    if (name.bytes > WORD) APPEND(f->element, " (byte %zu of its %zu)", name.offset, name.bytes);
}

void element_write(char *text, size_t size, const struct engine_array *array,
                   const struct element_at *at) {
    snprintf(text, size, "%s", array->name);
    for (int i = 0; i < array->dimensions; ++i) append(text, size, "[%" PRId64 "]", at->index[i]);
}

/* Of the array's first element on; rounded down, before it too. */
static int64_t element_number(const struct diagnosis *d) {
    const int64_t bytes = (int64_t)array_element_bytes(d->region->array);
    const int64_t offset = (int64_t)(d->e->address - d->region->begin);
    return offset >= 0 ? offset / bytes : -((-offset + bytes - 1) / bytes);
}

/* It may be freed by now. */
const struct region *element_region(const struct event *e) {
    const struct region *r = region_find(e->address);
    if (!r) r = e->nearest;
    return r ? r : region_nearest(e->address);
}

/* An element of an array, even one that it does not have: C[34][0] of 34 rows. */
static void name_global(struct diagnosis *d) {
    struct finding *f = d->f;
    struct element_at at;
    if (program_holds(d->e->address)) {
        name_variable(f, d->e);
        return;
    }
    const struct region *r = element_region(d->e);
    if (!r) return;
    if (!r->array) {
        name_scratch(f, r, (long)(d->e->address - r->begin));
        return;
    }
    d->region = r;
    array_index(r->array, element_number(d), at.index);
    snprintf(f->variable, sizeof f->variable, "%s", r->array->name);
    element_write(f->element, sizeof f->element, r->array, &at);
}

/* The index along this axis that the thread has by its place in the grid; -1: none. */
static int64_t usual_index(const struct diagnosis *d, const struct finding_party *party, int axis) {
    const unsigned block[] = {party->block.x, party->block.y, party->block.z};
    const unsigned thread[] = {party->thread.x, party->thread.y, party->thread.z};
    const unsigned size[] = {d->e->block_size.x, d->e->block_size.y, d->e->block_size.z};
    for (int i = 0; i < 3; ++i)
        if (d->region->array->axis_of[i] == axis) return (int64_t)block[i] * size[i] + thread[i];
    return -1;
}

/* Whether its threads have as many dimensions as the array, and some of them an axis. */
static bool is_usual(const struct diagnosis *d, const struct engine_array *array) {
    const unsigned size[] = {d->e->block_size.x, d->e->block_size.y, d->e->block_size.z};
    bool any = false;
    for (int i = 0; i < 3; ++i) any = any || array->axis_of[i] >= 0;
    for (int i = 0; i < array->dimensions; ++i) any = any && size[i] > 1;
    return any;
}

/* The indices that threads have, and the one that they do not, which the address then says. False:
 * there are several of those. */
static bool complete(struct element_at *at, const struct diagnosis *d,
                     const struct finding_party *party) {
    const struct engine_array *array = d->region->array;
    int64_t left = element_number(d);
    int open = -1;
    for (int i = 0; i < array->dimensions; ++i) {
        at->index[i] = usual_index(d, party, i);
        if (at->index[i] < 0 && open >= 0) return false;
        if (at->index[i] < 0)
            open = i;
        else
            left -= at->index[i] * array_stride(array, i);
    }
    if (open < 0) return left == 0;
    at->index[open] = left / array_stride(array, open);
    return left >= 0 && left % array_stride(array, open) == 0;
}

bool element_intended(struct element_at *at, const struct diagnosis *d,
                      const struct finding_party *party) {
    const struct engine_array *array = d->region->array;
    bool outside = false;
    if (!party->in_kernel || !is_usual(d, array) || !complete(at, d, party)) return false;
    for (int i = 0; i < array->dimensions; ++i) {
        outside = outside || at->index[i] >= array->extent[i];
        if (i && at->index[i] >= array->extent[i] + MAX_BLOCK_THREADS) return false;
    }
    return outside;
}

void element_name(struct diagnosis *d) {
    const struct event *e = d->e;
    const enum finding_memory memory = finding_text(e->kind)->memory;
    struct element_at at;
    if (memory == FINDING_MEMORY_SHARED || (e->in_shared && e->kind == FINDING_MISALIGNED)) {
        name_shared(d);
        return;
    }
    if (memory != FINDING_MEMORY_GLOBAL || !e->address) return;
    name_global(d);
    if (d->region && e->kind == FINDING_OUT_OF_BOUNDS && element_intended(&at, d, &d->f->at))
        element_write(d->f->element, sizeof d->f->element, d->region->array, &at);
}
