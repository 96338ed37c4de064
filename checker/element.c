/* Which element of which variable an address is: A_s[3][7], C[34][0]; also where it is none,
 * because the index is wrong. */
#define _GNU_SOURCE
#include "tell.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool element_is_dynamic(const struct event *e) {
    return e->shared_offset - e->dynamic_offset < SHARED_PER_BLOCK_OPTIN &&
           (e->dynamic_bytes || name_has_dynamic());
}

static void name_dynamic(struct finding *f, const struct event *e) {
    size_t offset = e->shared_offset - e->dynamic_offset;
    const char *name = name_of_dynamic();
    snprintf(f->variable, sizeof f->variable, "%s", strchr(name, ' ') ? "" : name);
    if (f->variable[0])
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
    say(f->element, sizeof f->element, "%s", name->name);
    for (int i = 0; i < name->dimensions; ++i) {
        size_t size = 1;
        for (int j = i + 1; j < name->dimensions; ++j) size *= name->dimension[j];
        long index = i == at  ? e->index
                     : i < at ? inside / (long)size % (long)name->dimension[i]
                              : inside % (long)row / (long)size % (long)name->dimension[i];
        say(f->element, sizeof f->element, "[%ld]", index);
    }
}

static void name_static(struct finding *f, const struct event *e, const struct shared_name *name) {
    size_t offset = e->shared_offset - name->offset;
    size_t element = name->element ? offset / name->element : 0;
    snprintf(f->variable, sizeof f->variable, "%s", name->name);
    snprintf(f->element, sizeof f->element, "%s", name->name);
    if (!name->dimensions && name->bytes > WORD)
        say(f->element, sizeof f->element, " (byte %zu of its %zu)", offset, name->bytes);
    for (int i = 0; i < name->dimensions; ++i) {
        size_t behind = 1;
        for (int j = i + 1; j < name->dimensions; ++j) behind *= name->dimension[j];
        size_t index = element / behind;
        if (i) index %= name->dimension[i]; /* the first one may be too large */
        say(f->element, sizeof f->element, "[%zu]", index);
    }
}

static void name_shared(struct finding *f, const struct event *e) {
    struct shared_name name;
    if (!e->address) {
        if (name_any_ends_as(e->array_type, &name)) strcpy(f->variable, name.name);
    } else if (element_is_dynamic(e) && !e->has_index)
        name_dynamic(f, e);
    else if (e->has_index && name_of_index(e->shared_offset, e->array_type, e->index, &name)) {
        snprintf(f->variable, sizeof f->variable, "%s", name.name);
        name_bad_element(f, e, &name);
    } else if (name_find(e->shared_offset, &name) || name_before(e->shared_offset, &name))
        name_static(f, e, &name);
    else
        snprintf(f->element, sizeof f->element, "shared memory");
}

/* Which of the wrapper's own allocations it is: by the line that made it. */
static void name_scratch(struct finding *f, const struct region *r, long offset) {
    struct finding_party maker = {.known = true};
    struct place place = place_find(r->frames, r->frame_count);
    tell_place(&maker, &place);
    snprintf(f->element, sizeof f->element, "byte %ld of the %zu allocated", offset, r->bytes);
    say(f->element, sizeof f->element, "%.80s", at_place(&maker).text);
}

/* An element of a matrix, even one that it does not have: C[34][0] of 34 rows. */
static void name_global(struct finding *f, const struct event *e) {
    const struct region *r = global_find(e->address); /* perhaps freed by now */
    if (!r) r = global_nearest(e->address);
    if (!r) return;
    long offset = (long)(e->address - r->begin);
    if (!r->name || r->cols <= 0) {
        name_scratch(f, r, offset);
        return;
    }
    long element = offset >= 0 ? offset / WORD : -((-offset + WORD - 1) / WORD);
    long row = element >= 0 ? element / r->cols : -((-element + r->cols - 1) / r->cols);
    snprintf(f->variable, sizeof f->variable, "%s", r->name);
    snprintf(f->element, sizeof f->element, "%s[%ld][%ld]", r->name, row, element - row * r->cols);
}

bool element_intended(struct element *at, const struct event *e, const struct region *r,
                      const struct finding_party *party) {
    long linear = ((long)e->address - (long)r->begin) / WORD;
    long row = (long)party->block.y * e->block_size.y + party->thread.y;
    long col = (long)party->block.x * e->block_size.x + party->thread.x;
    if (!party->in_kernel || e->block_size.y < 2 || e->block_size.x < 2 || r->cols < 1)
        return false;
    if (r->name[0] == 'A') col = linear - row * r->cols;
    if (r->name[0] == 'B') row = linear >= col ? (linear - col) / r->cols : -1;
    *at = (struct element){row, col};
    return row >= 0 && col >= 0 && row * r->cols + col == linear &&
           (row >= r->rows || col >= r->cols) && col < r->cols + MAX_BLOCK_THREADS;
}

void element_name(struct finding *f, const struct event *e) {
    const struct region *r;
    struct element at;
    if (words_memory(e->kind) == MEMORY_SHARED || (e->in_shared && e->kind == FINDING_MISALIGNED)) {
        name_shared(f, e);
        return;
    }
    if (words_memory(e->kind) != MEMORY_GLOBAL || !e->address) return;
    name_global(f, e);
    r = f->variable[0] ? global_named(f->variable) : NULL;
    if (r && e->kind == FINDING_OUT_OF_BOUNDS && element_intended(&at, e, r, &f->at))
        snprintf(f->element, sizeof f->element, "%s[%ld][%ld]", r->name, at.row, at.col);
}
