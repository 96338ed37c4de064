/* What of a shared array nobody has stored, as rows and columns: see unstored.h. */
#include "unstored.h"
#include "../../cuda/program/names.h"

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

struct unstored unstored_find(const struct watch *w, size_t word) {
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
