/* Who did it and where, and the element that it was done to: which one of which variable an
 * address is (A_s[3][7], C[34][0]), also where it is none, because the index is wrong. */
#define _GNU_SOURCE
#include "../cuda/program/program.h"
#include "../report/text/source.h"
#include "../report/text/text.h"
#include "explain.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parties ---------------------------------------------------------------------------------- */

static void set_place(struct finding_party *party, struct place place) {
    party->line = place.line;
    if (!place.line) return;
    snprintf(party->file, sizeof party->file, "%.*s", (int)sizeof party->file - 1, place.file);
    snprintf(party->function, sizeof party->function, "%.*s", (int)sizeof party->function - 1,
             place.function);
}

struct finding_party party_at(struct place place) {
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
    if (code) set_place(&party, place_before(code));
    return party;
}

static enum finding_access access_of(bool write) { return write ? FINDING_WRITE : FINDING_READ; }

void party_find(struct finding *f, const struct event *e) {
    const struct uint3 *size = &e->block_size;
    const uint64_t threads = (uint64_t)size->x * size->y * size->z;
    if (threads && threads <= FINDING_THREADS) /* else no block runs that a GPU would take */
        f->block_size = (struct finding_index){size->x, size->y, size->z};
    f->grid_size = (struct finding_index){e->grid_size.x, e->grid_size.y, e->grid_size.z};
    f->waiting = e->waiting;
    f->elsewhere = e->elsewhere;
    f->returned = e->returned;
    f->at = party_of(e, e->code, e->thread, e->block, /* an atomic operation may load first */
                     e->size ? access_of(e->write || e->atomic) : FINDING_NO_ACCESS);
    if (e->place.line) set_place(&f->at, e->place);
    if (e->line) {
        snprintf(f->at.file, sizeof f->at.file, "%s", path_from_here(e->file));
        f->at.line = e->line;
    }
    if (e->has_other)
        f->other =
            party_of(e, e->other_code, e->other_thread, e->other_block, access_of(e->other_write));
}

/* --- elements of shared memory ---------------------------------------------------------------- */

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
    size_t element;
    const char *name = name_of_dynamic(&element);
    if (!element) name = NULL;
    set_name(o, name ? OBJECT_ELEMENT : OBJECT_DYNAMIC, name ? name : "");
    o->byte = (int64_t)offset;
    if (!name) return;
    o->dimensions = 1;
    o->index[0] = (int64_t)(offset / element);
}

static void set_indices(struct finding_object *o, const struct shared_name *name, size_t element) {
    size_t indices[NAME_DIMENSIONS];
    o->dimensions = name->dimensions;
    name_indices(indices, name->dimension, name->dimensions, element);
    for (int i = 0; i < name->dimensions; ++i) o->index[i] = (int64_t)indices[i];
}

/* The element of a bad index: its row or column is the index itself, not where that leads. */
static void name_bad_element(struct finding_object *o, const struct event *e,
                             const struct shared_name *name) {
    const long element = ((long)e->shared_offset - (long)name->offset) / (long)name->element;
    long behind = 1;
    int at = name->dimensions;
    for (const char *p = strchr(e->array_type, '['); p; p = strchr(p + 1, '[')) at--;
    for (int i = at + 1; i < name->dimensions; ++i) behind *= (long)name->dimension[i];
    set_name(o, OBJECT_ELEMENT, name->name);
    set_indices(o, name, (size_t)(element - e->index * behind)); /* with the bad index as 0 */
    if (at >= 0 && at < name->dimensions) o->index[at] = e->index;
}

