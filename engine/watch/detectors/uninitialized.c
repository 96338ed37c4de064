/* Reads of what nobody has written.
 *
 * Of shared memory such a read is reported only at the interval's end: if another thread writes the
 * element until then, a barrier is missing, not a value. */
#include "../detector.h"
#include "unstored.h"

extern const struct detector detector_uninitialized;

/* In this interval, one of each instruction. */
enum { UNWRITTEN_READS = 8 };
struct unwritten {
    int count;
    struct {
        size_t word;
        epoch reader;
        bool own; /* the thread has written it then */
    } read[UNWRITTEN_READS];
};

static struct unwritten *of(const struct watch *w) {
    return detector_state(&detector_uninitialized, w);
}

static void begin(struct watch *w) { of(w)->count = 0; }

static void note(struct watch *w, size_t word, epoch reader, bool interval_ends) {
    if (w->ended) return;
    const struct access access = {
        .address = w->shared_begin + word * WORD, .size = WORD, .code = epoch_code(reader)};
    struct event event = event_here(w, FINDING_UNINITIALIZED_SHARED, &access);
    event.thread = epoch_thread(reader);
    if (interval_ends) event.unstored = unstored_find(w, word);
    if (w->returned_at_barrier) {
        event.kind = FINDING_EARLY_RETURN;
        event.has_other = true;
        event.other_code = event.code;
        event.other_thread = event.thread;
        event.other_block = w->epochs.block;
        event.code = w->last_barrier;
        event.thread = threads_first(&w->all_returned_at_barrier);
        event.returned = w->all_returned_at_barrier;
    }
    event_note(&event);
}

static void read_shared(struct watch *w, size_t word, epoch now) {
    struct unwritten *u = of(w);
    for (int i = 0; i < u->count; ++i)
        if (!((u->read[i].reader ^ now) & EPOCH_CODE_MASK)) return;
    if (u->count == UNWRITTEN_READS) return;
    u->read[u->count].word = word;
    u->read[u->count].own = false;
    u->read[u->count++].reader = now;
}

/* Read, and then written by the same thread; or by another one, which is a race. */
static void write_shared(struct watch *w, size_t word, epoch now) {
    struct unwritten *u = of(w);
    for (int i = 0; i < u->count; ++i)
        if (u->read[i].word == word)
            u->read[i].own = epoch_thread(u->read[i].reader) == epoch_thread(now);
}

static void interval_ends(struct watch *w) {
    struct unwritten *u = of(w);
    for (int i = 0; i < u->count; ++i)
        if (u->read[i].own || shared_is_unwritten(w, u->read[i].word))
            note(w, u->read[i].word, u->read[i].reader, !u->read[i].own);
    u->count = 0;
}

static void read_global(struct watch *w, const struct access *access) {
    if (event_has_ended()) return; /* a thread that ended may have left it out */
    const struct event event = event_here(w, FINDING_UNINITIALIZED_GLOBAL, access);
    event_note(&event);
}

const struct detector detector_uninitialized = {.name = "uninitialized",
                                                .worker_bytes = sizeof(struct unwritten),
                                                .block_begins = begin,
                                                .interval_ends = interval_ends,
                                                .shared_unwritten = read_shared,
                                                .shared_written = write_shared,
                                                .global_unwritten = read_global};
