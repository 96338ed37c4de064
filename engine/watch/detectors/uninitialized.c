/* Reads of what nobody has written.
 *
 * Of shared memory such a read is reported only at the interval's end: if another thread writes the
 * element until then, a barrier is missing, not a value. */
#include "../../cuda/program/program.h"
#include "../detector.h"

/* --- what of a shared array nobody has stored, as rows and columns ---------------------------- */

/* The words of an array, or of the last two dimensions of one. */
struct table {
    const struct shared_word *words;
    size_t rows, cols, row, col; /* with the word that was read */
};

static bool is_unstored(const struct table *t, size_t row, size_t col) {
    return t->words[row * t->cols + col].write == EPOCH_NEVER;
}

static bool is_row_unstored(const struct table *t, size_t row) {
    for (size_t col = 0; col < t->cols; ++col)
        if (!is_unstored(t, row, col)) return false;
    return true;
}

static bool is_column_unstored(const struct table *t, size_t col) {
    for (size_t row = 0; row < t->rows; ++row)
        if (!is_unstored(t, row, col)) return false;
    return true;
}

/* The neighbors of a row or column, without a gap, for which that is so as well. */
static struct unstored widen(const struct table *t, bool (*test)(const struct table *, size_t),
                             size_t at, size_t count) {
    struct unstored found = {.first = at, .last = at};
    while (found.first > 0 && test(t, found.first - 1)) found.first--;
    while (found.last + 1 < count && test(t, found.last + 1)) found.last++;
    return found;
}

static struct unstored unstored_of_table(const struct table *t) {
    struct unstored found = {.what = UNSTORED_SOME, .last = t->rows * t->cols};
    if (is_row_unstored(t, t->row)) {
        found = widen(t, is_row_unstored, t->row, t->rows);
        found.what = found.last - found.first + 1 == t->rows ? UNSTORED_ALL : UNSTORED_ROWS;
    } else if (is_column_unstored(t, t->col)) {
        found = widen(t, is_column_unstored, t->col, t->cols);
        found.what = UNSTORED_COLUMNS;
    } else {
        for (size_t i = 0; i < t->rows * t->cols; ++i)
            found.first += is_unstored(t, i / t->cols, i % t->cols);
    }
    return found;
}

/* About the array that the word of shared memory is in, which is unstored itself. */
static struct unstored unstored_find(const struct watch *w, size_t word) {
    const struct unstored unknown = {.what = UNSTORED_UNKNOWN};
    const uintptr_t storage = (uintptr_t)w->memory.thread_local_storage.begin;
    const uintptr_t address = w->shared_begin + word * WORD;
    struct shared_name name;
    if (word >= w->dynamic_first && word < w->dynamic_first + w->dynamic_words) {
        const struct table one = {.words =
                                      &w->shadow[w->dynamic_first], /* its rows are not known */
                                  .rows = w->dynamic_words,
                                  .cols = 1,
                                  .row = word - w->dynamic_first};
        return unstored_of_table(&one);
    }
    if (!name_find(address - storage, &name) || name.element != WORD || !name.dimensions)
        return unknown;
    const bool square = name.dimensions > 1;
    struct table t = {.rows = name.dimension[name.dimensions - 1], .cols = 1};
    if (square) {
        t.cols = t.rows;
        t.rows = name.dimension[name.dimensions - 2];
    }
    const size_t element = (address - storage - name.offset) / WORD, size = t.rows * t.cols;
    if (!size || name.offset % WORD) return unknown;
    t.words = &w->shadow[watch_word(w, storage + name.offset) + element / size * size];
    t.row = element % size / t.cols;
    t.col = element % size % t.cols;
    return unstored_of_table(&t);
}

/* --- reads ------------------------------------------------------------------------------------ */

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
    event_note_here(w, FINDING_UNINITIALIZED_GLOBAL, access);
}

const struct detector detector_uninitialized = {.worker_bytes = sizeof(struct unwritten),
                                                .block_begins = begin,
                                                .interval_ends = interval_ends,
                                                .shared_unwritten = read_shared,
                                                .shared_written = write_shared,
                                                .global_unwritten = read_global};
