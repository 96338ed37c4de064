/* Noting the first mistake of a run, on whatever thread it happens: see event.h. */
#include "event.h"
#include "launches.h"
#include "regions.h"

static struct first {
    bool claimed;
    struct event noted, instead;
    const struct event *complete; /* the one of them that counts */
} first, first_grave;
static uint32_t tile_width;
static double seconds_then; /* for a block */

/* --- noting ----------------------------------------------------------------------------------- */

/* By these a run does what it could not do on a GPU, or hides what it does. None may hide behind a
 * mistake that costs less. */
static bool is_grave(enum finding_kind kind) {
    return kind == FINDING_TAMPERING || kind == FINDING_UNSEEN || kind == FINDING_HOST_FUNCTION ||
           kind == FINDING_FOREIGN_LOCAL;
}

static struct first *first_of(enum finding_kind kind) {
    return is_grave(kind) ? &first_grave : &first;
}

void event_hurries(double block_seconds) { seconds_then = block_seconds; }

bool event_note(const struct event *event) {
    struct first *which = first_of(event->kind);
    if (__atomic_exchange_n(&which->claimed, true, __ATOMIC_SEQ_CST)) return false;
    which->noted = *event;
    if (!which->noted.launch) which->noted.launch = launches_noted();
    __atomic_store_n(&which->complete, &which->noted, __ATOMIC_RELEASE);
    if (seconds_then > 0) launch_limit_block(seconds_then);
    return true;
}

void event_replace(const struct event *event) {
    first.instead = *event;
    first.instead.launch = first.noted.launch;
    __atomic_store_n(&first.complete, &first.instead, __ATOMIC_RELEASE);
}

bool event_is_wanted(enum finding_kind kind) {
    return !__atomic_load_n(&first_of(kind)->claimed, __ATOMIC_RELAXED);
}

bool event_noted(void) {
    return __atomic_load_n(&first.claimed, __ATOMIC_RELAXED) ||
           __atomic_load_n(&first_grave.claimed, __ATOMIC_RELAXED);
}

const struct event *event_first(void) {
    const struct event *grave = __atomic_load_n(&first_grave.complete, __ATOMIC_ACQUIRE);
    return grave ? grave : __atomic_load_n(&first.complete, __ATOMIC_ACQUIRE);
}

/* The index along the phase axis, of the element that holds this word of the array. */
static uint32_t along_phases(const struct engine_array *array, uint32_t word) {
    int64_t index[ENGINE_DIMENSIONS];
    array_index(array, (int64_t)((uint64_t)word * WORD / array_element_bytes(array)), index);
    return (uint32_t)index[array->phase_axis];
}

static uint32_t column_reached(const struct watch *w) {
    const struct region *r = region_with_phases();
    uint32_t most = 0;
    for (unsigned i = 0; r && i < w->launch->block_threads; ++i) {
        const uint32_t read = w->last_read[i];
        const uint32_t column = read ? along_phases(r->array, read - 1) + 1 : 0;
        if (column > most) most = column;
    }
    return most;
}

struct event event_here(const struct watch *w, enum finding_kind kind,
                        const struct access *access) {
    const char *storage = w->memory.thread_local_storage.begin;
    return (struct event){
        .kind = kind,
        .in_kernel = true,
        .in_shared = watch_is_shared(w, access->address),
        .write = access->write,
        .atomic = access->atomic,
        .code = access->code,
        .thread = running_index.linear,
        .block = w->epochs.block,
        .grid_size = w->launch->grid,
        .block_size = w->launch->block,
        .address = access->address,
        .size = access->size,
        .shared_offset = access->address - (uintptr_t)storage,
        .dynamic_offset = (size_t)(emulator_dynamic_shared - storage),
        .dynamic_bytes = w->launch->shared_bytes,
        .column = column_reached(w),
    };
}

void event_stop(const struct watch *w, enum finding_kind kind, const struct access *access,
                cudaError_t error) {
    struct event event = event_here(w, kind, access);
    event_note(&event);
    fault_raise(error, NULL);
}

/* --- tile phases ------------------------------------------------------------------------------ */

uint32_t event_tile_width(void) { return tile_width; }

void event_learn_tile_width(struct watch *w) {
    const struct region *r = tile_width ? NULL : region_with_phases();
    for (unsigned i = 0; r && i < w->launch->block_threads; ++i) {
        const uint32_t before = w->read_at_barrier[i], now = w->last_read[i];
        w->read_at_barrier[i] = now;
        if (!before || tile_width) continue;
        const uint32_t from = along_phases(r->array, before - 1),
                       to = along_phases(r->array, now - 1);
        if (to > from) tile_width = to - from;
    }
}
