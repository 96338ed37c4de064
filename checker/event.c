/* From the first mistake seen to a finding with words.
 *
 * The first event of a run is kept, on whatever thread it happened; the launch goes on where it can
 * (how wide a tile is may be known only later). Then, on the host's thread, this file looks up
 * lines, asks for names (element.c) and says it (words.c). */
#define _GNU_SOURCE
#include "tell.h"
#include <stdio.h>
#include <string.h>

static struct {
    bool claimed, complete;
    struct event event;
} first;

const void *record_code(record r) {
    extern const char __executable_start[];
    return __executable_start + (r & ((1u << CODE_BITS) - 1));
}

/* --- noting ----------------------------------------------------------------------------------- */

bool event_note(const struct event *event) {
    if (__atomic_exchange_n(&first.claimed, true, __ATOMIC_SEQ_CST)) return false;
    first.event = *event;
    __atomic_store_n(&first.complete, true, __ATOMIC_RELEASE);
    return true;
}

bool event_noted(void) { return __atomic_load_n(&first.claimed, __ATOMIC_RELAXED); }

/* The rightmost column of A that any thread of the block read last. */
static uint32_t column_of_a(const struct watch *w) {
    const struct region *a = global_named("A");
    uint32_t most = 0;
    if (!a || a->cols <= 0) return 0;
    for (unsigned i = 0; i < w->launch->block_threads; ++i) {
        uint32_t column = w->last_a[i] ? (w->last_a[i] - 1) % (uint32_t)a->cols + 1 : 0;
        if (column > most) most = column;
    }
    return most;
}

struct event event_here(const struct watch *w, enum finding_kind kind,
                        const struct access *access) {
    size_t tls = access->address - (uintptr_t)w->memory.thread_local_storage.begin;
    size_t dynamic = (size_t)(emulator_dynamic_shared - w->memory.thread_local_storage.begin);
    return (struct event){
        .kind = kind,
        .in_kernel = true,
        .in_shared = access->address - w->shared_begin < w->all_words * WORD,
        .write = access->write,
        .atomic = access->atomic,
        .code = access->code,
        .thread = running_index.linear,
        .block = w->block,
        .grid_size = w->launch->grid,
        .block_size = w->launch->block,
        .address = access->address,
        .size = access->size,
        .shared_offset = tls,
        .dynamic_offset = dynamic,
        .dynamic_bytes = w->launch->shared_bytes,
        .a_column = column_of_a(w),
    };
}

/* --- places ----------------------------------------------------------------------------------- */

static struct finding_index index_of(uint64_t linear, struct uint3 size) {
    if (!size.x || !size.y) return (struct finding_index){0, 0, 0};
    return (struct finding_index){(unsigned)(linear % size.x), (unsigned)(linear / size.x % size.y),
                                  (unsigned)(linear / size.x / size.y)};
}

void tell_place(struct finding_party *party, const struct place *place) {
    party->line = place->line;
    if (!place->line) return;
    snprintf(party->file, sizeof party->file, "%.*s", (int)sizeof party->file - 1, place->file);
    snprintf(party->function, sizeof party->function, "%.*s", (int)sizeof party->function - 1,
             place->function);
}

struct finding_party tell_party(const struct event *e, const void *code, unsigned thread,
                                uint64_t block, const char *access) {
    struct finding_party party = {.known = true, .in_kernel = e->in_kernel};
    party.thread = index_of(thread, e->block_size);
    party.block = index_of(block, e->grid_size);
    snprintf(party.access, sizeof party.access, "%s", access);
    if (code) {
        void *inside = (char *)(uintptr_t)code - 1;
        struct place place = place_find(&inside, 1);
        tell_place(&party, &place);
    }
    return party;
}

static void find_parties(struct finding *f, const struct event *e) {
    const char *access = !e->size ? "" : e->write ? "write" : "read";
    f->at = tell_party(e, e->code, e->thread, e->block, access);
    if (e->place.line) tell_place(&f->at, &e->place);
    if (e->line) {
        struct place place = {.line = e->line};
        snprintf(place.file, sizeof place.file, "%s", place_relative(e->file));
        snprintf(place.function, sizeof place.function, "%s", f->at.function);
        tell_place(&f->at, &place);
    }
    if (e->has_other)
        f->other = tell_party(e, e->other_code, e->other_thread, e->other_block,
                              e->other_write ? "write" : "read");
}

/* --- phases ----------------------------------------------------------------------------------- */

static void find_phase(struct finding *f, const struct event *e) {
    const struct region *a = global_named("A");
    uint32_t width = block_tile_width;
    if (!a || width < 2 || !e->a_column || (uint32_t)a->cols <= width) return;
    f->phase = (int)((e->a_column - 1) / width) + 1;
    f->phases = (int)(((uint32_t)a->cols + width - 1) / width);
}

/* --- the finding ------------------------------------------------------------------------------ */

/* Two threads at one element of C, one of which meant an element beyond the last column, which lies
 * in the next row: what is wrong is that store. */
static bool is_column_overrun(struct finding *f, const struct event *e) {
    const struct region *r = f->variable[0] ? global_named(f->variable) : NULL;
    struct element at;
    if (!r || e->kind != FINDING_GLOBAL_RACE) return false;
    for (int i = 0; i < 2; ++i) {
        struct finding_party *party = i ? &f->other : &f->at;
        if (strcmp(party->access, "write") != 0 || !element_intended(&at, e, r, party)) continue;
        if (party == &f->other) f->at = f->other;
        f->other = (struct finding_party){.known = false};
        snprintf(f->element, sizeof f->element, "%s[%ld][%ld]", r->name, at.row, at.col);
        return true;
    }
    return false;
}

struct finding event_finding(void) {
    static struct finding finding; /* told as often as asked, looked up once */
    struct finding *f = &finding;
    const struct event *e = &first.event;
    if (!__atomic_load_n(&first.complete, __ATOMIC_ACQUIRE))
        return (struct finding){.kind = FINDING_NONE};
    if (f->kind != FINDING_NONE) return *f;
    f->kind = e->kind;
    find_parties(f, e);
    element_name(f, e);
    find_phase(f, e);
    if (is_column_overrun(f, e)) f->kind = FINDING_OUT_OF_BOUNDS;
    words_say(f, e);
    return *f;
}
