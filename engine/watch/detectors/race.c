/* Threads that nothing orders: two that access one word, one of them writing, race; threads of one
 * block that wait at different barriers diverge; and a read may come before any write. */
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../launches.h"

/* --- what comes after a race ------------------------------------------------------------------
 *
 * Where two threads store to the element, no barrier between a load and a store orders them; and
 * where threads of two warps race as well, no __syncwarp() does. Both may be yet to come when the
 * race is found: races are followed up to the barrier. */

extern const struct detector detector_race;

enum { FOLLOWED = 8 /* in an interval */, GUESSES = 16 /* two of 8 bytes with a cell each */ };
struct races {          /* of a worker */
    bool between_warps; /* some threads have raced, on shared memory, in this interval */
    int count, guess_count;
    struct followed_race {
        const struct event *kept;
        bool known; /* who has stored to the element, without an atomic operation: */
        unsigned thread;
        uint64_t block;
    } race[FOLLOWED];
    struct event guess[GUESSES];
};

static struct races *races_of(const struct watch *w) { return detector_state(&detector_race, w); }

static void follow(struct watch *w, const struct event *kept) {
    struct races *f = races_of(w);
    if (!w->follows) f->count = 0;
    w->follows = true;
    if (f->count == FOLLOWED) return;
    struct followed_race *race = &f->race[f->count++];
    *race = (struct followed_race){.kept = kept};
    if (kept->other_write && !kept->other_atomic)
        race->known = true, race->thread = kept->other_thread, race->block = kept->other_block;
    else if (kept->write && !kept->atomic)
        race->known = true, race->thread = kept->thread, race->block = kept->block;
}

static void stored_after_race(struct watch *w, const struct access *access) {
    struct races *f = races_of(w);
    for (struct followed_race *race = f->race; race < f->race + f->count; ++race) {
        const unsigned thread = running_index.linear;
        if (race->kept->address - access->address >= access->size) continue;
        if (race->known && (race->thread != thread || race->block != w->epochs.block))
            event_stored_again(race->kept, access->code);
        if (!race->known) race->thread = thread, race->block = w->epochs.block;
        race->known = true;
    }
}

static void note_race(struct watch *w, const struct event *event) {
    const struct event *kept = event_note(event);
    if (!w->raced && event->kind == FINDING_SHARED_RACE) w->raced = kept;
    if (kept) follow(w, kept);
}

/* --- guesses ----------------------------------------------------------------------------------
 *
 * A thread may load what it expects without an atomic operation, as in the CUDA C++ Programming
 * Guide's atomicAdd(double): atomicCAS() checks whether that was there. A race of such a read
 * with an atomic operation is no mistake. So it is kept back until the reader has made a
 * compare-and-swap at the address, or waits at a barrier or returns. */

static void note_unless_guess(struct watch *w, const struct event *event) {
    struct races *r = races_of(w);
    const bool now = !event->write && event->thread == running_index.linear;
    if (now && event->other_atomic && r->guess_count < GUESSES) {
        r->guess[r->guess_count++] = *event;
        w->guesses = true;
    } else {
        note_race(w, event);
    }
}

static void compared(struct watch *w, const struct access *access) {
    struct races *r = races_of(w);
    int left = 0;
    for (int i = 0; i < r->guess_count; ++i)
        if (r->guess[i].address - access->address >= access->size) r->guess[left++] = r->guess[i];
    r->guess_count = left;
}

/* The running thread's: it made no compare-and-swap. */
static void note_guesses(struct watch *w) {
    struct races *r = races_of(w);
    for (int i = 0; i < r->guess_count; ++i) note_race(w, &r->guess[i]);
    r->guess_count = 0;
    w->guesses = false;
}

static void race_thread_waits(struct watch *w, unsigned thread, bool returned) {
    (void)thread, (void)returned;
    if (w->guesses) note_guesses(w);
}

