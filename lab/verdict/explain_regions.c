/* Where in C the unwritten, or the wrong, elements are: whole rows and columns, blocks, or all
 * beyond a grid; and which mistake makes a grid end there, if only one does. */
#include "../../engine/report/poison.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "study.h"

#include <stdlib.h>
#include <string.h>

static const int tiles[] = {64, 32, 16, 8, 4}; /* the largest first; grids go by those above 4 */

/* What is looked for in C, counted by row and by column. */
struct region {
    const struct study *study;
    enum state state;
    int m, n;
    int *in_row, *in_col; /* owned */
    uint64_t count;
    struct box inside, outside; /* smallest boxes around what is in it, and what is not */
};

static bool is_in(const struct region *r, int row, int col) {
    size_t at = (size_t)row * (size_t)r->n + (size_t)col;
    if (r->state == UNWRITTEN) return get_bits(&r->study->problem->C[at]) == POISON_BITS;
    return r->study->state[at] == (unsigned char)r->state;
}

static bool region_new(struct region *r, const struct study *study, enum state state) {
    const struct problem *p = study->problem;
    *r = (struct region){.study = study, .state = state, .m = p->m, .n = p->n};
    r->inside = r->outside = (struct box){p->m, -1, p->n, -1};
    r->in_row = calloc((size_t)p->m, sizeof *r->in_row);
    r->in_col = calloc((size_t)p->n, sizeof *r->in_col);
    if (!r->in_row || !r->in_col) return false;
    for (int row = 0; row < p->m; row++) {
        for (int col = 0; col < p->n; col++) {
            bool in = is_in(r, row, col);
            r->in_row[row] += in;
            r->in_col[col] += in;
            r->count += in;
            box_add(in ? &r->inside : &r->outside, row, col);
        }
    }
    return true;
}

static void region_free(struct region *r) {
    free(r->in_row);
    free(r->in_col);
}

static uint64_t area(const struct box *box) {
    return (uint64_t)(box->row_last - box->row_first + 1) *
           (uint64_t)(box->col_last - box->col_first + 1);
}

/* ---- words ---- */

/* "rows 3 to 5", after an "and" if something came before. */
static void say_span(struct explanation *out, const char *what, int first, int last) {
    if (first > last) return;
    if (out->text[0]) APPEND(out->text, " and ");
    if (first == last)
        APPEND(out->text, "%s %d", what, first);
    else
        APPEND(out->text, "%ss %d to %d", what, first, last);
}

static void set(struct explanation *out, const char *formula, const char *hint) {
    snprintf(out->formula, sizeof out->formula, "%s", formula);
    snprintf(out->hint, sizeof out->hint, "%s", hint);
}

/* ---- why a grid ends where it does ---- */

static const char cover_hint[] =
    "each element of C needs a thread: how many blocks cover all rows, and all columns?";
static const char end_hint[] =
    "each element of C needs a thread that stores it: where do the grid and the guards end?";

struct extent { /* rows and columns of C, from the first on, that are not in the region */
    int rows, cols;
};

typedef bool end_function(const struct problem *p, int tile, struct extent e);

static int cover(int size, int tile) { return (int)round_up((size_t)size, (size_t)tile); }

static bool rounded_down(const struct problem *p, int tile, struct extent e) {
    bool rows = e.rows == p->m - p->m % tile, cols = e.cols == p->n - p->n % tile;
    return tile > 4 && (rows || e.rows == p->m) && (cols || e.cols == p->n);
}

static bool exchanged(const struct problem *p, int tile, struct extent e) {
    return tile > 4 && p->m != p->n && e.rows == min_int(p->m, cover(p->n, tile)) &&
           e.cols == min_int(p->n, cover(p->m, tile));
}

static bool rows_from_k(const struct problem *p, int tile, struct extent e) {
    return e.cols == p->n && (e.rows == p->k || (tile > 4 && e.rows == cover(p->k, tile)));
}

static bool cols_from_k(const struct problem *p, int tile, struct extent e) {
    return e.rows == p->m && (e.cols == p->k || (tile > 4 && e.cols == cover(p->k, tile)));
}

static bool guarded_by_n(const struct problem *p, int tile, struct extent e) {
    (void)tile;
    return e.rows == p->n && e.cols == p->n && p->n < p->m;
}

