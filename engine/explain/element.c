/* Which element of which variable an address is: A_s[3][7], C[34][0]; also where it is none,
 * because the index is wrong. */
#define _GNU_SOURCE
#include "element.h"
#include "../cuda/program/extents.h"
#include "../cuda/program/names.h"
#include "../report/text.h"
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

/* Which of the wrapper's own allocations it is: by the line that made it. */
static void name_scratch(struct finding *f, const struct region *r, long offset) {
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

/* An element of a matrix, even one that it does not have: C[34][0] of 34 rows. */
static void name_global(struct diagnosis *d) {
    struct finding *f = d->f;
    if (program_holds(d->e->address)) {
        name_variable(f, d->e);
        return;
    }
    const struct region *r = region_find(d->e->address); /* perhaps freed by now */
    if (!r) r = region_nearest(d->e->address);
    if (!r) return;
    long offset = (long)(d->e->address - r->begin);
    if (!r->matrix) {
        name_scratch(f, r, offset);
        return;
    }
    d->region = r;
    const int cols = r->matrix->cols;
    long element = offset >= 0 ? offset / WORD : -((-offset + WORD - 1) / WORD);
    long row = element >= 0 ? element / cols : -((-element + cols - 1) / cols);
    snprintf(f->variable, sizeof f->variable, "%s", r->matrix->name);
    snprintf(f->element, sizeof f->element, "%s[%ld][%ld]", f->variable, row, element - row * cols);
}

bool element_intended(struct element *at, const struct diagnosis *d,
                      const struct finding_party *party) {
    const struct checked_matrix *matrix = d->region->matrix;
    const struct uint3 *block = &d->e->block_size;
    long linear = ((long)d->e->address - (long)d->region->begin) / WORD;
    long row = (long)party->block.y * block->y + party->thread.y;
    long col = (long)party->block.x * block->x + party->thread.x;
    if (!party->in_kernel || block->y < 2 || block->x < 2) return false;
    if (!matrix->row_by_y && !matrix->column_by_x) return false;
    if (!matrix->column_by_x) col = linear - row * matrix->cols;
    if (!matrix->row_by_y) row = linear >= col ? (linear - col) / matrix->cols : -1;
    *at = (struct element){row, col};
    return row >= 0 && col >= 0 && row * matrix->cols + col == linear &&
           (row >= matrix->rows || col >= matrix->cols) && col < matrix->cols + MAX_BLOCK_THREADS;
}

void element_name(struct diagnosis *d) {
    const struct event *e = d->e;
    const enum finding_memory memory = finding_text(e->kind)->memory;
    struct element at;
    if (memory == FINDING_MEMORY_SHARED || (e->in_shared && e->kind == FINDING_MISALIGNED)) {
        name_shared(d);
        return;
    }
    if (memory != FINDING_MEMORY_GLOBAL || !e->address) return;
    name_global(d);
    if (d->region && e->kind == FINDING_OUT_OF_BOUNDS && element_intended(&at, d, &d->f->at))
        snprintf(d->f->element, sizeof d->f->element, "%s[%ld][%ld]", d->f->variable, at.row,
                 at.col);
}
