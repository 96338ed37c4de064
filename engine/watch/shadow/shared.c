/* Shared memory: the accesses that the fast path leaves over. */
#define _GNU_SOURCE
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../machine.h"
#include "shadow.h"
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
static void *reserve(size_t bytes) {
    void *reserved = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return machine_memory(reserved == MAP_FAILED ? NULL : reserved);
}

void shared_attach(struct watch *w) {
    w->memory = this_worker->memory;
    w->shared_begin = (uintptr_t)w->memory.thread_local_storage.begin & ~(uintptr_t)15;
    w->all_words = word_at(w, w->memory.thread_local_storage.end + WORD - 1);
    w->dynamic_first = word_at(w, emulator_dynamic_shared);
    w->shadow = reserve(w->all_words * sizeof *w->shadow);
    w->bytes = reserve(w->all_words * WORD * sizeof *w->bytes);
    cells_make(&w->cells, w->all_words);
    set_words(w, 0, w->all_words, EPOCH_OUTSIDE);
    w->touched = true;
}

/* Nothing is written. After a block that accessed no shared memory, that is so already. Without a
 * symbol table all of the static shared memory counts as one array. */
void shared_begin_block(struct watch *w) {
    const size_t words = (w->launch->shared_bytes + WORD - 1) / WORD;
    if (!w->touched && w->dynamic_words == words) return;
    const struct shared_name *names;
    const int count = name_list(&names);
    w->touched = false;
    w->dynamic_words = words;
    for (int i = 0; i < count; ++i)
        set_words(w, word_at(w, w->memory.thread_local_storage.begin + names[i].offset),
                  (names[i].offset % WORD + names[i].bytes + WORD - 1) / WORD,
                  name_is_guard(&names[i]) ? EPOCH_BEFORE : EPOCH_NEVER);
    for (int i = 0; i < w->memory.shared_ranges && !count; ++i) {
        size_t first = word_at(w, w->memory.shared[i].begin);
        set_words(w, first, word_at(w, w->memory.shared[i].end) - first, EPOCH_NEVER);
    }
    set_words(w, w->dynamic_first, words, EPOCH_NEVER);
    if (w->shadow[w->dynamic_first + words].write != EPOCH_OUTSIDE)
        set_words(w, w->dynamic_first + words, SHARED_PER_BLOCK_OPTIN / WORD - words,
                  EPOCH_OUTSIDE);
}

/* Kernels may read threadIdx and blockIdx, which lie there too. */
static bool is_index(const struct access *access) {
    extern __thread struct uint3 blockIdx;
    return !access->write && (access->address - (uintptr_t)&running_index < sizeof running_index ||
                              access->address - (uintptr_t)&blockIdx < sizeof blockIdx);
}

bool shared_is_unwritten(const struct watch *w, size_t word) {
    struct shadow_cell *cell[WORD];
    if (w->shadow[word].write == EPOCH_IN_BYTES) return false;
    if (w->shadow[word].write != EPOCH_IN_CELLS) return w->shadow[word].write == EPOCH_NEVER;
    cells_find(&w->cells, word, (1u << WORD) - 1, cell);
    return cell[0]->write.when == EPOCH_NEVER && !cell[0]->strong_write.when;
}

/* --- plain accesses --------------------------------------------------------------------------- */

static bool shared_races(const struct watch *w, epoch now, epoch earlier) {
    if (earlier < w->epochs.interval || earlier >= EPOCH_PENDING) return false;
    if (!((now ^ earlier) & EPOCH_THREAD_MASK)) return false;
    const struct stamp stamp = order_stamp(w->order, earlier);
    return !order_before(w->order, &stamp, NULL);
}

/* To a word, or to a byte, at the address. */
static void read_one(struct watch *w, struct shared_word *s, uintptr_t address, epoch now) {
    if (s->write == EPOCH_NEVER) HEAR(shared_unwritten, w, watch_word(w, address), now);
    if (epoch_is_pending(s->write) || shared_races(w, now, s->write))
        HEAR(shared_conflict, w, address, now, false, s->write, true);
    if (!w->epochs.has_pairs)
        shared_word_read(s, w->epochs.interval, now);
    else if (s->read < w->epochs.interval || !((s->read ^ now) & EPOCH_THREAD_MASK))
        s->read = now;
    else
        s->other_read = now;
}