static bool guarded_by_m(const struct problem *p, int tile, struct extent e) {
    (void)tile;
    return e.cols == p->m && e.rows == p->m && p->m < p->n;
}

static bool first_block(const struct problem *p, int tile, struct extent e) {
    return tile > 4 && e.rows == min_int(p->m, tile) && e.cols == min_int(p->n, tile) &&
           (p->m >= 2 * tile || p->n >= 2 * tile);
}

static bool one_block_less(const struct problem *p, int tile, struct extent e) {
    bool rows = e.rows == cover(p->m, tile) - tile && p->m % tile == 0;
    bool cols = e.cols == cover(p->n, tile) - tile && p->n % tile == 0;
    return tile > 4 && (rows || e.rows == p->m) && (cols || e.cols == p->n);
}

static const struct {
    end_function *ends;
    const char *formula, *say, *hint;
} ends[] = {
    {rounded_down, "grid-rounded-down", "only whole blocks of C are written", cover_hint},
    {exchanged, "grid-exchanged", "as if the grid were as high as C is wide",
     "which of the grid's x and y counts the columns of C?"},
    {rows_from_k, "grid-from-k", "the rows end at k, which is not a dimension of C",
     "which two of m, n, k are the dimensions of C?"},
    {cols_from_k, "grid-from-k", "the columns end at k, which is not a dimension of C",
     "which two of m, n, k are the dimensions of C?"},
    {guarded_by_n, "row-ends-at-n", "the rows end at n, the number of columns",
     "which dimension of C bounds the row, in the grid and in the guard?"},
    {guarded_by_m, "column-ends-at-m", "the columns end at m, the number of rows",
     "which dimension of C bounds the column, in the grid and in the guard?"},
    {first_block, "first-block-only", "only the first block stored anything",
     "how many blocks are launched, and how does a thread find its block's place in C?"},
    {one_block_less, "last-blocks-missing", "the grid is one block short", cover_hint},
};

/* The only reason why a grid would end there, or nothing. */
static void say_reason(const struct problem *p, struct extent extent, struct explanation *out) {
    int found = -1;
    for (int i = 0; i < LENGTH(ends); i++) {
        bool fits = false;
        for (int t = 0; t < LENGTH(tiles); t++) fits |= ends[i].ends(p, tiles[t], extent);
        if (!fits) continue;
        if (found >= 0) return;
        found = i;
    }
    if (found < 0) return;
    set(out, ends[found].formula, ends[found].hint);
    APPEND(out->text, "; %s", ends[found].say);
}

/* ---- shapes ---- */

static const char edge_hint[] = "what is different for the blocks at the edge of C?";

/* The blocks at the edge that hang over it. */
static bool is_edge(const struct problem *p, struct extent e) {
    for (int t = 0; t < LENGTH(tiles); t++) {
        if (rounded_down(p, tiles[t], e)) return true;
    }
    return false;
}

/* Everything around a box: rows above and below, columns left and right. */
static bool frame(const struct region *r, struct explanation *out) {
    const struct box *box = &r->outside;
    if (area(box) + r->count != (uint64_t)r->m * (uint64_t)r->n) return false;
    say_span(out, "row", 0, box->row_first - 1);
    say_span(out, "row", box->row_last + 1, r->m - 1);
    say_span(out, "column", 0, box->col_first - 1);
    say_span(out, "column", box->col_last + 1, r->n - 1);
    if (box->row_first || box->col_first) return true;
    struct extent extent = {box->row_last + 1, box->col_last + 1};
    if (r->state == UNWRITTEN) {
        out->row_end = extent.rows;
        out->col_end = extent.cols;
        say_reason(r->study->problem, extent, out);
    } else if (is_edge(r->study->problem, extent)) {
        set(out, "edge-wrong", edge_hint);
    }
    return true;
}

static bool single_box(const struct region *r, struct explanation *out) {
    const struct box *box = &r->inside;
    if (area(box) != r->count) return false;
    APPEND(out->text, "rows %d to %d in columns %d to %d", box->row_first, box->row_last,
           box->col_first, box->col_last);
    return true;
}

