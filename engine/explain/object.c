/* Who did it and where, and the element that it was done to: which one of which variable an
 * address is (A_s[3][7], C[34][0]), also where it is none, because the index is wrong. */
#define _GNU_SOURCE
#include "../cuda/program/program.h"
#include "../report/text/text.h"
#include "explain.h"
#include <stdio.h>
#include <string.h>

/* --- parties ---------------------------------------------------------------------------------- */

static void set_place(struct finding_party *party, const struct place *place) {
    party->line = place->line;
    if (!place->line) return;
    snprintf(party->file, sizeof party->file, "%.*s", (int)sizeof party->file - 1, place->file);
    snprintf(party->function, sizeof party->function, "%.*s", (int)sizeof party->function - 1,
             place->function);
}

struct finding_party party_at(const struct place *place) {
    struct finding_party party = {.known = true};
    set_place(&party, place);
    return party;
}

static struct finding_index index_of(uint64_t linear, struct uint3 size) {
    if (!size.x || !size.y) return (struct finding_index){0, 0, 0};
    return (struct finding_index){(unsigned)(linear % size.x), (unsigned)(linear / size.x % size.y),
                                  (unsigned)(linear / size.x / size.y)};
}

static struct finding_party party_of(const struct event *e, const void *code, unsigned thread,
                                     uint64_t block, enum finding_access access) {
    struct finding_party party = {.known = true, .in_kernel = e->in_kernel, .access = access};
    party.thread = index_of(thread, e->block_size);
    party.block = index_of(block, e->grid_size);
    if (code) {
        const struct place place = place_before(code);
        set_place(&party, &place);
    }
    return party;
}

static enum finding_access access_of(bool write) { return write ? FINDING_WRITE : FINDING_READ; }

/* Zeros where no block runs that a GPU would take. */
static struct finding_index block_of(const struct event *e) {
    const struct uint3 *size = &e->block_size;
    const uint64_t threads = (uint64_t)size->x * size->y * size->z;
    if (!threads || threads > FINDING_THREADS) return (struct finding_index){0, 0, 0};
    return (struct finding_index){size->x, size->y, size->z};
}

void party_find(struct finding *f, const struct event *e) {
    f->block_size = block_of(e);
    f->grid_size = (struct finding_index){e->grid_size.x, e->grid_size.y, e->grid_size.z};
    f->waiting = e->waiting;
    f->elsewhere = e->elsewhere;
    f->returned = e->returned;
    f->at = party_of(e, e->code, e->thread, e->block,
                     e->size ? access_of(e->write) : FINDING_NO_ACCESS);
    if (e->place.line) set_place(&f->at, &e->place);
    if (e->line) {
        snprintf(f->at.file, sizeof f->at.file, "%s", place_relative(e->file));
        f->at.line = e->line;
    }
    if (e->has_other)
        f->other =
            party_of(e, e->other_code, e->other_thread, e->other_block, access_of(e->other_write));
}

void launch_beside(struct finding_launch *launch, const struct engine_array *output) {
    snprintf(launch->output, sizeof launch->output, "%s", output->name);
    launch->dimensions = output->dimensions;
    memcpy(launch->extent, output->extent, sizeof output->extent);
}

bool element_is_dynamic(const struct event *e) {
    return e->shared_offset - e->dynamic_offset < SHARED_PER_BLOCK_OPTIN &&
           (e->dynamic_bytes || name_has_dynamic());
}

static void set_name(struct finding_object *o, enum finding_object_form form, const char *name) {
    o->form = form;
    o->name[0] = '\0';
    APPEND(o->name, "%s", name);
}

static void name_dynamic(struct finding_object *o, const struct event *e) {
    const size_t offset = e->shared_offset - e->dynamic_offset;
    const char *name = name_of_dynamic();
    set_name(o, name ? OBJECT_ELEMENT : OBJECT_DYNAMIC, name ? name : "");
    o->byte = (int64_t)offset;
    if (!name) return;
    o->dimensions = 1;
    o->index[0] = (int64_t)(offset / WORD);
}

/* The element of a bad index: its row or column is the index itself, not where that leads. */
static void name_bad_element(struct finding_object *o, const struct event *e,
                             const struct shared_name *name) {
    long element = ((long)e->shared_offset - (long)name->offset) / (long)name->element;
    size_t behind = 1;
    int at = name->dimensions;
    for (const char *p = strchr(e->array_type, '['); p; p = strchr(p + 1, '[')) at--;
    for (int i = at + 1; i < name->dimensions; ++i) behind *= name->dimension[i];
    long inside = element - e->index * (long)behind; /* with the bad index as 0 */
    size_t row = behind * name->dimension[at];
    set_name(o, OBJECT_ELEMENT, name->name);
    o->dimensions = name->dimensions;
    for (int i = 0; i < name->dimensions; ++i) {
        size_t size = 1;
        for (int j = i + 1; j < name->dimensions; ++j) size *= name->dimension[j];
        o->index[i] = i == at  ? e->index
                      : i < at ? inside / (long)size % (long)name->dimension[i]
                               : inside % (long)row / (long)size % (long)name->dimension[i];
    }
}