/* An atomic operation finds a read of another block, which may yet make its compare-and-swap, as
 * long as the launch goes on. A worker may be stopped at any instruction: one that is not
 * `complete` counts for nothing. */
enum { LATE = 16 };
static struct {
    unsigned count;
    struct late_race {
        bool complete;
        struct event event;
        struct stamp read;
    } race[LATE];
} late;

static void decide_late(const struct event *event, const struct stamp *read) {
    const unsigned at = __atomic_fetch_add(&late.count, 1, __ATOMIC_RELAXED);
    if (at >= LATE) return;
    late.race[at] = (struct late_race){.event = *event, .read = *read};
    __atomic_store_n(&late.race[at].complete, true, __ATOMIC_RELEASE);
}

static void race_launch_ended(const struct launch *launch) {
    (void)launch;
    for (struct late_race *race = late.race; race < late.race + LATE; ++race) {
        uintptr_t begin;
        if (!race->complete) continue;
        const struct cells *cells = global_cells(race->event.address, &begin);
        if (cells && cells_know_read(cells, (race->event.address - begin) / WORD, &race->read))
            event_note(&race->event);
        race->complete = false;
    }
    late.count = 0;
}

static bool of_one_warp(const struct event *e) {
    return e->has_other && e->thread / WARP_SIZE == e->other_thread / WARP_SIZE;
}

static void races_end(struct watch *w) {
    struct races *f = races_of(w);
    note_guesses(w);
    for (int i = 0; w->follows && !f->between_warps && !w->ended && i < f->count; ++i)
        if (of_one_warp(f->race[i].kept)) event_within_warp(f->race[i].kept);
    f->between_warps = false;
}

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

/* Words that the thread of an access has stored in this interval, since its warp's last operation;
 * from that code, or null: from any. */