/* Everything from some element on, in memory order. */
static bool tail(const struct region *r, struct explanation *out) {
    uint64_t elements = (uint64_t)r->m * (uint64_t)r->n, first = elements - r->count;
    for (uint64_t at = first; at < elements; at++) {
        if (!is_in(r, (int)(at / (uint64_t)r->n), (int)(at % (uint64_t)r->n))) return false;
    }
    APPEND(out->text, "everything from row %d, column %d on, in memory order",
           (int)(first / (uint64_t)r->n), (int)(first % (uint64_t)r->n));
    set(out, "tail", "how many threads are there, and which element of C does the last one store?");
    return true;
}

/* The rows (or columns) that are whole: whether they are evenly spaced, and how. */
static bool even_steps(const int *counts, int size, int whole, int *first, int *step, int *number) {
    int last = -1;
    *first = *step = -1;
    *number = 0;
    for (int i = 0; i < size; i++) {
        if (counts[i] != whole) continue;
        if (*number == 0) *first = i;
        if (*number == 1) *step = i - last;
        if (*number > 1 && i - last != *step) return false;
        last = i;
        ++*number;
    }
    return *number > 2 && last + *step >= size && *first < *step;
}

/* Every second row, or every fourth column. */
static bool stripes(const struct region *r, struct explanation *out) {
    int first, step, number;
    bool rows = even_steps(r->in_row, r->m, r->n, &first, &step, &number);
    if (rows && r->count == (uint64_t)number * (uint64_t)r->n)
        APPEND(out->text, "one row in %d (rows %d, %d, ...)", step, first, first + step);
    else if (even_steps(r->in_col, r->n, r->m, &first, &step, &number) &&
             r->count == (uint64_t)number * (uint64_t)r->m)
        APPEND(out->text, "one column in %d (columns %d, %d, ...)", step, first, first + step);
    else
        return false;
    set(out, r->state == UNWRITTEN ? "stripes" : "stripes-wrong",
        "how do block and thread make the row and the column of an element?");
    return true;
}

/* All of a block, or none of it? */
static bool uniform(const struct region *r, int row, int col, int tile, bool *in) {
    *in = is_in(r, row, col);
    for (int i = row; i < min_int(row + tile, r->m); i++) {
        for (int j = col; j < min_int(col + tile, r->n); j++) {
            if (is_in(r, i, j) != *in) return false;
        }
    }
    return true;
}

static bool blocks_of(const struct region *r, int tile, struct explanation *out) {
    uint64_t total = 0, members = 0, diagonal = 0;
    for (int row = 0; row < r->m; row += tile) {
        for (int col = 0; col < r->n; col += tile, total++) {
            bool in;
            if (!uniform(r, row, col, tile, &in)) return false;
            members += in;
            diagonal += in && row == col;
        }
    }
    int length = (min_int(r->m, r->n) - 1) / tile + 1;
    if (members == diagonal && diagonal == (uint64_t)length && length > 1)
        APPEND(out->text, "the blocks of %d x %d on the diagonal", tile, tile);
    else
        APPEND(out->text, "%s of the %s blocks of %d x %d", grouped(members).text,
               grouped(total).text, tile, tile);
    set(out, r->state == UNWRITTEN ? "blocks" : "blocks-wrong",
        "what do those blocks do that the others do not?");
    return true;
}

static bool blocks(const struct region *r, struct explanation *out) {
    for (int t = 0; t < LENGTH(tiles); t++) {
        if (tiles[t] < max_int(r->m, r->n) && blocks_of(r, tiles[t], out)) return true;
    }
    return false;
}

bool explain_region(const struct study *study, enum state state, struct explanation *out) {
    struct region region;
    bool found = false;
    memset(out, 0, sizeof *out);
    if (state != UNWRITTEN && !study->state) return false;
    set(out, state == UNWRITTEN ? "unwritten-region" : "wrong-region",
        state == UNWRITTEN ? end_hint : "what is different for these elements?");
    if (region_new(&region, study, state) && region.count > 0) {
        bool all = region.outside.row_last < 0;
        found = all || frame(&region, out) || stripes(&region, out) || single_box(&region, out) ||
                (state == UNWRITTEN && tail(&region, out)) || blocks(&region, out);
        out->explained = out->of = region.count;
    }
    region_free(&region);
    return found;
}
