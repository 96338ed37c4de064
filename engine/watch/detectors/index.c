/* Indices that the compiler's bounds check objects to. It says the array's type, the index and the
 * line, and not which array: that follows from the access that comes next. */
#include "../../cuda/program/names.h"
#include "../event.h"
#include "../regions.h"
#include <string.h>

enum { ACCESSES_OF_A_STATEMENT = 8 }; /* among which the one with the bad index is looked for */

static void note(struct watch *w, enum finding_kind kind, const struct access *access) {
    const struct bad_index *bad = &w->bad_index;
    const struct access none = {.address = 0};
    struct event event = event_here(w, kind, access ? access : &none);
    event.thread = bad->thread;
    event.file = bad->file;
    event.line = bad->line;
    event.has_index = true;
    event.index = bad->index;
    strncpy(event.array_type, bad->type, sizeof event.array_type - 1);
    event_note(&event);
    w->bad_index.pending = false;
    watch_fast(w, SLOW_INDEX);
}

void bad_index_give_up(struct watch *w) {
    struct shared_name name;
    bool shared = name_any_ends_as(w->bad_index.type, &name);
    note(w, shared ? FINDING_SHARED_OUT_OF_BOUNDS : FINDING_LOCAL_OUT_OF_BOUNDS, NULL);
}

void bad_index_begins(struct watch *w, const char *file, int line, const char *type, long index) {
    if (event_enough()) return;
    if (w->bad_index.pending) bad_index_give_up(w);
    w->bad_index = (struct bad_index){.pending = true,
                                      .thread = running_index.linear,
                                      .file = file,
                                      .line = line,
                                      .type = type,
                                      .index = index};
    watch_slowly(w, SLOW_INDEX);
}

void bad_index_outside(struct watch *w, const struct access *access, const char *file, int line) {
    const bool hidden = region_find(access->address) != NULL;
    const enum finding_kind kind = hidden ? FINDING_UNSEEN : FINDING_LOCAL_OUT_OF_BOUNDS;
    if (!event_is_wanted(kind, access->code, NULL) || (w->bad_index.pending && !hidden)) return;
    struct event event = event_here(w, kind, access);
    event.file = file;
    event.line = line;
    event_note(&event);
}

void bad_index_access(struct watch *w, const struct access *access) {
    struct bad_index *bad = &w->bad_index;
    struct shared_name name;
    const bool shared = watch_is_shared(w, access->address);
    const size_t offset = access->address - (uintptr_t)w->memory.thread_local_storage.begin;
    if (shared && running_index.linear != bad->thread) return;
    if (shared && name_of_index(offset, bad->type, bad->index, &name))
        note(w, FINDING_SHARED_OUT_OF_BOUNDS, access);
    else if (++bad->accesses >= ACCESSES_OF_A_STATEMENT)
        bad_index_give_up(w);
}
