/* The mistakes that are known: what C is when they are made. A new one needs a formula here, and a
 * test that makes the mistake. */
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "study.h"

#include <limits.h>
#include <math.h>

/* That students choose, the usual ones first. */
static const int tile_sizes[] = {16, 32, 8, 4, 2, 64, 12, 20, 24, 10, 48, 128};

static void consider_zero(struct search *search) {
    struct formula f = formula_new(
        search->study, "zero",
        "is what is stored the sum to which products are added (a declaration inside a loop makes "
        "another one), does the loop over k run, and are the sum and the tiles of type float?",
        "0");
    f.factor = 0;
    search_consider(search, &f);
}

/* A whole number: what is added several times. */
static void consider_factor(struct search *search) {
    const struct studied *e = search->study->elements;
    const double quotient = (double)e->got / e->ref, factor = rint(quotient);
    if (!(fabs(quotient - factor) <= 1e-2) || factor == 0 || factor == 1) return;
    struct formula f =
        formula_new(search->study, "factor",
                    factor == 2 ? "is each product added to the sum once, and to C once?"
                                : "C = A B has no factor: what else happens to the sum?",
                    "%g times the product", factor);
    f.factor = factor;
    search_consider(search, &f);
}

/* A thread that computes several elements, so many columns and rows apart, and keeps its sum. */
static void consider_not_reset(struct search *search) {
    static const int steps[] = {8, 16, 32, 64, 4, 128, 256, 512, 1024, 24, 48, 96, 192, INT_MAX};
    const int n = search->study->problem->n, m = search->study->problem->m;
    for (int i = 0; i < LENGTH(steps) * LENGTH(steps); i++) {
        struct formula f =
            formula_new(search->study, "sum-not-reset",
                        "what is in the sum when a thread begins its second element of C?",
                        "the product plus what the same thread had computed before, ");
        f.back_rows = min_int(steps[i / LENGTH(steps)], m); /* m: a thread has one row of C */
        f.back_cols = min_int(steps[i % LENGTH(steps)], n);
        if (f.back_cols < n) APPEND(f.phrase, "%d columns to the left", f.back_cols);
        if (f.back_cols < n && f.back_rows < m) APPEND(f.phrase, " or ");
        if (f.back_rows < m) APPEND(f.phrase, "%d rows up", f.back_rows);
        if (f.back_cols < n || f.back_rows < m) search_consider(search, &f);
    }
}

/* ---- other terms ---- */

/* Terms first .. last - 1 weigh so much; of each `every` terms, if not 0. */
static void consider_weight(struct search *search, struct formula f, int first, int last, int every,
                            double weight) {
    f.first = first;
    f.last = last;
    f.every = every;
    f.weight = weight;
    search_consider(search, &f);
}

static void consider_first(struct search *search, int terms) {
    const struct problem *p = search->study->problem;
    bool tiles = false; /* all but the last, which is not whole */
    for (int i = 0; i < LENGTH(tile_sizes); i++)
        tiles |= terms % tile_sizes[i] == 0 && p->k - terms < tile_sizes[i];
    struct formula f = formula_new(
        search->study, "k-cut",
        terms == p->k - 1 ? "what is the last value of k that the loop reaches?"
        : tiles           ? "how many phases are there when k is not a multiple of the tile?"
                          : "what becomes of the other values of k: does a loop skip them, or is a "
                            "part of the sum lost?",
        "the product over the first %d of %d values of k", terms, p->k);
    if (terms == p->n || terms == p->m)
        APPEND(f.phrase, " (%s is %d)", terms == p->n ? "n" : "m", terms);
    consider_weight(search, f, terms, p->k, 0, 0);
}

static void consider_last(struct search *search, int terms) {
    const int k = search->study->problem->k;
    const struct formula f = formula_new(
        search->study, "k-late",
        "where does the loop over k start, and is the sum kept from one phase to the next?",
        "the product over the last %d of %d values of k", terms, k);
    consider_weight(search, f, 0, k - terms, 0, 0);
}

/* The sum of the first, or last, terms that gives a wrong element; and how often it has the last
 * term. */
static void consider_parts(struct search *search) {
    const struct problem *p = search->study->problem;
    const struct studied *e = search->study->elements;
    const double allowed = formula_tolerance(p, 2 * e->G), got = (double)e->got;
    double sum = 0, term = 0;
    for (int i = 0; i < p->k; i++) {
        if (i && fabs(sum - got) <= allowed) consider_first(search, i);
        if (i && fabs(e->ref - sum - got) <= allowed) consider_last(search, p->k - i);
        term = (double)p->A[(int64_t)e->row * p->k + i] * p->B[(int64_t)i * p->n + e->col];
        sum += term;
    }
    const double times = rint(1 + (got - e->ref) / term);
    if (!(times >= 3 && times <= 1024)) return;
    const struct formula f =
        formula_new(search->study, "last-term-repeated",
                    "what belongs in the part of the last tile that is beyond k?",
                    "the product with the last value of k counted %g times", times);
    consider_weight(search, f, p->k - 1, p->k, 0, times);
}

static void consider_twice(struct search *search, int first, int last) {
    const int k = search->study->problem->k;
    const struct formula f =
        formula_new(search->study, "k-twice",
                    first ? "what do the tiles hold beyond k in the last phase?"
                          : "is each phase added to the sum once?",
                    "the product with values %d to %d of k counted twice", first, last - 1);
    if (0 <= first && first < last && last < k) consider_weight(search, f, first, last, 0, 2);
}

