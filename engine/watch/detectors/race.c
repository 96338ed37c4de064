/* Threads that nothing orders: two that access one word, one of them writing, race; and threads
 * of one block that wait at different barriers diverge. */
#include "../detector.h"

/* --- shared memory ---------------------------------------------------------------------------- */

/* At a byte: an element may be smaller than a word. */
static struct event event_at(const struct watch *w, uintptr_t address, epoch r, bool write) {
    const struct access access = {
        .address = address, .size = WORD, .write = write, .code = epoch_code(r)};
    struct event event = event_here(w, FINDING_SHARED_RACE, &access);
    event.thread = epoch_thread(r);
    return event;
}

static void add_other(struct event *event, const struct watch *w, epoch other) {
    event->has_other = event->other_write = true;
    event->other_code = epoch_code(other);
    event->other_thread = epoch_thread(other);
    event->other_block = w->epochs.block;
}

/* Words that a thread has stored in this interval; from that code, or null: from any. */
static unsigned words_stored(const struct watch *w, unsigned thread, const void *code) {
    unsigned count = 0;
    for (size_t i = 0; i < w->all_words; ++i) {
        const epoch write = w->shadow[i].write;
        if (write >= w->epochs.interval && write < EPOCH_PENDING && epoch_thread(write) == thread)
            count += !code || epoch_code(write) == code;
    }
    return count;
}

/* As many different ones as there is room for. */
static void find_stores(const struct watch *w, const void *stores[STORES]) {
    int count = 0;
    for (size_t i = 0; i < w->all_words && count < STORES; ++i) {
        const epoch write = w->shadow[i].write;
        int known = 0;
        if (write < w->epochs.interval || write >= EPOCH_PENDING) continue;
        while (known < count && stores[known] != epoch_code(write)) known++;
        if (known == count) stores[count++] = epoch_code(write);
    }
}

/* Null: it waits at none. */
static const void *barrier_of(const struct watch *w, unsigned thread) {
    for (int i = 0; i < BARRIER_PLACES; ++i)
        if (threads_has(&w->arrived[i].threads, thread)) return w->arrived[i].code;
    return NULL;
}

/* The copies of a group are as old as those of the same group of another thread. If the running
 * thread has not come as far as the copy's, that one began too early; else the copy
 * was not waited for, as always where the thread has begun none. */
static bool began_too_early(const struct watch *w, epoch pending) {
    const uint64_t mask = EPOCH_STEP_MASK >> STEP_BIT;
    uint64_t mine = w->copied_group[running_index.linear];
    uint64_t ahead = ((pending >> STEP_BIT) - (mine - 1)) & mask;
    return mine && epoch_thread(pending) != running_index.linear && ahead && ahead <= mask / 2;
}

/* An access to a word that a copy is on its way to. */
static void note_pending(struct watch *w, uintptr_t address, epoch now, bool now_writes,
                         epoch pending) {
    struct event event = event_at(w, address, now, now_writes);
    add_other(&event, w, pending);
    event.pending = true;
    event.overwritten = watch_shared_word(w, address)->earlier != 0 && began_too_early(w, pending);
    event_note(&event);
}

/* The reader comes first; of two writers, the later one. */
static void shared_conflict(struct watch *w, uintptr_t address, epoch now, bool now_writes,
                            epoch other, bool other_writes) {
    if (epoch_is_pending(other)) {
        note_pending(w, address, now, now_writes, other);
        return;
    }
    const struct shared_word *s = watch_shared_word(w, address);
    const epoch first = now_writes && !other_writes ? other : now;
    const epoch second = first == now ? other : now;
    if (!event_is_wanted(FINDING_SHARED_RACE, epoch_code(first), epoch_code(second))) return;
    const epoch held = s->write < w->epochs.interval ? s->write : s->earlier;
    struct event event = event_at(w, address, first, now_writes && other_writes);
    add_other(&event, w, second);
    event.atomic = event.write && first & EPOCH_STRONG; /* a read of that kind may be volatile */
    event.other_atomic = second & EPOCH_STRONG;
    const unsigned readers = words_stored(w, epoch_thread(first), event.other_code);
    const unsigned writers = words_stored(w, epoch_thread(second), event.other_code) + now_writes;
    const bool writer_ahead = readers && writers >= 2 * readers; /* by a turn of the loop */
    event.reader_ahead = writers && readers >= 2 * writers && !now_writes;
    event.reader_wrote =
        !event.write && !writer_ahead && words_stored(w, epoch_thread(first), NULL);
    event.overwritten = held != 0 && !(event.reader_wrote && !now_writes);
    event.reader_at = barrier_of(w, epoch_thread(first));
    find_stores(w, event.stores);
    const struct event *kept = event_note(&event);
    if (!w->raced) w->raced = kept;
}

/* --- global memory ---------------------------------------------------------------------------- */

static void global_conflict(struct watch *w, const struct access *access,
                            const struct stamp *earlier, bool earlier_writes) {
    if (!event_is_wanted(FINDING_GLOBAL_RACE, access->code, epoch_code(earlier->when))) return;
    struct event event = event_here(w, FINDING_GLOBAL_RACE, access);
    event.has_other = true;
    event.other_write = earlier_writes;
    event.other_atomic = earlier_writes && earlier->when & EPOCH_STRONG;
    event.other_code = epoch_code(earlier->when);
    event.other_thread = epoch_thread(earlier->when);
    event.other_block = stamp_block(earlier);
    event.synchronizes = w->synchronizes || access->is_volatile;
    event_note(&event);
}

const struct detector detector_race = {.shared_conflict = shared_conflict,
                                       .global_conflict = global_conflict};

/* --- divergence ------------------------------------------------------------------------------- */

/* diagnosis.c decides which of the two barriers is to blame. A race in this interval may come of
 * it. */
static void barrier_opens(struct watch *w) {
    const struct waiting *at = &w->arrived[0], *other = &w->arrived[1];
    if (!other->code || w->ended) return;
    const struct access access = {.code = at->code};
    struct event event = event_here(w, FINDING_DIVERGENT_BARRIER, &access);
    event.thread = threads_first(&at->threads);
    event.has_other = true;
    event.other_code = other->code;
    event.other_thread = threads_first(&other->threads);
    event.other_block = w->epochs.block;
    event.last_barrier = w->last_barrier;
    event.waiting = at->threads;
    event.elsewhere = other->threads;
    event.returned = w->epochs.returned;
    if (w->raced)
        event_replace(w->raced, &event);
    else
        event_note(&event);
}

const struct detector detector_divergence = {.barrier_opens = barrier_opens};
