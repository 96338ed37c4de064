/* Shared memory: the accesses that the fast path leaves over.
 *
 * A read of an element that no thread has written yet is reported only at the interval's end: if
 * another thread writes the element until then, a barrier is missing, not a value. */
#define _GNU_SOURCE
#include "../cuda/program/names.h"
#include "cells.h"
#include "detectors/uninitialized.h"
#include "event.h"
#include <stdlib.h>
#include <sys/mman.h>

static size_t word_at(const struct watch *w, const char *address) {
    return watch_word(w, (uintptr_t)address);
}

/* --- attaching, beginning --------------------------------------------------------------------- */

static void set_words(struct watch *w, size_t first, size_t count, epoch write) {
    for (size_t i = first; i < first + count && i < w->all_words; ++i)
        w->shadow[i] = (struct shared_word){.write = write};
}

/* All of the thread-local storage gets a shadow: what lies between the shared arrays is OUTSIDE. */
bool shared_attach(struct watch *w) {
    w->memory = this_worker->memory;
    w->shared_begin = (uintptr_t)w->memory.thread_local_storage.begin & ~(uintptr_t)15;
    w->all_words = word_at(w, w->memory.thread_local_storage.end + WORD - 1);
    w->dynamic_first = word_at(w, emulator_dynamic_shared);
    w->shadow = mmap(NULL, w->all_words * sizeof *w->shadow, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->cells = calloc(1, sizeof *w->cells);
    if (w->shadow == MAP_FAILED || !w->cells || !cells_make(w->cells, w->all_words)) return false;
    set_words(w, 0, w->all_words, EPOCH_OUTSIDE);
    w->touched = true;
    return true;
}

/* Without a symbol table all of the static shared memory counts as one array. */
static void forget_static(struct watch *w) {
    const struct shared_name *names;
    int count = name_list(&names);
    for (int i = 0; i < count; ++i)
        set_words(w, word_at(w, w->memory.thread_local_storage.begin + names[i].offset),
                  (names[i].offset % WORD + names[i].bytes + WORD - 1) / WORD,
                  name_is_guard(&names[i]) ? EPOCH_BEFORE : EPOCH_NEVER);
    for (int i = 0; i < w->memory.shared_ranges && !count; ++i) {
        size_t first = word_at(w, w->memory.shared[i].begin);
        set_words(w, first, word_at(w, w->memory.shared[i].end) - first, EPOCH_NEVER);
    }
}

static void forget_dynamic(struct watch *w, size_t words) {
    set_words(w, w->dynamic_first, words, EPOCH_NEVER);
    if (w->shadow[w->dynamic_first + words].write != EPOCH_OUTSIDE)
        set_words(w, w->dynamic_first + words, SHARED_PER_BLOCK_OPTIN / WORD - words,
                  EPOCH_OUTSIDE);
}

/* Nothing is written. After a block that accessed no shared memory, that is so already. */
void shared_begin_block(struct watch *w) {
    size_t words = (w->launch->shared_bytes + WORD - 1) / WORD;
    if (w->touched || w->dynamic_words != words) {
        forget_static(w);
        forget_dynamic(w, words);
    }
    w->touched = false;
    w->dynamic_words = words;
    w->unwritten.count = 0;
}

/* --- noting ----------------------------------------------------------------------------------- */

/* At a byte: an element may be smaller than a word. */
static struct event event_at(const struct watch *w, enum finding_kind kind, uintptr_t address,
                             epoch r, bool write) {
    const struct access access = {
        .address = address, .size = WORD, .write = write, .code = epoch_code(r)};
    struct event event = event_here(w, kind, &access);
    event.thread = epoch_thread(r);
    return event;
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

/* The reader comes first; of two writers, the later one. */
static void note_race(struct watch *w, uintptr_t address, epoch now, bool now_writes, epoch other,
                      bool other_writes) {
    const struct shared_word *s = &w->shadow[watch_word(w, address)];
    epoch first = now_writes && !other_writes ? other : now;
    epoch second = first == now ? other : now;
    if (!event_is_wanted(FINDING_SHARED_RACE, epoch_code(first), epoch_code(second))) return;
    epoch held = s->write < w->epochs.interval ? s->write : s->earlier;
    struct event event =
        event_at(w, FINDING_SHARED_RACE, address, first, now_writes && other_writes);
    event.has_other = true;
    event.other_write = true;
    event.atomic = event.write && first & EPOCH_STRONG; /* a read of that kind may be volatile */
    event.other_atomic = second & EPOCH_STRONG;
    event.other_code = epoch_code(second);
    event.other_thread = epoch_thread(second);
    event.other_block = w->epochs.block;
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
static void note_pending(struct watch *w, size_t word, epoch now, bool now_writes, epoch pending) {
    struct event event =
        event_at(w, FINDING_SHARED_RACE, w->shared_begin + word * WORD, now, now_writes);
    event.has_other = event.other_write = event.pending = true;
    event.other_code = epoch_code(pending);
    event.other_thread = epoch_thread(pending);
    event.other_block = w->epochs.block;
    event.overwritten = w->shadow[word].earlier != 0 && began_too_early(w, pending);
    event_note(&event);
}

static void note_unwritten(struct watch *w, size_t word, epoch reader, bool interval_ends) {
    if (w->ended) return;
    struct event event =
        event_at(w, FINDING_UNINITIALISED_SHARED, w->shared_begin + word * WORD, reader, false);
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

/* What such a store would change may be the runtime's own: the launch ends here. */
static void stop_outside(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_SHARED_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
}

/* Kernels may read threadIdx and blockIdx, which lie there too. */
static bool is_index(const struct access *access) {
    extern __thread struct uint3 blockIdx;
    return !access->write && (access->address - (uintptr_t)&running_index < sizeof running_index ||
                              access->address - (uintptr_t)&blockIdx < sizeof blockIdx);
}

/* --- never written ---------------------------------------------------------------------------- */

static bool is_never(const struct watch *w, size_t word) {
    struct shadow_cell *cell[WORD];
    if (w->shadow[word].write != EPOCH_IN_CELLS) return w->shadow[word].write == EPOCH_NEVER;
    cells_find(w->cells, word, (1u << WORD) - 1, cell);
    return cell[0]->write.when == EPOCH_NEVER && !cell[0]->strong_write.when;
}

static void reads_never(struct watch *w, size_t word, epoch now) {
    struct unwritten_reads *u = &w->unwritten;
    for (int i = 0; i < u->count; ++i)
        if (!((u->read[i].reader ^ now) & EPOCH_CODE_MASK)) return;
    if (u->count < UNWRITTEN_READS) u->read[u->count++] = (struct unwritten_read){word, now};
}

/* Read, and then written by the same thread. */
static void writes_never(struct watch *w, size_t word, epoch now) {
    for (int i = 0; i < w->unwritten.count; ++i) {
        const struct unwritten_read *read = &w->unwritten.read[i];
        if (read->word == word && epoch_thread(read->reader) == epoch_thread(now))
            note_unwritten(w, word, read->reader, false);
    }
}

/* --- plain accesses of whole words ------------------------------------------------------------ */

static bool races(const struct watch *w, epoch now, epoch earlier) {
    if (earlier < w->epochs.interval || earlier >= EPOCH_PENDING) return false;
    if (!((now ^ earlier) & EPOCH_THREAD_MASK)) return false;
    const struct stamp stamp = order_stamp(w->order, earlier);
    return !order_before(w->order, &stamp, NULL);
}

static void read_one(struct watch *w, size_t word, epoch now) {
    struct shared_word *s = &w->shadow[word];
    if (s->write == EPOCH_NEVER) reads_never(w, word, now);
    if (epoch_is_pending(s->write))
        note_pending(w, word, now, false, s->write);
    else if (races(w, now, s->write))
        note_race(w, w->shared_begin + word * WORD, now, false, s->write, true);
    if (!w->epochs.has_pairs)
        shared_word_read(s, w->epochs.interval, now);
    else if (s->read < w->epochs.interval || !((s->read ^ now) & EPOCH_THREAD_MASK))
        s->read = now;
    else
        s->other_read = now;
}

static void write_one(struct watch *w, size_t word, epoch now) {
    struct shared_word *s = &w->shadow[word];
    const uintptr_t address = w->shared_begin + word * WORD;
    if (s->write == EPOCH_NEVER) writes_never(w, word, now);
    if (epoch_is_pending(s->write))
        note_pending(w, word, now, true, s->write);
    else if (races(w, now, s->read))
        note_race(w, address, now, true, s->read, false);
    else if (races(w, now, s->other_read))
        note_race(w, address, now, true, s->other_read, false);
    else if (races(w, now, s->write))
        note_race(w, address, now, true, s->write, true);
    if (s->write < w->epochs.interval) s->earlier = s->write;
    if (s->write == EPOCH_NEVER) s->earlier = 0;
    s->write = now;
}

/* --- all others ------------------------------------------------------------------------------- */

static struct stamp stamp_of(const struct watch *w, epoch r) {
    return r >= w->epochs.interval && r < EPOCH_IN_CELLS ? order_stamp(w->order, r)
                                                         : (struct stamp){0, r};
}

/* From here on, until the block ends, the word's cells are what counts. */
static void into_marks(struct watch *w, size_t word) {
    struct shared_word *s = &w->shadow[word];
    if (s->write == EPOCH_IN_CELLS) return;
    *cells_reset(w->cells, word) = (struct shadow_cell){.write = stamp_of(w, s->write),
                                                        .read = stamp_of(w, s->read),
                                                        .other_read = stamp_of(w, s->other_read)};
    if (s->write < w->epochs.interval) s->earlier = s->write;
    s->write = EPOCH_IN_CELLS;
}

static void access_mark(struct watch *w, uintptr_t address, struct shadow_cell *cell,
                        const struct access *access, const struct stamp *now) {
    const size_t word = watch_word(w, address);
    if (epoch_is_pending(cell->write.when)) {
        note_pending(w, word, now->when, access->write, cell->write.when);
        return;
    }
    if (access->write && cell->write.when < w->epochs.interval && cell->write.when > EPOCH_BEFORE)
        w->shadow[word].earlier = cell->write.when;
    const struct conflict conflict = cell_access(w->order, cell, access, now);
    if (conflict.with.when)
        note_race(w, address, now->when, access->write, conflict.with.when, conflict.write);
}

/* A word counts as written when a part of it is: the rest may be padding. */
static void access_marks(struct watch *w, size_t word, const struct access *access) {
    const uintptr_t begin = w->shared_begin + word * WORD;
    const struct stamp now = order_now(w->order, access);
    const unsigned bytes = cells_bytes(begin, access), all = (1u << WORD) - 1;
    struct shadow_cell *cell[WORD];
    into_marks(w, word);
    if (is_never(w, word) && (!access->write || access->atomic)) reads_never(w, word, now.when);
    if (is_never(w, word) && access->write) {
        writes_never(w, word, now.when);
        for (unsigned i = cells_find(w->cells, word, all, cell); i-- > 0;)
            cell[i]->write.when = EPOCH_BEFORE;
    }
    const unsigned count = cells_find(w->cells, word, bytes, cell);
    const unsigned first = bytes ? (unsigned)__builtin_ctz(bytes) : 0;
    for (unsigned i = 0; i < count; ++i) access_mark(w, begin + first + i, cell[i], access, &now);
}

/* What `now`, the epoch of a copy's beginning, is until it has arrived. */
static epoch pending(epoch now, uint64_t group) {
    return (now & (EPOCH_THREAD_MASK | EPOCH_CODE_MASK)) | EPOCH_PENDING |
           (group << STEP_BIT & EPOCH_STEP_MASK);
}

/* Where the last write of a word is remembered, as far as that is in one place: copies are of whole
 * words. */
static unsigned writes_of(struct watch *w, size_t word, epoch *write[WORD]) {
    struct shadow_cell *cell[WORD];
    write[0] = &w->shadow[word].write;
    if (*write[0] != EPOCH_IN_CELLS) return 1;
    const unsigned count = cells_find(w->cells, word, (1u << WORD) - 1, cell);
    for (unsigned i = 0; i < count; ++i) write[i] = &cell[i]->write.when;
    return count;
}

static void copy_begins(struct watch *w, size_t word, const struct access *access, epoch now) {
    epoch *write[WORD];
    for (unsigned i = writes_of(w, word, write); i-- > 0;) *write[i] = pending(now, access->group);
}

void shared_copy_arrived(struct watch *w, const struct access *access) {
    size_t first = (access->address - w->shared_begin) / WORD;
    epoch now = epoch_now(&w->epochs, access->code), *write[WORD];
    for (size_t word = first; word < first + access->size / WORD && word < w->all_words; ++word)
        for (unsigned i = writes_of(w, word, write); i-- > 0;)
            if (epoch_is_pending(*write[i])) *write[i] = now;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* A flag of the compiler's beside an array (names.h), which is only read. */
static bool is_guard(const struct watch *w, size_t word, const struct access *access) {
    return w->shadow[word].write == EPOCH_BEFORE && access->size == 1 && !access->write;
}

/* Whether a thread has read in this interval, and is not the one that reads now. */
static bool is_others(const struct watch *w, epoch read, epoch now) {
    return read >= w->epochs.interval && (read ^ now) & EPOCH_THREAD_MASK;
}

/* What the shadow of a word has no room for: of where threads are ordered in pairs, a third reader.
 */
static bool has_no_room(const struct watch *w, size_t word, const struct access *access,
                        epoch now) {
    const struct shared_word *s = &w->shadow[word];
    return w->epochs.many_steps || access->strong ||
           (w->epochs.has_pairs && !access->write && is_others(w, s->read, now) &&
            is_others(w, s->other_read, now));
}

static void access_word(struct watch *w, size_t word, const struct access *access, epoch now) {
    const uintptr_t begin = w->shared_begin + word * WORD;
    const bool whole = access->address <= begin && access->address + access->size >= begin + WORD;
    if (w->shadow[word].write == EPOCH_IN_CELLS || !whole || has_no_room(w, word, access, now)) {
        access_marks(w, word, access);
    } else if (access->write) {
        write_one(w, word, now);
    } else {
        read_one(w, word, now);
    }
    if (access->copying) copy_begins(w, word, access, now);
}

void shared_access(struct watch *w, const struct access *access) {
    size_t first = (access->address - w->shared_begin) / WORD;
    size_t last = (access->address + access->size - 1 - w->shared_begin) / WORD;
    if (event_enough()) {
        if (access->write && w->shadow[first].write == EPOCH_OUTSIDE) stop_outside(w, access);
        return;
    }
    if (access->size <= 16 && access->address % access->size != 0)
        event_stop(w, FINDING_MISALIGNED, access, cudaErrorMisalignedAddress);
    epoch now = epoch_now(&w->epochs, access->code);
    if (access->strong) now |= EPOCH_STRONG;
    for (size_t word = first; word <= last && word < w->all_words; ++word) {
        if (w->shadow[word].write == EPOCH_OUTSIDE) {
            if (!is_index(access)) stop_outside(w, access);
            return;
        }
        if (is_guard(w, word, access)) return;
        w->touched = true; /* the first access to a word always comes this way */
        access_word(w, word, access, now);
    }
}

/* The numbers have run out (after 262,142 barriers in one block): everything is long ago. */
static void restart_intervals(struct watch *w) {
    for (size_t i = 0; i < w->all_words; ++i) {
        epoch write = w->shadow[i].write;
        if (write < EPOCH_PENDING || write == EPOCH_IN_CELLS)
            w->shadow[i] = (struct shared_word){.write = EPOCH_BEFORE};
    }
    w->epochs.interval = EPOCH_INTERVAL(FIRST_INTERVAL - 1);
}

void shared_end_interval(struct watch *w) {
    for (int i = 0; i < w->unwritten.count; ++i) {
        const struct unwritten_read *read = &w->unwritten.read[i];
        if (is_never(w, read->word)) note_unwritten(w, read->word, read->reader, true);
    }
    w->unwritten.count = 0;
    if (w->epochs.interval == EPOCH_INTERVAL(LAST_INTERVAL)) restart_intervals(w);
}