/* The last term of each tile is missing; the first tile is counted twice; or what the phase before
 * the last one has left in its tile. */
static void consider_tiles(struct search *search, int tile) {
    const int k = search->study->problem->k;
    const struct formula f = formula_new(
        search->study, "tile-one-short", "how many products does one phase add to the sum?",
        "the product without the last value of k of each %d", tile);
    if (tile < k) consider_weight(search, f, tile - 1, tile, tile, 0);
    consider_twice(search, 0, tile);
    if (k % tile) consider_twice(search, k - tile, k - k % tile);
}

/* ---- other indices ---- */

static const char *const stride_hints[] = {
    "how many elements lie between A[i][p] and A[i + 1][p]?",
    "how many elements lie between B[p][j] and B[p + 1][j]?",
    "how many elements lie between C[i][j] and C[i + 1][j]?",
};

/* A way to read A or B, or to store C. */
static const struct way {
    char matrix;
    enum { STRIDE, TRANSPOSED, TILES, FIRST_TILE } how;
    const char *sizes;      /* m, n, k, each of which the row length may be; NULL: those of tiles */
    const char *name, *say; /* %s: the size's letter; the size */
} ways[] = {
    {'a', STRIDE, "nm", "a-stride-%s", "with A read as if its rows had %s elements"},
    {'b', STRIDE, "km", "b-stride-%s", "with B read as if its rows had %s elements"},
    {'c', STRIDE, "mk", "c-stride-%s", "stored as if the rows of C had %s elements"},
    {'a', TRANSPOSED, "mkn", "a-transposed",
     "with A read transposed, element (i, p) at p * %s + i"},
    {'b', TRANSPOSED, "knm", "b-transposed",
     "with B read transposed, element (p, j) at j * %s + p"},
    {'c', TRANSPOSED, "mnk", "c-transposed", "stored transposed, element (i, j) at j * %s + i"},
    {'a', TILES, NULL, "a-tile-transposed", "with each %s tile of A transposed"},
    {'b', TILES, NULL, "b-tile-transposed", "with each %s tile of B transposed"},
    {'c', TILES, NULL, "c-tile-transposed",
     "with each %s tile of C stored transposed, in its place"},
    {'a', FIRST_TILE, NULL, "a-first-tile", "with the same, first %s tiles of A in every phase"},
    {'b', FIRST_TILE, NULL, "b-first-tile", "with the same, first %s tiles of B in every phase"},
};

static int size_of(const struct problem *p, char letter) {
    return letter == 'm' ? p->m : letter == 'n' ? p->n : p->k;
}

/* With this row length, that of the letter, or with tiles of this size. */
static void consider_way(struct search *search, const struct way *way, int size, char letter) {
    const struct problem *p = search->study->problem;
    struct formula f = formula_new(search->study, "", "", "the product ");
    struct layout *layout = way->matrix == 'a' ? &f.a : way->matrix == 'b' ? &f.b : &f.c;
    const int rows = way->matrix == 'b' ? p->k : p->m, cols = way->matrix == 'a' ? p->k : p->n;
    const bool one_tile = way->how == TRANSPOSED && max_int(rows, cols) <= 32;
    char text[40];
    if (letter)
        snprintf(text, sizeof text, "%c (%d)", letter, size);
    else
        snprintf(text, sizeof text, "%d x %d", size, size);
    APPEND(f.name, way->name, (const char[]){letter, '\0'});
    APPEND(f.phrase, way->say, text);
    if (one_tile) APPEND(f.phrase, " (or its one tile)");
    switch (way->how) {
    case STRIDE:
        if (size == layout->row_step) return; /* right */
        layout->row_step = size;
        f.hint = stride_hints[way->matrix - 'a'];
        break;
    case TRANSPOSED:
        *layout = (struct layout){.row_step = 1, .col_step = size};
        f.hint = one_tile ? "which index is threadIdx.x: in the matrix, and in its tile, if it has "
                            "one?"
                          : "in row-major order, which of the two indices is multiplied by the "
                            "length of a row?";
        break;
    case TILES:
        if (size >= max_int(rows, cols)) return; /* as a whole */
        layout->tile = size;
        f.hint =
            "is the tile read in the order in which it was stored? Which index is threadIdx.x?";
        break;
    case FIRST_TILE:
        if (size >= p->k) return; /* there are no others */
        layout->period = size;
        f.hint = "what changes from one phase to the next?";
        break;
    }
    search_consider(search, &f);
}

/* With the usual tiles; or each size, but for those that have the value of an earlier one. */
static void consider_sizes(struct search *search, const struct way *way) {
    const struct problem *p = search->study->problem;
    for (int i = 0; !way->sizes && i < 6; i++) consider_way(search, way, tile_sizes[i], '\0');
    for (const char *at = way->sizes; at && *at; at++) {
        bool known = false;
        for (const char *before = way->sizes; before < at; before++)
            known |= size_of(p, *before) == size_of(p, *at);
        if (!known) consider_way(search, way, size_of(p, *at), *at);
    }
}

void search_mistakes(struct search *search) {
    consider_zero(search);
    consider_factor(search);
    consider_parts(search);
    for (int i = 0; i < LENGTH(tile_sizes); i++) consider_tiles(search, tile_sizes[i]);
    for (int i = 0; i < LENGTH(ways); i++) consider_sizes(search, &ways[i]);
    consider_not_reset(search);
}