static unsigned words_stored(const struct watch *w, epoch of, const void *code) {
    unsigned count = 0;
    for (size_t i = 0; i < w->all_words; ++i) {
        const epoch write = w->shadow[i].write;
        if (write < EPOCH_PENDING && !((write ^ of) & ~(EPOCH_CODE_MASK | EPOCH_STRONG)))
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

/* The copies of a group are as old as those of the same group of another thread. If there was no
 * barrier since the copy began, and the running thread has not come as far, be it that it makes no
 * copy of that group, the copy began too early; else it was not waited for. */
static bool began_too_early(const struct watch *w, epoch pending) {
    const uint64_t mask = EPOCH_STEP_MASK >> STEP_BIT, committed = copies_committed();
    const uint64_t copied = w->copied[running_index.linear].group;
    const uint64_t mine = committed > copied ? committed : copied;
    const uint64_t ahead = ((pending >> STEP_BIT) - (mine - 1)) & mask;
    return mine && epoch_thread(pending) != running_index.linear && ahead && ahead <= mask / 2 &&
           w->copied[epoch_thread(pending)].interval == w->epochs.interval;
}

/* Whether the accesses to a word that are known, of this interval, conflict with one of another
 * warp: of several, one alone is heard as a conflict. */
static bool meets_another_warp(const struct watch *w, uintptr_t address, epoch now, bool now_writes,
                               epoch other) {
    const struct shared_word *s = watch_shared_word(w, address);
    epoch known[] = {other, s->write, 0, s->read, s->other_read};
    struct shadow_cell *cell[WORD];
    if (w->epochs.has_pairs) return true; /* perhaps */
    if (s->write == EPOCH_IN_CELLS) {     /* volatile accesses, such as a warp's in old code */
        const unsigned cells =
            cells_find(&w->cells, watch_word(w, address), (1u << WORD) - 1, cell);
        const struct shadow_cell *c = cell[cells > 1 ? address % WORD : 0];
        known[1] = c->write.when, known[2] = c->strong_write.when;
        known[3] = c->read.when, known[4] = c->other_read.when;
    }
    if (!now_writes) known[3] = known[4] = 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; ++i)
        if (known[i] >= w->epochs.interval && known[i] < EPOCH_IN_BYTES &&
            (known[i] ^ now) & EPOCH_WARP_MASK)
            return true;
    return false;
}

static bool is_before(const struct watch *w, epoch write, epoch r) {
    return write &&
           (write < w->epochs.interval || (!w->epochs.has_pairs && epoch_is_step_before(write, r)));
}

/* Whether the word had been written before what comes before this access. */
static bool held_value(const struct watch *w, const struct shared_word *s, epoch r) {
    return is_before(w, s->write, r) || is_before(w, s->earlier, r);
}

/* The reader comes first; of two writers, the later one. */
static void shared_conflict(struct watch *w, uintptr_t address, epoch now, bool now_writes,
                            epoch other, bool other_writes) {
    const struct shared_word *s = watch_shared_word(w, address);
    races_of(w)->between_warps |= meets_another_warp(w, address, now, now_writes, other);
    if (epoch_is_pending(other)) { /* a copy to the word is on its way */
        struct event event = event_at(w, address, now, now_writes);
        add_other(&event, w, other);
        event.pending = true;
        event.overwritten = s->earlier != 0 && began_too_early(w, other);
        event_note(&event);
        return;
    }
    const epoch first = now_writes && !other_writes ? other : now;
    const epoch second = first == now ? other : now;
    if (!event_is_wanted(FINDING_SHARED_RACE, epoch_code(first), epoch_code(second))) return;
    struct event event = event_at(w, address, first, now_writes && other_writes);
    add_other(&event, w, second);
    event.atomic = event.write && first & EPOCH_STRONG; /* a read of that kind may be volatile */
    event.other_atomic = second & EPOCH_STRONG;
    const unsigned readers = words_stored(w, first, event.other_code);
    const unsigned writers = words_stored(w, second, event.other_code) + now_writes;
    const bool writer_ahead = readers && writers >= 2 * readers; /* by a turn of the loop */
    event.reader_ahead = writers && readers >= 2 * writers && !now_writes;
    event.reader_wrote = !event.write && !writer_ahead && words_stored(w, first, NULL);
    event.reader_in_warp = event.reader_wrote && now_writes && first & EPOCH_STEP_MASK;
    event.overwritten = held_value(w, s, first) && !(event.reader_wrote && !now_writes);
    for (int i = 0; i < BARRIER_PLACES; ++i)
        if (threads_has(&w->arrived[i].threads, epoch_thread(first)))
            event.reader_at = w->arrived[i].code;
    find_stores(w, event.stores);
    note_unless_guess(w, &event);
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
    if (access->atomic && !earlier_writes && event.other_block != event.block)
        decide_late(&event, earlier);
    else
        note_unless_guess(w, &event);
}

const struct detector detector_race = {.worker_bytes = sizeof(struct races),
                                       .thread_waits = race_thread_waits,
                                       .interval_ends = races_end,
                                       .launch_ended = race_launch_ended,
                                       .compared = compared,
                                       .shared_conflict = shared_conflict,
                                       .global_conflict = global_conflict,
                                       .stored_after_race = stored_after_race};

/* --- divergence ------------------------------------------------------------------------------- */

/* One of each barrier and of the one before it, whose code is the key. */
enum { SKIPPED = 8 };
static struct {
    uint64_t key[SKIPPED];
    struct event event[SKIPPED];
} skipped;

const struct event *divergence_skipped(int number) {
    return number < SKIPPED && skipped.key[number] ? &skipped.event[number] : NULL;
}

static void note_skipped(const struct watch *w, const struct event *event) {
    const uint64_t last = (uint64_t)(uintptr_t)event->last_barrier;
    const int at = event_claim(skipped.key, SKIPPED, (uint64_t)(uintptr_t)event->code << 32 ^ last);
    if (at < 0) return;
    struct event *const e = &skipped.event[at];
    *e = *event;
    e->launch = launches_noted();
    for (unsigned i = 0; i < sizeof e->returned.bits / sizeof *e->returned.bits; ++i)
        e->returned.bits[i] &= ~w->all_returned_at_barrier.bits[i];
}

/* diagnosis.c decides which of the two barriers is to blame. A race in this interval may come of
 * it. */
static void divergence_barrier_opens(struct watch *w) {
    const struct waiting *at = &w->arrived[0], *other = &w->arrived[1];
    if (w->ended || (!other->code && w->returned == w->returned_at_barrier)) return;
    const struct access access = {.code = at->code};
    struct event event = event_here(w, FINDING_DIVERGENT_BARRIER, &access);
    event.thread = threads_first(&at->threads);
    event.last_barrier = w->last_barrier;
    event.waiting = at->threads;
    event.returned = w->epochs.returned;
    if (!other->code) {
        note_skipped(w, &event);
        return;
    }
    event.has_other = true;
    event.other_code = other->code;
    event.other_thread = threads_first(&other->threads);
    event.other_block = w->epochs.block;
    event.elsewhere = other->threads;
    if (w->raced)
        event_replace(w->raced, &event);
    else
        event_note(&event);
}

const struct detector detector_divergence = {.barrier_opens = divergence_barrier_opens};

/* --- unwritten elements of a shared array, as rows and columns -------------------------------- */

/* The words of an array, or of the last two dimensions of one: rows and columns. */
struct table {
    const struct watch *w;
    size_t word;             /* the first one */
    size_t extent[2], at[2]; /* how many there are; and those of the word that was read */
};

/* A row (axis 0), or a column (1). */
static bool is_line_unstored(const struct table *t, int axis, size_t line) {
    const size_t step = axis ? t->extent[1] : 1, first = axis ? line : line * t->extent[1];
    for (size_t i = 0; i < t->extent[!axis]; ++i)
        if (!shared_is_unwritten(t->w, t->word + first + i * step)) return false;
    return true;
}

static struct unstored unstored_of_table(const struct table *t) {
    static const enum finding_unstored lines[] = {UNSTORED_ROWS, UNSTORED_COLUMNS};
    const size_t all = t->extent[0] * t->extent[1];
    for (int axis = 0; axis < 2; ++axis) {
        struct unstored found = {.what = lines[axis], .first = t->at[axis], .last = t->at[axis]};
        if (!is_line_unstored(t, axis, found.first)) continue;
        while (found.first > 0 && is_line_unstored(t, axis, found.first - 1)) found.first--;
        while (found.last + 1 < t->extent[axis] && is_line_unstored(t, axis, found.last + 1))
            found.last++;
        if (!axis && found.last - found.first + 1 == t->extent[0]) found.what = UNSTORED_ALL;
        return found;
    }
    struct unstored some = {.what = UNSTORED_SOME, .last = all};
    for (size_t i = 0; i < all; ++i) some.first += shared_is_unwritten(t->w, t->word + i);
    return some;
}

/* About the array that the word of shared memory is in, which is unstored itself. */
static struct unstored unstored_find(const struct watch *w, size_t word) {
    const struct unstored unknown = {.what = UNSTORED_UNKNOWN};
    const uintptr_t storage = (uintptr_t)w->memory.thread_local_storage.begin;
    const uintptr_t address = w->shared_begin + word * WORD;
    struct shared_name name;
    if (word >= w->dynamic_first && word < w->dynamic_first + w->dynamic_words) {
        size_t bytes; /* its rows are not known */
        name_of_dynamic(&bytes);
        if (bytes != WORD) return unknown;
        const struct table one = {
            w, w->dynamic_first, {w->dynamic_words, 1}, {word - w->dynamic_first, 0}};
        return unstored_of_table(&one);
    }
    if (!name_find(address - storage, &name) || name.element != WORD || !name.dimensions)
        return unknown;
    struct table t = {.w = w, .extent = {name.dimension[name.dimensions - 1], 1}};
    if (name.dimensions > 1) {
        t.extent[1] = t.extent[0];
        t.extent[0] = name.dimension[name.dimensions - 2];
    }
    const size_t element = (address - storage - name.offset) / WORD;
    const size_t size = t.extent[0] * t.extent[1];
    if (!size || name.offset % WORD) return unknown;
    t.word = watch_word(w, storage + name.offset) + element / size * size;
    t.at[0] = element % size / t.extent[1];
    t.at[1] = element % size % t.extent[1];
    return unstored_of_table(&t);
}

/* --- reads of unwritten elements ----------------------------------------------------------------
 *
 * Of shared memory such a read is reported only at the interval's end: if another thread writes the
 * element until then, a barrier is missing, not a value. */

extern const struct detector detector_uninitialized;

/* In this interval, one of each instruction. */
enum { UNWRITTEN_READS = 8 };
struct unwritten {
    int count;
    struct unwritten_read {
        size_t word;
        epoch reader;
        bool own;         /* the thread has written it then */
        unsigned read_by; /* and this one has read that; else: the thread itself */
    } read[UNWRITTEN_READS];
};

static struct unwritten *unwritten_of(const struct watch *w) {
    return detector_state(&detector_uninitialized, w);
}

static void forget_reads(struct watch *w) { unwritten_of(w)->count = 0; }

static void note_unwritten(struct watch *w, size_t word, epoch reader, bool interval_ends) {
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
    struct unwritten *u = unwritten_of(w);
    for (int i = 0; i < u->count; ++i)
        if (!((u->read[i].reader ^ now) & EPOCH_CODE_MASK)) return;
    if (u->count < UNWRITTEN_READS)
        u->read[u->count++] = (struct unwritten_read){word, now, false, epoch_thread(now)};
}

/* Read, and then written by the same thread; or by another one, which is a race. */
static void write_shared(struct watch *w, size_t word, epoch now) {
    struct unwritten *u = unwritten_of(w);
    for (int i = 0; i < u->count; ++i)
        if (u->read[i].word == word)
            u->read[i].own = epoch_thread(u->read[i].reader) == epoch_thread(now);
}

/* Another thread's store after that is of the value that was to be read, unless it adds to what it
 * has read. */
static void meets_others(struct watch *w, uintptr_t address, epoch now, bool now_writes,
                         epoch earlier, bool earlier_writes) {
    struct unwritten *u = unwritten_of(w);
    (void)earlier, (void)earlier_writes;
    for (struct unwritten_read *r = u->read; r < u->read + u->count; ++r) {
        if (r->word != watch_word(w, address)) continue;
        if (!now_writes) r->read_by = epoch_thread(now);
        r->own &= !now_writes || now & EPOCH_STRONG || r->read_by == epoch_thread(now);
    }
}

static void unwritten_interval_ends(struct watch *w) {
    struct unwritten *u = unwritten_of(w);
    for (int i = 0; i < u->count; ++i)
        if (u->read[i].own || shared_is_unwritten(w, u->read[i].word))
            note_unwritten(w, u->read[i].word, u->read[i].reader, !u->read[i].own);
    u->count = 0;
}

static void read_global(struct watch *w, const struct access *access) {
    if (event_has_ended()) return; /* a thread that ended may have left it out */
    event_note_here(w, FINDING_UNINITIALIZED_GLOBAL, access);
}

const struct detector detector_uninitialized = {.worker_bytes = sizeof(struct unwritten),
                                                .block_begins = forget_reads,
                                                .interval_ends = unwritten_interval_ends,
                                                .shared_unwritten = read_shared,
                                                .shared_written = write_shared,
                                                .shared_conflict = meets_others,
                                                .global_unwritten = read_global};
