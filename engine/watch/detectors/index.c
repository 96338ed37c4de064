/* Indices that the compiler's bounds check objects to. It says the array's type, the index and the
 * line, and not which array: that follows from the access that comes next. */
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../shadow/regions.h"
#include <string.h>

extern const struct detector detector_index;

enum { ACCESSES_OF_A_STATEMENT = 8 }; /* among which the one with the bad index is looked for */

/* Of a worker; pending while the reason SLOW_INDEX is there. */
struct bad_index {
    unsigned thread;
    int accesses; /* seen since */
    const char *file, *type;
    int line;
    long index;
};

static struct bad_index *of(const struct watch *w) { return detector_state(&detector_index, w); }

static bool is_pending(const struct watch *w) { return w->slow & SLOW_INDEX; }

static void note(struct watch *w, enum finding_kind kind, const struct access *access) {
    const struct bad_index *bad = of(w);
    const struct access none = {.address = 0};
    struct event event = event_here(w, kind, access ? access : &none);
    event.thread = bad->thread;
    event.file = bad->file;
    event.line = bad->line;
    event.has_index = true;
    event.index = bad->index;
    strncpy(event.array_type, bad->type, sizeof event.array_type - 1);
    event_note(&event);
    watch_fast(w, SLOW_INDEX);
}

/* No access followed: it was a local array; or the compiler left the access out. */
static void give_up(struct watch *w) {
    struct shared_name name;
    bool shared = name_any_ends_as(of(w)->type, &name);
    note(w, shared ? FINDING_SHARED_OUT_OF_BOUNDS : FINDING_LOCAL_OUT_OF_BOUNDS, NULL);
}

static void interval_ends(struct watch *w) {
    if (is_pending(w)) give_up(w);
}

static void thread_waits(struct watch *w, unsigned thread, bool returned) {
    (void)returned;
    if (is_pending(w) && of(w)->thread == thread) give_up(w);
}

static void begins(struct watch *w, const char *file, int line, const char *type, long index) {
    if (event_enough()) return;
    if (is_pending(w)) give_up(w);
    *of(w) = (struct bad_index){
        .thread = running_index.linear, .file = file, .line = line, .type = type, .index = index};
    watch_slowly(w, SLOW_INDEX);
}

/* Whether this access is the one. */
static void access_follows(struct watch *w, const struct access *access) {
    struct bad_index *bad = of(w);
    struct shared_name name;
    if (!is_pending(w)) return;
    const bool shared = watch_is_shared(w, access->address);
    const size_t offset = access->address - (uintptr_t)w->memory.thread_local_storage.begin;
    if (shared && running_index.linear != bad->thread) return;
    if (shared && name_of_index(offset, bad->type, bad->index, &name))
        note(w, FINDING_SHARED_OUT_OF_BOUNDS, access);
    else if (++bad->accesses >= ACCESSES_OF_A_STATEMENT)
        give_up(w);
}

/* Without such an index. */
static void outside_object(struct watch *w, const struct access *access, const char *file,
                           int line) {
    const bool hidden = region_find(access->address) != NULL;
    const enum finding_kind kind = hidden ? FINDING_UNSEEN : FINDING_LOCAL_OUT_OF_BOUNDS;
    if (!event_is_wanted(kind, access->code, NULL) || (is_pending(w) && !hidden)) return;
    struct event event = event_here(w, kind, access);
    event.file = file;
    event.line = line;
    event_note(&event);
}

const struct detector detector_index = {.worker_bytes = sizeof(struct bad_index),
                                        .thread_waits = thread_waits,
                                        .interval_ends = interval_ends,
                                        .bad_index = begins,
                                        .access = access_follows,
                                        .outside_object = outside_object};
