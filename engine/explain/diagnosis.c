/* The finding of the first event, and the facts that its words are made of: see explain.h. The
 * facts are found by a function for each kind that has any. */
#define _GNU_SOURCE
#include "../cuda/program/program.h"
#include "../report/text/text.h"
#include "explain.h"
#include <stdlib.h>
#include <string.h>

static void name_object(struct diagnosis *d, const char *name) { APPEND(d->f->named, "%s", name); }

/* --- races on global memory ------------------------------------------------------------------- */

static void find_global_race(struct diagnosis *d) {
    if (d->e->synchronizes || d->e->atomic || d->e->other_atomic) SET_FLAG(SYNCHRONIZES);
}

/* --- out of bounds ---------------------------------------------------------------------------- */

/* An index that was computed in an int, and did not fit, is wrong by 2^32: exactly that far from
 * the address is an element of an array. Or so many bytes, where the offset was computed in bytes.
 */
static void find_overflow(struct diagnosis *d) {
    const uint64_t wrap = UINT64_C(1) << 32;
    for (const struct region *r = region_first(); r; r = r->next) {
        if (!r->array || r->freed) continue;
        if (d->e->address + wrap * array_element_bytes(r->array) - r->begin < r->bytes)
            SET(WRAPPED, WRAPPED_ELEMENTS);
        else if (d->e->address + wrap - r->begin < r->bytes)
            SET(WRAPPED, WRAPPED_BYTES);
        else
            continue;
        name_object(d, r->array->name);
        return;
    }
}

static void find_outside_of_arrays(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct region *r = element_region(e);
    const long after = r ? (long)(e->address - (r->begin + r->bytes)) : 0;
    const long far = 1l << 36;
    SET(ADDRESS, (int64_t)e->address);
    if (r && labs(after) <= far) return;
    SET_FLAG(FAR);
    find_overflow(d);
}

/* Whether the thread meant an element beyond the last one of a row. */
static bool is_beyond_last_column(const struct diagnosis *d) {
    const struct engine_array *array = d->region->array;
    struct element_at at;
    return array->dimensions > 1 && element_intended(&at, d, &d->f->at) &&
           at.index[0] < array->extent[0] &&
           at.index[array->dimensions - 1] >= array_columns(array);
}

static void find_out_of_bounds(struct diagnosis *d) {
    if (!d->region) {
        find_outside_of_arrays(d);
        return;
    }
    SET(ELEMENT, element_number(d));
    SET(BYTES, d->e->size);
    if (is_beyond_last_column(d)) SET_FLAG(LAST_COLUMN);
    if (d->e->address < d->region->begin) find_overflow(d);
}

static void find_bad_index(struct diagnosis *d) {
    const struct event *e = d->e;
    if (!e->has_index) return;
    SET(INDEX, e->index);
    name_object(d, e->array_type);
    if (d->other_row) SET_FLAG(OTHER_ROW);
}

static void find_shared_bounds(struct diagnosis *d) {
    find_bad_index(d);
    if (!d->e->has_index && element_is_dynamic(d->e))
        SET(DYNAMIC_BYTES, (int64_t)d->e->dynamic_bytes);
}

/* --- values and pointers ---------------------------------------------------------------------- */

static void find_uninitialized_shared(struct diagnosis *d) {
    const struct unstored *u = &d->e->unstored;
    if (u->what == UNSTORED_UNKNOWN || !d->f->object.dimensions) return;
    SET(UNSTORED, u->what);
    SET(UNSTORED_FIRST, (int64_t)u->first);
    SET(UNSTORED_LAST, (int64_t)u->last);
}

static void find_uninitialized_global(struct diagnosis *d) {
    if (d->e->atomic) SET_FLAG(ATOMIC);
}

/* In an array that begins at a multiple of the vector's size, the words before it, and in a row. */
static void set_rows(struct diagnosis *d, size_t word, size_t row) {
    if (!row) return;
    SET(WORD, (int64_t)word);
    SET(ROW_WORDS, (int64_t)row);
}

static void find_misaligned(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct region *r = d->region;
    struct shared_name name;
    if (e->size) SET(BYTES, e->size);
    if (e->size < 2 * WORD || e->address % WORD) return;
    if (e->in_shared && !element_is_dynamic(e) && name_find(e->shared_offset, &name)) {
        const size_t offset = e->shared_offset - name.offset;
        if (name.element == WORD && name.dimensions > 1 && (e->address - offset) % e->size == 0)
            set_rows(d, offset / WORD, name.dimension[name.dimensions - 1]);
    } else if (r && e->address - r->begin < r->bytes && r->begin % e->size == 0) {
        set_rows(d, (e->address - r->begin) / WORD,
                 (size_t)array_columns(r->array) * array_element_bytes(r->array) / WORD);
    }
}

/* --- the launch and the wrapper --------------------------------------------------------------- */

static void find_bad_launch(struct diagnosis *d) {
    const struct event *e = d->e;
    struct finding_launch *launch = &d->f->launch; /* where no more is known of it */
    const struct uint3 *g = &e->grid_size, *b = &e->block_size;
    memcpy(launch->grid, (unsigned[]){g->x, g->y, g->z}, sizeof launch->grid);
    memcpy(launch->block, (unsigned[]){b->x, b->y, b->z}, sizeof launch->block);
    launch->shared_bytes = e->dynamic_bytes;
    SET(STATIC_BYTES, (int64_t)e->static_bytes);
    if (e->checked) SET_FLAG(CHECKED);
}

