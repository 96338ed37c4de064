/* Keeping the mistakes of a run, on whatever thread they happen: see event.h.
 *
 * Each is claimed by a key, so that no lock is needed: a worker may be stopped at any instruction.
 */
#include "event.h"
#include "launches.h"
#include "shadow/shadow.h"

/* In the order of the run. */
static struct {
    uint64_t key[EVENTS]; /* 0: free, as are all behind it */
    struct kept_event {
        bool complete, replaced;
        struct event event;
    } event[EVENTS];
} kept;
static bool keeps_all, has_ended;
static uint32_t tile_width;
static double seconds_then; /* for a block */

/* --- keys ------------------------------------------------------------------------------------- */

/* Of a run of which the first event is kept. */
enum { FIRST = 1, FIRST_GRAVE, FIRST_CALL, INSTEAD };

/* By these a run does what it could not do on a GPU, or hides what it does. None may hide behind a
 * mistake that costs less. */
static bool is_grave(enum finding_kind kind) {
    return kind == FINDING_TAMPERING || kind == FINDING_UNSEEN || kind == FINDING_HOST_FUNCTION ||
           kind == FINDING_FOREIGN_LOCAL;
}

/* That failed: it is noted when the run ends, although it may have come before all else. */
static bool is_call(enum finding_kind kind) {
    return kind == FINDING_FAILED_CALL || kind == FINDING_BAD_LAUNCH;
}

/* Of a place, in PLACE_BITS: an instruction, or a line where the compiler has said it. */
enum { PLACE_BITS = CODE_BITS + 1 };

static uint64_t place_key(const void *code, int line) {
    extern const char __executable_start[];
    if (line > 0) return (uint64_t)line << 1 & EPOCH_CODE_MASK;
    return code ? (((uintptr_t)code - (uintptr_t)__executable_start) & EPOCH_CODE_MASK) << 1 | 1
                : 0;
}

static uint64_t key_of_places(enum finding_kind kind, uint64_t one, uint64_t other) {
    const uint64_t low = one < other ? one : other, high = one < other ? other : one;
    if (!keeps_all) return is_grave(kind) ? FIRST_GRAVE : is_call(kind) ? FIRST_CALL : FIRST;
    return ((uint64_t)kind << PLACE_BITS | high) << PLACE_BITS | low;
}

static uint64_t key_of(const struct event *e) {
    const int line = e->file ? e->line : e->place.line;
    return key_of_places(e->kind, place_key(e->code, line),
                         e->has_other ? place_key(e->other_code, 0) : 0);
}

int event_claim(uint64_t keys[], int count, uint64_t key) {
    for (int i = 0; i < count; ++i) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&keys[i], &there, key, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return i;
        if (there == key) return -1;
    }
    return -1;
}

/* Null: the key is taken, or there is no room. */
static struct kept_event *claim(uint64_t key) {
    const int at = event_claim(kept.key, EVENTS, key);
    return at < 0 ? NULL : &kept.event[at];
}

static uint64_t key_at(unsigned i) { return __atomic_load_n(&kept.key[i], __ATOMIC_RELAXED); }

/* --- noting ----------------------------------------------------------------------------------- */

void event_keep_all(void) { keeps_all = true; }

void event_hurries(double block_seconds) { seconds_then = block_seconds; }

static void keep_event(struct kept_event *k, const struct event *event) {
    k->event = *event;
    if (!k->event.launch && !is_call(event->kind)) k->event.launch = launches_noted();
    __atomic_store_n(&k->complete, true, __ATOMIC_RELEASE);
}

const struct event *event_note(const struct event *event) {
    struct kept_event *k = claim(key_of(event));
    if (!k) return NULL;
    keep_event(k, event);
    if (seconds_then > 0) launch_limit_block(seconds_then);
    return &k->event;
}

static struct kept_event *keeper(const struct event *event) {
    return (struct kept_event *)((char *)(uintptr_t)event - offsetof(struct kept_event, event));
}

void event_stored_again(const struct event *event, const void *code) {
    const void **stored = keeper(event)->event.stored_again;
    int i = 0;
    while (i < STORES && stored[i] && stored[i] != code) i++;
    if (i < STORES) __atomic_store_n(&stored[i], code, __ATOMIC_RELAXED);
}

void event_within_warp(const struct event *event) {
    __atomic_store_n(&keeper(event)->event.within_warp, true, __ATOMIC_RELAXED);
}

void event_replace(const struct event *old, const struct event *event) {
    struct kept_event *k = keeper(old);
    struct kept_event *instead = claim(keeps_all ? key_of(event) : INSTEAD);
    struct event e = *event;
    e.launch = old->launch;
    if (instead) keep_event(instead, &e);
    __atomic_store_n(&k->replaced, true, __ATOMIC_RELEASE);
}

bool event_is_wanted(enum finding_kind kind, const void *code, const void *other_code) {
    const uint64_t key = key_of_places(kind, place_key(code, 0), place_key(other_code, 0));
    unsigned i = 0;
    while (i < EVENTS && key_at(i) && key_at(i) != key) ++i;
    return i < EVENTS && !key_at(i); /* or it is claimed, or there is no room */
}

bool event_enough(void) { return key_at(keeps_all ? EVENTS - 1 : 0); }

static bool comes_before(const struct event *a, const struct event *b) {
    const bool grave = is_grave(a->kind);
    return grave != is_grave(b->kind) ? grave : a->launch < b->launch;
}

int event_list(const struct event *events[EVENTS]) {
    int count = 0;
    for (const struct kept_event *k = kept.event; k < kept.event + EVENTS; ++k) {
        if (!__atomic_load_n(&k->complete, __ATOMIC_ACQUIRE) ||
            __atomic_load_n(&k->replaced, __ATOMIC_ACQUIRE))
            continue;
        int at = count++;
        for (; at && comes_before(&k->event, events[at - 1]); --at) events[at] = events[at - 1];
        events[at] = &k->event;
    }
    return count;
}

const struct event *event_first(void) {
    const struct event *events[EVENTS];
    return event_list(events) ? events[0] : NULL;
}

/* --- making one ------------------------------------------------------------------------------- */

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

void event_note_here(const struct watch *w, enum finding_kind kind, const struct access *access) {
    const struct event event = event_here(w, kind, access);
    event_note(&event);
}

bool event_has_ended(void) { return __atomic_load_n(&has_ended, __ATOMIC_RELAXED); }

void event_stop(struct watch *w, enum finding_kind kind, const struct access *access,
                cudaError_t error) {
    if (event_is_wanted(kind, access->code, NULL)) {
        struct event event = event_here(w, kind, access);
        if (kind == FINDING_OUT_OF_BOUNDS) event.nearest = region_nearest(access->address);
        event_note(&event);
    }
    if (!keeps_all || is_grave(kind)) fault_raise(error, FAULT_NONE);
    w->ended = true;
    if (w->slow & SLOW_INDEX) watch_fast(w, SLOW_INDEX); /* no access follows */
    __atomic_store_n(&has_ended, true, __ATOMIC_RELAXED);
    emulator_end_thread();
}

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