static void write_one(struct watch *w, struct shared_word *s, uintptr_t address, epoch now) {
    if (s->write == EPOCH_NEVER) HEAR(shared_written, w, watch_word(w, address), now);
    if (epoch_is_pending(s->write))
        HEAR(shared_conflict, w, address, now, true, s->write, true);
    else if (shared_races(w, now, s->read))
        HEAR(shared_conflict, w, address, now, true, s->read, false);
    else if (shared_races(w, now, s->other_read))
        HEAR(shared_conflict, w, address, now, true, s->other_read, false);
    else if (shared_races(w, now, s->write))
        HEAR(shared_conflict, w, address, now, true, s->write, true);
    if (epoch_is_step_before(s->write, now) || s->write < w->epochs.interval) s->earlier = s->write;
    if (s->write == EPOCH_NEVER) s->earlier = 0;
    s->write = now;
}

static struct shared_word *bytes_of(const struct watch *w, size_t word) {
    return &w->bytes[word * WORD];
}

/* From here on, until the block ends or an access comes for which an epoch has no room, the word's
 * bytes are what counts. All of them count as written when one is: the rest may be padding. */
static void access_bytes(struct watch *w, size_t word, const struct access *access, epoch now) {
    const uintptr_t begin = w->shared_begin + word * WORD;
    const unsigned bytes = cells_bytes(begin, access);
    struct shared_word was = w->shadow[word];
    if (was.write == EPOCH_NEVER) {
        HEAR(shared_written, w, word, now);
        was.write = 0;
    }
    for (unsigned i = 0; was.write != EPOCH_IN_BYTES && i < WORD; ++i) bytes_of(w, word)[i] = was;
    w->shadow[word].write = EPOCH_IN_BYTES;
    for (unsigned i = 0; i < WORD; ++i)
        if (bytes >> i & 1)
            (access->write ? write_one : read_one)(w, &bytes_of(w, word)[i], begin + i, now);
}

/* --- all others ------------------------------------------------------------------------------- */

static struct stamp stamp_of(const struct watch *w, epoch r) {
    return r >= w->epochs.interval && r < EPOCH_IN_CELLS ? order_stamp(w->order, r)
                                                         : (struct stamp){0, r};
}

static struct shadow_cell cell_of(const struct watch *w, const struct shared_word *s) {
    return (struct shadow_cell){.write = stamp_of(w, s->write),
                                .read = stamp_of(w, s->read),
                                .other_read = stamp_of(w, s->other_read)};
}

/* From here on, until the block ends, the word's cells are what counts. */
static void into_marks(struct watch *w, size_t word) {
    struct shared_word *s = &w->shadow[word];
    struct shadow_cell *cell[WORD];
    if (s->write == EPOCH_IN_CELLS) return;
    *cells_reset(&w->cells, word) = cell_of(w, s->write == EPOCH_IN_BYTES ? bytes_of(w, word) : s);
    if (s->write == EPOCH_IN_BYTES)
        for (unsigned i = 1; i < WORD; ++i) {
            cells_find(&w->cells, word, 1u << i, cell);
            *cell[0] = cell_of(w, &bytes_of(w, word)[i]);
        }
    if (s->write < w->epochs.interval) s->earlier = s->write;
    s->write = EPOCH_IN_CELLS;
}

static void access_mark(struct watch *w, uintptr_t address, struct shadow_cell *cell,
                        const struct access *access, const struct stamp *now) {
    const size_t word = watch_word(w, address);
    const uintptr_t begin = w->shared_begin + word * WORD;
    if (epoch_is_pending(cell->write.when)) {
        HEAR(shared_conflict, w, begin, now->when, access->write, cell->write.when, true);
        return;
    }
    if (access->write && cell->write.when < w->epochs.interval && cell->write.when > EPOCH_BEFORE)
        w->shadow[word].earlier = cell->write.when;
    const struct conflict conflict = cell_access(w->order, cell, access, now);
    if (conflict.with.when)
        HEAR(shared_conflict, w, address, now->when, access->write, conflict.with.when,
             conflict.write);
}

/* A word counts as written when a part of it is: the rest may be padding. */
static void access_marks(struct watch *w, size_t word, const struct access *access) {
    const uintptr_t begin = w->shared_begin + word * WORD;
    const struct stamp now = order_now(w->order, access);
    const unsigned bytes = cells_bytes(begin, access), all = (1u << WORD) - 1;
    struct shadow_cell *cell[WORD];
    into_marks(w, word);
    if (shared_is_unwritten(w, word) && access_reads(access))
        HEAR(shared_unwritten, w, word, now.when);
    if (shared_is_unwritten(w, word) && access->write) {
        HEAR(shared_written, w, word, now.when);
        for (unsigned i = cells_find(&w->cells, word, all, cell); i-- > 0;)
            cell[i]->write.when = EPOCH_BEFORE;
    }
    const unsigned count = cells_find(&w->cells, word, bytes, cell);
    const unsigned first = bytes ? (unsigned)__builtin_ctz(bytes) : 0;
    for (unsigned i = 0; i < count; ++i) access_mark(w, begin + first + i, cell[i], access, &now);
}