static void name_static(struct finding_object *o, const struct event *e,
                        const struct shared_name *name) {
    const size_t offset = e->shared_offset - name->offset;
    const bool part = !name->dimensions && name->bytes > WORD;
    set_name(o, part ? OBJECT_PART : OBJECT_ELEMENT, name->name);
    o->byte = (int64_t)offset;
    o->bytes = (int64_t)name->bytes;
    set_indices(o, name, name->element ? offset / name->element : 0);
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

/* --- names of allocations, from the line of source that made them ------------------------------
 *
 * A program carries kernel.cu along; headers, and the code of a host, are read where they lie. */

struct allocation_name {
    char text[48];  /* "d_in", of cudaMalloc(&d_in, bytes); "p->data", "rows[i]" */
    size_t element; /* bytes of what the variable points to; 0: not known */
    bool only;      /* no other allocation is called so */
};

static char *whole_file(const char *path) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    if (getdelim(&text, &bytes, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* What follows "cudaMalloc(" in [begin, end), or what begins so: cudaMallocManaged, Pitch, Async,
 * cudaMalloc<float>. Null: there is none. */
static const char *call_in(const char *begin, const char *end) {
    static const char function[] = "cudaMalloc";
    const char *at = begin;
    while ((at = strstr(at, function)) && at < end) {
        const bool begins = at == begin || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        at += strlen(function);
        at += strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        if (*at == '<') at += strcspn(at, "(\n");
        at += strspn(at, " ");
        if (begins && *at == '(') return at + 1;
    }
    return NULL;
}

/* The only call of this line; or, where it has none, the first of the statement that the line is
 * in: the compiler may name any of its lines. Null: there is none, or the line has several. */
static const char *call_at(const char *text, int line) {
    const char *here = text_line(text, line);
    if (!here) return NULL;
    const char *end = here + strcspn(here, "\n"), *found = call_in(here, end);
    if (found) return call_in(found, end) ? NULL : found;
    const char *begin = here;
    while (begin > text && !strchr(";{}", begin[-1])) begin--;
    return call_in(begin, here + strcspn(here, ";"));
}

/* "d_in" of "(void **)&d_in, bytes)": what is behind the & of the first argument, or its casts. */
static bool take_variable(const char *argument, char *text, size_t size) {
    const char *end = argument;
    size_t used = 0;
    for (int depth = 0; *end && !(depth == 0 && strchr(",)", *end)); end++)
        depth += (*end == '(' || *end == '[') - (*end == ')' || *end == ']');
    const char *at = memrchr(argument, '&', (size_t)(end - argument));
    if (!at) at = memrchr(argument, ')', (size_t)(end - argument));
    at = at ? at + 1 : argument;
    at += strspn(at, " \t\n(");
    for (; at < end && *at != ')' && used + 1 < size; at++)
        if (!isspace((unsigned char)*at)) text[used++] = *at;
    text[used] = '\0';
    return isalpha((unsigned char)text[0]) || text[0] == '_';
}

static struct place place_of(const struct region *r) {
    return place_find(r->frames, r->frame_count);
}

/* By the variable that cudaMalloc was given. False: the source does not say it, or cannot be read.
 */
static bool allocation_name(const struct region *r, struct allocation_name *name) {
    const struct place place = place_of(r);
    if (!place.line) return false;
    const bool carried = source_text() && source_is(place.file);
    char *read = carried ? NULL : whole_file(place.file);
    const char *text = carried ? source_text() : read;
    const char *argument = text ? call_at(text, place.line) : NULL;
    const bool found = argument && take_variable(argument, name->text, sizeof name->text);
    free(read);
    if (!found) return false;
    name->element = name_points_to(name->text);
    name->only = true;
    for (const struct region *other = region_first(); other; other = other->next) {
        const struct place there = place_of(other);
        name->only &= other == r || !place_same_line(&there, &place);
    }
    return true;
}

/* --- elements of global memory ---------------------------------------------------------------- */

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
    const struct finding_party maker = party_at(place_of(r));
    o->form = OBJECT_ALLOCATED;
    memcpy(o->file, maker.file, sizeof o->file);
    o->line = maker.line;
}

void element_owner(const struct region *r, char *name, size_t bytes) {
    struct finding_object o = {.dimensions = 0};
    name_scratch(&o, r, 0);
    snprintf(name, bytes, "%s", o.name[0] ? o.name : "memory from cudaMalloc");
}

int64_t element_number(const struct diagnosis *d) {
    const int64_t bytes = (int64_t)array_element_bytes(d->region->array);
    const int64_t offset = (int64_t)(d->e->address - d->region->begin);
    return offset >= 0 ? offset / bytes : -((-offset + bytes - 1) / bytes);
}

/* It may be freed by now. */
const struct region *element_region(const struct event *e) {
    const intptr_t far = (intptr_t)1 << 36;
    const struct region *r = region_find(e->address);
    if (!r) r = e->nearest;
    if (!r) r = region_nearest(e->address);
    const intptr_t after = r ? (intptr_t)(e->address - (r->begin + r->bytes)) : 0;
    return after <= far && after >= -far ? r : NULL;
}

/* An element of an array, even one that it does not have: C[34][0] of 34 rows. */
static void name_global(struct diagnosis *d) {
    struct finding_object *o = &d->f->object;
    struct shared_name name;
    if (program_holds(d->e->address)) { /* a variable of kernel.cu's */
        if (!name_of_variable((const void *)d->e->address, &name)) return;
        set_name(o, name.bytes > WORD ? OBJECT_PART : OBJECT_ELEMENT, name.name);
        o->byte = (int64_t)name.offset;
        o->bytes = (int64_t)name.bytes;
        return;
    }
    const struct region *r = element_region(d->e);
    if (!r) return;
    if (!r->array) {
        name_scratch(o, r, (long)(d->e->address - r->begin));
        return;
    }
    d->region = r;
    set_name(o, OBJECT_ARRAY, r->array->name);
    o->dimensions = r->array->dimensions;
    o->element_bytes = (int64_t)array_element_bytes(r->array);
    memcpy(o->extent, r->array->extent, sizeof r->array->extent);
    array_index(r->array, element_number(d), o->index);
}

/* The indices that threads have by their place in the grid, if a block has as many dimensions as
 * the array; and one that they do not have, which the address then says. False: they have none, or
 * lack several, or the address does not fit. */
static bool usual_indices(int64_t index[ENGINE_DIMENSIONS], const struct diagnosis *d,
                          const struct finding_party *party) {
    const struct engine_array *array = d->region->array;
    const unsigned block[] = {party->block.x, party->block.y, party->block.z};
    const unsigned thread[] = {party->thread.x, party->thread.y, party->thread.z};
    const unsigned size[] = {d->e->block_size.x, d->e->block_size.y, d->e->block_size.z};
    int64_t left = element_number(d);
    int open = -1;
    bool any = false;
    for (int axis = 0; axis < array->dimensions; ++axis) {
        int by = 0;
        while (by < 3 && array->axis_of[by] != axis) by++;
        if (size[axis] < 2 || (by == 3 && open >= 0)) return false;
        if (by == 3) {
            open = axis;
            continue;
        }
        any = true;
        index[axis] = (int64_t)block[by] * size[by] + thread[by];
        left -= index[axis] * array_stride(array, axis);
    }
    if (!any || open < 0) return any && left == 0;
    index[open] = left / array_stride(array, open);
    return left >= 0 && left % array_stride(array, open) == 0;
}

bool element_intended(int64_t index[ENGINE_DIMENSIONS], const struct diagnosis *d,
                      const struct finding_party *party) {
    const struct engine_array *array = d->region->array;
    bool outside = false;
    if (!party->in_kernel || !usual_indices(index, d, party)) return false;
    for (int i = 0; i < array->dimensions; ++i) {
        outside = outside || index[i] >= array->extent[i];
        if (i && index[i] >= array->extent[i] + MAX_BLOCK_THREADS) return false;
    }
    return outside;
}

void element_name(struct diagnosis *d) {
    const struct event *e = d->e;
    const enum finding_memory memory = finding_text(e->kind)->memory;
    const bool variable = e->kind == FINDING_HOST_POINTER_ON_DEVICE && program_holds(e->address);
    int64_t index[ENGINE_DIMENSIONS] = {0};
    if (memory == FINDING_MEMORY_SHARED || (e->in_shared && e->kind == FINDING_MISALIGNED)) {
        name_shared(d);
        return;
    }
    if ((memory != FINDING_MEMORY_GLOBAL && !variable && !e->frees) || !e->address) return;
    name_global(d);
    if (d->region && e->kind == FINDING_OUT_OF_BOUNDS && element_intended(index, d, &d->f->at))
        memcpy(d->f->object.index, index, sizeof index);
}