static void name_static(struct finding_object *o, const struct event *e,
                        const struct shared_name *name) {
    const size_t offset = e->shared_offset - name->offset;
    const bool part = !name->dimensions && name->bytes > WORD;
    size_t indices[NAME_DIMENSIONS];
    set_name(o, part ? OBJECT_PART : OBJECT_ELEMENT, name->name);
    o->byte = (int64_t)offset;
    o->bytes = (int64_t)name->bytes;
    o->dimensions = name->dimensions;
    name_indices(indices, name->dimension, name->dimensions,
                 name->element ? offset / name->element : 0);
    for (int i = 0; i < name->dimensions; ++i) o->index[i] = (int64_t)indices[i];
}

static void name_shared(struct diagnosis *d) {
    const struct event *e = d->e;
    struct finding_object *o = &d->f->object;
    struct shared_name name, reached;
    if (!e->address) {
        if (name_any_ends_as(e->array_type, &name)) set_name(o, OBJECT_VARIABLE, name.name);
    } else if (element_is_dynamic(e) && !e->has_index) {
        name_dynamic(o, e);
    } else if (e->has_index && name_of_index(e->shared_offset, e->array_type, e->index, &name)) {
        name_bad_element(o, e, &name);
        d->other_row = name.dimensions > 1 && name_find(e->shared_offset, &reached) &&
                       reached.offset == name.offset;
    } else if (name_find(e->shared_offset, &name) || name_before(e->shared_offset, &name)) {
        name_static(o, e, &name);
    } else {
        o->form = OBJECT_SHARED;
    }
}

/* Which of the program's own allocations it is: by its name; or else by the line that made it. */
static void name_scratch(struct finding_object *o, const struct region *r, long offset) {
    struct allocation_name name;
    o->byte = offset;
    o->bytes = (int64_t)r->bytes;
    if (allocation_name(r, &name)) {
        const long size = (long)name.element;
        set_name(o, size ? OBJECT_POINTED_TO : OBJECT_ALLOCATION, name.text);
        o->element_bytes = size;
        o->several = !name.only;
        o->dimensions = size > 0;
        if (size) o->index[0] = (offset - (offset < 0 ? size - 1 : 0)) / size;
        return;
    }
    const struct place place = place_find(r->frames, r->frame_count);
    const struct finding_party maker = party_at(&place);
    o->form = OBJECT_ALLOCATED;
    memcpy(o->file, maker.file, sizeof o->file);
    o->line = maker.line;
}

/* A variable of kernel.cu's. */
static void name_variable(struct finding_object *o, const struct event *e) {
    struct shared_name name;
    if (!name_of_variable((const void *)e->address, &name)) return;
    set_name(o, name.bytes > WORD ? OBJECT_PART : OBJECT_ELEMENT, name.name);
    o->byte = (int64_t)name.offset;
    o->bytes = (int64_t)name.bytes;
}

static void set_indices(struct finding_object *o, const struct element_at *at) {
    memcpy(o->index, at->index, sizeof at->index);
}

static void name_array(struct finding_object *o, const struct engine_array *array,
                       const struct element_at *at) {
    set_name(o, OBJECT_ARRAY, array->name);
    o->dimensions = array->dimensions;
    o->element_bytes = (int64_t)array_element_bytes(array);
    memcpy(o->extent, array->extent, sizeof array->extent);
    set_indices(o, at);
}

int64_t element_number(const struct diagnosis *d) {
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
    struct finding_object *o = &d->f->object;
    struct element_at at = {{0}};
    if (program_holds(d->e->address)) {
        name_variable(o, d->e);
        return;
    }
    const struct region *r = element_region(d->e);
    if (!r) return;
    if (!r->array) {
        name_scratch(o, r, (long)(d->e->address - r->begin));
        return;
    }
    d->region = r;
    array_index(r->array, element_number(d), at.index);
    name_array(o, r->array, &at);
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
    struct element_at at = {{0}};
    if (memory == FINDING_MEMORY_SHARED || (e->in_shared && e->kind == FINDING_MISALIGNED)) {
        name_shared(d);
        return;
    }
    if (memory != FINDING_MEMORY_GLOBAL || !e->address) return;
    name_global(d);
    if (d->region && e->kind == FINDING_OUT_OF_BOUNDS && element_intended(&at, d, &d->f->at))
        set_indices(&d->f->object, &at);
}