/* Where the last write of a word is remembered, as far as that is in one place: copies are of whole
 * words. */
static unsigned writes_of(struct watch *w, size_t word, epoch *write[WORD]) {
    struct shadow_cell *cell[WORD];
    write[0] = &w->shadow[word].write;
    if (*write[0] == EPOCH_IN_BYTES) {
        for (unsigned i = 0; i < WORD; ++i) write[i] = &bytes_of(w, word)[i].write;
        return WORD;
    }
    if (*write[0] != EPOCH_IN_CELLS) return 1;
    const unsigned count = cells_find(&w->cells, word, (1u << WORD) - 1, cell);
    for (unsigned i = 0; i < count; ++i) write[i] = &cell[i]->write.when;
    return count;
}

/* `now` is the epoch of the copy's beginning. */
static void word_is_copied(struct watch *w, size_t word, const struct access *access, epoch now) {
    const epoch pending = (now & (EPOCH_THREAD_MASK | EPOCH_CODE_MASK)) | EPOCH_PENDING |
                          (access->group << STEP_BIT & EPOCH_STEP_MASK);
    epoch *write[WORD];
    for (unsigned i = writes_of(w, word, write); i-- > 0;) *write[i] = pending;
}

void shared_copy_arrived(struct watch *w, const struct access *access) {
    size_t first = (access->address - w->shared_begin) / WORD;
    epoch now = epoch_now(&w->epochs, access->code), *write[WORD];
    for (size_t word = first; word < first + access->size / WORD && word < w->all_words; ++word)
        for (unsigned i = writes_of(w, word, write); i-- > 0;)
            if (epoch_is_pending(*write[i])) *write[i] = now;
}

/* --- accesses --------------------------------------------------------------------------------- */

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

static void access_shared_word(struct watch *w, size_t word, const struct access *access,
                               epoch now) {
    const uintptr_t begin = w->shared_begin + word * WORD;
    const bool whole = access->address <= begin && access->address + access->size >= begin + WORD;
    struct shared_word *s = &w->shadow[word];
    const bool parts = s->write == EPOCH_IN_BYTES || !whole;
    /* Nor have its bytes for that; and a read leaves a word that no thread has written as it is. */
    const bool has_no_bytes = w->epochs.has_pairs || (s->write == EPOCH_NEVER && !access->write);
    if (s->write == EPOCH_IN_CELLS || has_no_room(w, word, access, now) ||
        (parts && has_no_bytes)) {
        access_marks(w, word, access);
    } else if (parts) {
        access_bytes(w, word, access, now);
    } else {
        (access->write ? write_one : read_one)(w, s, begin, now);
    }
    if (access->copying) word_is_copied(w, word, access, now);
}

void shared_access(struct watch *w, const struct access *access) {
    size_t first = (access->address - w->shared_begin) / WORD;
    size_t last = (access->address + access->size - 1 - w->shared_begin) / WORD;
    const bool enough = event_enough(); /* of a race's interval, conflicts still count */
    if (enough && access->write && w->shadow[first].write == EPOCH_OUTSIDE)
        HEAR(outside, w, access);
    if (enough && !w->follows) return;
    if (!enough && access_is_misaligned(access)) HEAR(forbidden, w, FINDING_MISALIGNED, access);
    epoch now = epoch_now(&w->epochs, access->code);
    if (access->strong) now |= EPOCH_STRONG;
    for (size_t word = first; word <= last && word < w->all_words; ++word) {
        if (w->shadow[word].write == EPOCH_OUTSIDE) {
            if (!enough && !is_index(access)) HEAR(outside, w, access);
            return;
        }
        /* A flag of the compiler's beside an array (program.h), which is only read. */
        if (w->shadow[word].write == EPOCH_BEFORE && access->size == 1 && !access->write) return;
        w->touched = true; /* the first access to a word always comes this way */
        access_shared_word(w, word, access, now);
    }
}

/* Once the numbers have run out (after 262,142 barriers in one block) everything is long ago. */
void shared_end_interval(struct watch *w) {
    if (w->epochs.interval != EPOCH_INTERVAL(LAST_INTERVAL)) return;
    for (size_t i = 0; i < w->all_words; ++i) {
        epoch write = w->shadow[i].write;
        if (write < EPOCH_PENDING || write == EPOCH_IN_BYTES || write == EPOCH_IN_CELLS)
            w->shadow[i] = (struct shared_word){.write = EPOCH_BEFORE};
    }
    w->epochs.interval = EPOCH_INTERVAL(FIRST_INTERVAL - 1);
}