static void find_failed_call(struct diagnosis *d) {
    name_object(d, d->e->place.called);
    SET(ERROR, d->e->error);
    if (d->e->forgotten) SET_FLAG(CHECKED);
}

static void find_leak(struct diagnosis *d) {
    SET(COUNT, d->e->count);
    SET(BYTES, (int64_t)d->e->bytes);
}

static void find_host_function(struct diagnosis *d) { name_object(d, d->e->called); }

/* --- what the runtime says -------------------------------------------------------------------- */

static void find_fault(struct diagnosis *d) {
    const struct fault_facts *fault = &d->e->fault;
    SET(FAULT, fault->code);
    if (fault->code == FAULT_ASSERTION && fault->assertion) name_object(d, fault->assertion);
    if (fault->code == FAULT_HOST) SET(SIGNAL, fault->signal);
    if (fault->code == FAULT_ENDLESS || fault->code == FAULT_TIME_LIMIT)
        slot_set_real(d->f->slot, SLOT_SECONDS, fault->seconds);
    if (fault->code != FAULT_TIME_LIMIT) return;
    SET(BLOCKS, (int64_t)fault->blocks);
    SET(OF, (int64_t)fault->of);
}

static void find_endless(struct diagnosis *d) {
    find_fault(d);
    find_endless_loop(d);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void (*const find_kind[FINDING_KINDS])(struct diagnosis *d) = {
    [FINDING_SHARED_RACE] = find_shared_race,
    [FINDING_GLOBAL_RACE] = find_global_race,
    [FINDING_DIVERGENT_BARRIER] = find_divergent_barrier,
    [FINDING_EARLY_RETURN] = find_early_return,
    [FINDING_OUT_OF_BOUNDS] = find_out_of_bounds,
    [FINDING_SHARED_OUT_OF_BOUNDS] = find_shared_bounds,
    [FINDING_LOCAL_OUT_OF_BOUNDS] = find_bad_index,
    [FINDING_UNINITIALIZED_SHARED] = find_uninitialized_shared,
    [FINDING_UNINITIALIZED_GLOBAL] = find_uninitialized_global,
    [FINDING_HOST_FUNCTION] = find_host_function,
    [FINDING_MISALIGNED] = find_misaligned,
    [FINDING_BAD_LAUNCH] = find_bad_launch,
    [FINDING_FAILED_CALL] = find_failed_call,
    [FINDING_LEAK] = find_leak,
    [FINDING_ENDLESS] = find_endless,
    [FINDING_TIME_LIMIT] = find_fault,
    [FINDING_DEADLOCK] = find_deadlock,
    [FINDING_KERNEL_FAULT] = find_fault,
    [FINDING_HOST_FAULT] = find_fault,
};

void facts_find(struct diagnosis *d) {
    if (find_kind[d->f->kind]) find_kind[d->f->kind](d);
}

/* --- the finding ------------------------------------------------------------------------------ */

static void find_phase(struct finding *f, const struct event *e) {
    const struct region *r = region_with_phases();
    const uint32_t width = event_tile_width();
    const uint32_t extent = r ? (uint32_t)r->array->extent[r->array->phase_axis] : 0;
    if (width < 2 || !e->column || extent <= width) return;
    f->phase = (int)((e->column - 1) / width);
    f->phases = (int)((extent + width - 1) / width);
}

/* Two threads at one element of an array, one of which meant an element beyond the last column,
 * which is in the next row: what is wrong is that store. */
static bool is_column_overrun(const struct diagnosis *d) {
    struct finding *f = d->f;
    struct element_at at = {{0}};
    if (!d->region || d->e->kind != FINDING_GLOBAL_RACE) return false;
    for (int i = 0; i < 2; ++i) {
        struct finding_party *party = i ? &f->other : &f->at;
        if (party->access != FINDING_WRITE || !element_intended(&at, d, party)) continue;
        if (party == &f->other) f->at = f->other;
        f->other = (struct finding_party){.known = false};
        memcpy(f->object.index, at.index, sizeof at.index);
        return true;
    }
    return false;
}

/* The barrier that threads pass by comes first. */
static void exchange_barriers(struct finding *f) {
    const struct finding_party at = f->at;
    const struct threads waiting = f->waiting;
    f->at = f->other;
    f->other = at;
    f->waiting = f->elsewhere;
    f->elsewhere = waiting;
}

/* Beside which launches are shown. */
static void set_output(struct finding_launch *launch) {
    const struct region *r = region_output();
    if (r) launch_beside(launch, r->array);
}

struct finding diagnose(const struct event *event) {
    struct finding finding = {.kind = event->kind};
    struct diagnosis d = {.e = event, .f = &finding};
    party_find(&finding, event);
    if (event->kind == FINDING_DIVERGENT_BARRIER && barriers_exchanged(&d))
        exchange_barriers(&finding);
    element_name(&d);
    find_phase(&finding, event);
    if (is_column_overrun(&d)) finding.kind = FINDING_OUT_OF_BOUNDS;
    set_output(&finding.launch);
    facts_find(&d);
    return finding;
}
