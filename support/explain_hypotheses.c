/* The mistakes that are known: what C is when they are made.
 *
 * Each propose_...() makes formulas for one kind of mistake, one for each way to make it; the table
 * at the end lists them, simple ones first. A new one needs a line there, and a test in
 * tests/support/test_explain.c that makes the mistake. */
#include "explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

const int explain_tiles[TILES] = {16, 32, 8, 4, 2, 64, 12, 20, 24, 10, 48, 128};

enum { LETTERS = 3 }; /* m, n, k */

static void say(struct formula *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void name(struct formula *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct formula *f, const char *format, ...) {
    size_t length = strlen(f->phrase);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->phrase + length, sizeof f->phrase - length, format, arguments);
    va_end(arguments);
}

static void name(struct formula *f, const char *format, ...) {
    size_t length = strlen(f->name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->name + length, sizeof f->name - length, format, arguments);
    va_end(arguments);
}

static enum outcome accept_zero(const struct formula *f, const struct element *e) {
    (void)f;
    return e->got == 0 ? FITS : DIFFERS;
}

static enum answer propose_zero(const struct search *search, int i, struct formula *f) {
    (void)search;
    if (i > 0) return NO_MORE;
    f->accept = accept_zero;
    name(f, "zero");
    say(f, "0");
    f->hint =
        "does the loop over k run at all? Is it the sum that is stored, and is the sum a float? "
        "An int keeps nothing of a number below 1.";
    f->part_hint = "which threads store these elements, and are all of them meant to?";
    return PROPOSED;
}

/* The element of a matrix with so many columns that is in the same place, or as far from the
 * start. */
static enum outcome accept_equal(const struct element *e, const float *x, int rows, int cols,
                                 int n) {
    int64_t at = (int64_t)e->row * n + e->col;
    bool has_place = e->row < rows && e->col < cols, has_index = at < (int64_t)rows * cols;
    if (has_place && x[(int64_t)e->row * cols + e->col] == e->got) return FITS;
    if (has_index && x[at] == e->got) return FITS;
    return has_place || has_index ? DIFFERS : OUTSIDE;
}

static enum outcome accept_a(const struct formula *f, const struct element *e) {
    return accept_equal(e, f->problem->A, f->problem->m, f->problem->k, f->problem->n);
}

static enum outcome accept_b(const struct formula *f, const struct element *e) {
    return accept_equal(e, f->problem->B, f->problem->k, f->problem->n, f->problem->n);
}

static enum outcome accept_elementwise(const struct formula *f, const struct element *e) {
    const struct problem *p = f->problem;
    if (e->col >= p->k || e->row >= p->k) return OUTSIDE;
    float product = p->A[(int64_t)e->row * p->k + e->col] * p->B[(int64_t)e->row * p->n + e->col];
    return e->got == product ? FITS : DIFFERS;
}

static enum answer propose_copy(const struct search *search, int i, struct formula *f) {
    static const struct {
        enum outcome (*accept)(const struct formula *, const struct element *);
        const char *name, *say;
    } copies[] = {
        {accept_a, "copy-of-a", "A itself"},
        {accept_b, "copy-of-b", "B itself"},
        {accept_elementwise, "elementwise", "A[i][j] * B[i][j], a product element by element"},
    };
    (void)search;
    if (i >= LENGTH(copies)) return NO_MORE;
    f->accept = copies[i].accept;
    name(f, "%s", copies[i].name);
    say(f, "%s", copies[i].say);
    f->hint = "one element of C takes a whole row of A and a whole column of B";
    return PROPOSED;
}

/* -- the product, and something done to it -- */

/* The median over the wrong probes of what `of` makes of them. */
static double probe_median(const struct search *search, double (*of)(const struct element *)) {
    double values[PROBES];
    int count = 0;
    for (int i = 0; i < search->probe_count; i++) {
        double value = of(search->probes[i]);
        if (isfinite(value)) values[count++] = value;
    }
    if (count == 0) return NAN;
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Only where the quotient says much. */
static double quotient(const struct element *e) {
    return fabs(e->ref) > 0.02 * e->G ? (double)e->got / e->ref : NAN;
}

static double difference(const struct element *e) { return (double)e->got - e->ref; }

/* A factor in words, exact if it is near one that people use. */
static double name_factor(const struct problem *p, double factor, char *text, size_t size) {
    static const double usual[] = {2, -1, 0.5, 3, 4, -2, 0.25, 10, 0.1, 100, 0.01};
    const struct {
        double factor;
        const char *format;
        int by;
    } sizes[] = {{1.0 / p->k, "the product divided by k (%d)", p->k},
                 {1.0 / p->n, "the product divided by n (%d)", p->n},
                 {1.0 / p->m, "the product divided by m (%d)", p->m},
                 {p->k, "k (%d) times the product", p->k},
                 {p->n, "n (%d) times the product", p->n},
                 {p->m, "m (%d) times the product", p->m}};
    for (int i = 0; i < LENGTH(usual); i++) {
        if (fabs(factor / usual[i] - 1) > 1e-4) continue;
        if (usual[i] == -1)
            snprintf(text, size, "the negative of the product");
        else
            snprintf(text, size, "%g times the product", usual[i]);
        return usual[i];
    }
    for (int i = 0; i < LENGTH(sizes); i++) {
        if (fabs(factor / sizes[i].factor - 1) > 1e-4) continue;
        snprintf(text, size, sizes[i].format, sizes[i].by);
        return sizes[i].factor;
    }
    snprintf(text, size, "%.6g times the product", factor);
    return factor;
}

static enum answer propose_factor(const struct search *search, int i, struct formula *f) {
    char text[96];
    double factor = i == 0 ? probe_median(search, quotient) : NAN;
    if (i > 0) return NO_MORE;
    if (isnan(factor) || fabs(factor) < 1e-6 || fabs(factor - 1) < 1e-3) return SKIPPED;
    f->natural = true;
    f->factor = name_factor(f->problem, factor, text, sizeof text);
    f->slack = 1024; /* the factor comes from a quotient with an error of its own */
    name(f, "factor");
    say(f, "%s", text);
    f->hint = factor == 2.0 || fabs(factor - 2) < 1e-3
                  ? "is everything added to the sum, and the sum to C, once?"
                  : "C = A B has no factor: what else does the sum go through?";
    return PROPOSED;
}

static enum answer propose_offset(const struct search *search, int i, struct formula *f) {
    double offset = i == 0 ? probe_median(search, difference) : NAN;
    if (i > 0) return NO_MORE;
    if (isnan(offset) || offset == 0) return SKIPPED;
    if (fabs(offset - rint(offset)) < 1e-3 && rint(offset) != 0) offset = rint(offset);
    f->natural = true;
    f->offset = offset;
    f->slack = 64;
    name(f, "offset");
    say(f, "the product plus %.6g", offset);
    f->hint = "what is in the sum before the first term is added?";
    return PROPOSED;
}

static double finish_fabs(double sum, double G) { return G > 0 ? fabs(sum) : 0; }
static double finish_magnitude(double sum, double G) { return isnan(sum) ? sum : G; }
static double finish_trunc(double sum, double G) { return G > 0 ? trunc(sum) : 0; }
static double finish_floor(double sum, double G) { return G > 0 ? floor(sum) : 0; }
static double finish_rint(double sum, double G) { return G > 0 ? rint(sum) : 0; }

static enum answer propose_finish(const struct search *search, int i, struct formula *f) {
    static const char integer_hint[] = "which variables between A, B and C are of type int?";
    static const char sign_hint[] = "where does a sign get lost?";
    static const struct {
        double (*finish)(double, double);
        const char *name, *say, *hint;
    } ends[] = {
        {finish_trunc, "integer-result", "the product without its fraction, an integer",
         integer_hint},
        {finish_rint, "integer-result", "the product rounded to an integer", integer_hint},
        {finish_floor, "integer-result", "the product rounded down to an integer", integer_hint},
        {finish_fabs, "absolute", "the product without its sign", sign_hint},
        {finish_magnitude, "magnitudes", "the product of |A| and |B|, without signs", sign_hint},
    };
    (void)search;
    if (i >= LENGTH(ends)) return NO_MORE;
    f->natural = true;
    f->finish = ends[i].finish;
    name(f, "%s", ends[i].name);
    say(f, "%s", ends[i].say);
    f->hint = ends[i].hint;
    return PROPOSED;
}

/* -- less precise than float32 -- */

/* So many significant bits, to nearest even or towards zero. */
static float keep_bits(float value, int bits, bool nearest) {
    uint32_t word = get_bits(&value), drop = 24 - (uint32_t)bits;
    if (nearest) word += (1u << (drop - 1)) - 1 + (word >> drop & 1);
    word &= ~((1u << drop) - 1);
    memcpy(&value, &word, sizeof value);
    return value;
}

static float nearest_11(float x) { return keep_bits(x, 11, true); }
static float towards_zero_11(float x) { return keep_bits(x, 11, false); }
static float nearest_8(float x) { return keep_bits(x, 8, true); }
static float towards_zero_8(float x) { return keep_bits(x, 8, false); }

static enum answer propose_inputs(const struct search *search, int i, struct formula *f) {
    static const struct {
        float (*input)(float);
        const char *name, *say, *hint;
    } inputs[] = {
        {nearest_11, "inputs-11-bits",
         "the product of A and B rounded to 11 significant bits (TF32, FP16), not float32's 24",
         "in which type do the elements of A and B reach the multiplication?"},
        {towards_zero_11, "inputs-11-bits",
         "the product of A and B cut to 11 significant bits (TF32), not float32's 24",
         "in which type do the elements of A and B reach the multiplication?"},
        {nearest_8, "inputs-8-bits",
         "the product of A and B rounded to 8 significant bits (BF16), not float32's 24",
         "in which type do the elements of A and B reach the multiplication?"},
        {towards_zero_8, "inputs-8-bits",
         "the product of A and B cut to 8 significant bits (BF16), not float32's 24",
         "in which type do the elements of A and B reach the multiplication?"},
        {truncf, "integer-inputs", "the product of A and B without their fractions",
         "in which type do the elements of A and B reach the multiplication?"},
    };
    (void)search;
    if (i >= LENGTH(inputs)) return NO_MORE;
    f->input = inputs[i].input;
    name(f, "%s", inputs[i].name);
    say(f, "%s", inputs[i].say);
    f->hint = inputs[i].hint;
    return PROPOSED;
}

/* No bits beyond so many: proof that C went through a shorter type, if it is near A B. */
static enum outcome accept_bits(const struct formula *f, const struct element *e) {
    bool fits =
        keep_bits(e->got, f->bits, false) == e->got && fabs((double)e->got - e->ref) <= f->near;
    return fits ? FITS : DIFFERS;
}

/* Those have few bits for another reason. */
static bool all_small_integers(const struct search *search, int bits) {
    for (int i = 0; i < search->probe_count; i++) {
        double got = (double)search->probes[i]->got;
        if (got != rint(got) || fabs(got) > ldexp(1, bits)) return false;
    }
    return true;
}

static enum answer propose_bits(const struct search *search, int i, struct formula *f) {
    static const char *const types[] = {"BF16", "FP16 or TF32"};
    static const int bits[] = {8, 11};
    if (i >= LENGTH(bits)) return NO_MORE;
    if (all_small_integers(search, bits[i])) return SKIPPED;
    f->near = search->study->rms / 4;
    f->accept = accept_bits;
    f->bits = bits[i];
    name(f, "sums-%d-bits", bits[i]);
    say(f, "nearly the product, but with at most %d significant bits (%s) where float32 has 24",
        bits[i], types[i]);
    f->hint = "in which type is the sum kept?";
    return PROPOSED;
}

static enum answer propose_integer_sum(const struct search *search, int i, struct formula *f) {
    (void)search;
    if (i > 0) return NO_MORE;
    f->step = truncf;
    name(f, "integer-sum");
    say(f, "a sum that loses its fraction with each term, as in an int");
    f->hint = "which variables between A, B and C are of type int?";
    return PROPOSED;
}

/* -- other terms -- */

static double weigh_slice(const struct formula *f, int p) {
    return p >= f->first && p < f->last ? f->inside : f->outside;
}

/* A phase's whole tile may be cut here: k rounded down to the tile. */
static bool is_whole_tiles(int cut, int k) {
    for (int i = 0; i < TILES; i++) {
        if (explain_tiles[i] > 2 && cut == k - k % explain_tiles[i] && cut < k) return true;
    }
    return false;
}

static bool is_tile(int cut) {
    for (int i = 0; i < TILES; i++) {
        if (explain_tiles[i] > 2 && cut == explain_tiles[i]) return true;
    }
    return false;
}

static void say_only(struct formula *f, const struct slice *slice) {
    const struct problem *p = f->problem;
    int terms = slice->last - slice->first;
    if (slice->first == 0) {
        name(f, "k-cut");
        say(f, "the product over the first %d of %d values of k", terms, p->k);
        if (terms == p->n || terms == p->m) say(f, " (%s is %d)", terms == p->n ? "n" : "m", terms);
        f->hint = is_whole_tiles(terms, p->k)
                      ? "how many phases are there when k is no multiple of the tile?"
                  : terms == p->k - 1 ? "what is the last value of k that the loop reaches?"
                  : is_tile(terms)    ? "what happens after the first phase?"
                  : terms % 4 == 0    ? "how many phases does the loop over them have?"
                                      : "how many terms has an element of C?";
    } else if (slice->last == p->k) {
        name(f, "k-late");
        say(f, "the product over the last %d of %d values of k", terms, p->k);
        f->hint = "where does the loop over k start, and does the sum live from its start to its "
                  "end?";
    } else {
        name(f, "k-part");
        say(f, "the product over values %d to %d of k alone, of 0 to %d", slice->first,
            slice->last - 1, p->k - 1);
        f->hint = "which phases are added to the sum?";
    }
}

static bool keeps_old_tile(const struct slice *slice, int k) {
    for (int i = 0; i < TILES; i++) {
        if (slice->first == k - explain_tiles[i] && slice->last == k - k % explain_tiles[i])
            return true;
    }
    return false;
}

static enum answer propose_slice(const struct search *search, int i, struct formula *f) {
    if (i >= search->slice_count) return NO_MORE;
    const struct slice *slice = &search->slices[i];
    f->weight = weigh_slice;
    f->first = slice->first;
    f->last = slice->last;
    f->inside = slice->part == ONLY ? 1 : slice->part == WITHOUT ? 0 : 2;
    f->outside = slice->part == ONLY ? 0 : 1;
    if (slice->part == ONLY) {
        say_only(f, slice);
    } else if (slice->part == WITHOUT) {
        name(f, "k-gap");
        say(f, "the product without values %d to %d of k (of 0 to %d)", slice->first,
            slice->last - 1, f->problem->k - 1);
        f->hint = "which phase is left out?";
    } else {
        name(f, "k-twice");
        if (slice->last - slice->first == 1)
            say(f, "the product with value %d of k counted twice", slice->first);
        else
            say(f, "the product with values %d to %d of k counted twice", slice->first,
                slice->last - 1);
        f->hint = keeps_old_tile(slice, f->problem->k)
                      ? "what do the tiles hold beyond k in the last phase?"
                      : "is each phase added to the sum once?";
    }
    return PROPOSED;
}

static double weigh_not_last(const struct formula *f, int p) { return p % f->tile != f->tile - 1; }
static double weigh_not_first(const struct formula *f, int p) { return p % f->tile != 0; }

static double weigh_kept(const struct formula *f, int p) {
    return (f->problem->k - 1) / f->tile + 1 - p / f->tile;
}

static enum answer propose_weights(const struct search *search, int i, struct formula *f) {
    static const struct {
        double (*weight)(const struct formula *, int);
        const char *name, *say, *hint;
    } weights[] = {
        {weigh_not_last, "tile-one-short", "the product without the last value of k of each %d",
         "how many products does one phase add to the sum?"},
        {weigh_not_first, "tile-late", "the product without the first value of k of each %d",
         "where does the loop over a tile start?"},
        {weigh_kept, "partial-sum-kept",
         "a sum in which the first %d values of k count in every phase, the next ones in all but "
         "one, and so on",
         "what does each phase begin its own sum with?"},
    };
    (void)search;
    if (i >= LENGTH(weights) * TILES) return NO_MORE;
    f->tile = explain_tiles[i % TILES];
    if (f->tile >= f->problem->k) return SKIPPED;
    i /= TILES;
    f->weight = weights[i].weight;
    name(f, "%s", weights[i].name);
    snprintf(f->phrase, sizeof f->phrase, weights[i].say, f->tile);
    f->hint = weights[i].hint;
    return PROPOSED;
}

/* How often the last term would have to be there. */
static enum answer propose_last_again(const struct search *search, int i, struct formula *f) {
    const struct problem *p = f->problem;
    if (i >= search->probe_count) return NO_MORE;
    const struct element *e = search->probes[i];
    double term =
        (double)p->A[((int64_t)e->row + 1) * p->k - 1] * p->B[(int64_t)(p->k - 1) * p->n + e->col];
    double times = rint(1 + difference(e) / term);
    if (!(times >= 3 && times <= 1024)) return SKIPPED;
    f->weight = weigh_slice;
    f->first = p->k - 1;
    f->last = p->k;
    f->inside = times;
    f->outside = 1;
    name(f, "last-term-repeated");
    say(f, "the product with the last value of k counted %g times", times);
    f->hint = "what belongs into the part of the last tile that lies beyond k?";
    return PROPOSED;
}

static enum answer propose_not_reset(const struct search *search, int i, struct formula *f) {
    static const int steps[] = {8, 16, 32, 64, 4, 128, 256, 512, 1024, 24, 48, 96, 192};
    const int n = f->problem->n, m = f->problem->m, pairs = LENGTH(steps) * (LENGTH(steps) + 1);
    (void)search;
    if (i >= pairs) return NO_MORE;
    bool whole_rows = i % (LENGTH(steps) + 1) == LENGTH(steps); /* a thread has one column */
    f->back_cols = whole_rows ? n : steps[i % (LENGTH(steps) + 1)];
    f->back_rows = steps[i / (LENGTH(steps) + 1)];
    if ((f->back_cols >= n && !whole_rows) || (f->back_rows >= m && whole_rows)) return SKIPPED;
    f->natural = true;
    name(f, "sum-not-reset");
    say(f, "the product plus what the same thread had computed before, ");
    if (!whole_rows) say(f, "%d columns to the left", f->back_cols);
    if (f->back_rows < m) say(f, "%s%d rows up", whole_rows ? "" : " or ", f->back_rows);
    f->hint = "what is in the sum when a thread begins its second element of C?";
    return PROPOSED;
}

/* -- other indices -- */

static int64_t letter_value(const struct problem *p, char letter) {
    return letter == 'm' ? p->m : letter == 'n' ? p->n : p->k;
}

static int64_t a_transposed(const struct formula *f, int i, int p) {
    return (int64_t)p * f->a_stride + i;
}

static int64_t b_transposed(const struct formula *f, int i, int p) {
    return (int64_t)i * f->b_stride + p;
}

/* A tile that was loaded transposed, zeros beyond the edges: element (row, col) of it is element
 * (col, row) of the matrix's tile. */
static int64_t tile_transposed(const struct formula *f, int row, int col, int rows, int cols) {
    int64_t to_row = (int64_t)row - row % f->tile + col % f->tile;
    int64_t to_col = (int64_t)col - col % f->tile + row % f->tile;
    return to_row < rows && to_col < cols ? to_row * cols + to_col : ZERO;
}

static int64_t a_tile_transposed(const struct formula *f, int i, int p) {
    return tile_transposed(f, i, p, f->problem->m, f->problem->k);
}

static int64_t b_tile_transposed(const struct formula *f, int i, int p) {
    return tile_transposed(f, p, i, f->problem->k, f->problem->n);
}

static int64_t a_first_tile(const struct formula *f, int i, int p) {
    return p % f->tile < f->problem->k ? (int64_t)i * f->problem->k + p % f->tile : ZERO;
}

static int64_t b_first_tile(const struct formula *f, int i, int p) {
    return p % f->tile < f->problem->k ? (int64_t)(p % f->tile) * f->problem->n + i : ZERO;
}

static struct source stored_plain(const struct formula *f, int64_t r, int64_t c) {
    (void)f;
    return (struct source){(int)r, (int)c};
}

static struct source stored_transposed(const struct formula *f, int64_t r, int64_t c) {
    (void)f;
    return (struct source){(int)c, (int)r};
}

static struct source stored_tile_transposed(const struct formula *f, int64_t r, int64_t c) {
    int64_t row = r % f->tile, col = c % f->tile;
    return (struct source){(int)(r - row + col), (int)(c - col + row)};
}

/* Ways to read A or B. */
struct reading {
    index_function *index;
    bool tiled;
    const char *order;      /* m, n, k as its stride; the first of the first reading is right */
    const char *name;       /* NULL: "a-stride-m" and so on */
    const char *say, *hint; /* %s: the stride's letter and value, or the tile */
};

static const char a_hint[] = "how many elements lie between A[i][p] and A[i + 1][p]?";
static const char b_hint[] = "how many elements lie between B[p][j] and B[p + 1][j]?";
static const char c_hint[] = "how many elements lie between C[i][j] and C[i + 1][j]?";
static const char transposed_hint[] =
    "in row-major order, which of the two indices is multiplied by the length of a row?";
static const char tile_hint[] =
    "is the tile read in the order in which it was stored? Which index is threadIdx.x?";
static const char first_tile_hint[] = "what changes from one phase to the next?";

static const struct reading a_readings[] = {
    {explain_a_row, false, "knm", NULL, "with A read as if its rows had %s elements", a_hint},
    {a_transposed, false, "mkn", "a-transposed",
     "with A read transposed, element (i, p) at p * %s + i", transposed_hint},
    {a_tile_transposed, true, "k", "a-tile-transposed", "with each %s tile of A transposed",
     tile_hint},
    {a_first_tile, true, "k", "a-first-tile", "with the same, first %s tiles of A in every phase",
     first_tile_hint},
};

static const struct reading b_readings[] = {
    {explain_b_row, false, "nkm", NULL, "with B read as if its rows had %s elements", b_hint},
    {b_transposed, false, "knm", "b-transposed",
     "with B read transposed, element (p, j) at j * %s + p", transposed_hint},
    {b_tile_transposed, true, "n", "b-tile-transposed", "with each %s tile of B transposed",
     tile_hint},
    {b_first_tile, true, "n", "b-first-tile", "with the same, first %s tiles of B in every phase",
     first_tile_hint},
};

static const struct {
    source_function *source;
    bool tiled;
    const char *order, *name, *say, *hint;
} storings[] = {
    {stored_plain, false, "nmk", NULL, "stored as if the rows of C had %s elements", c_hint},
    {stored_transposed, false, "mnk", "c-transposed",
     "stored transposed, element (i, j) at j * %s + i", transposed_hint},
    {stored_tile_transposed, true, "n", "c-tile-transposed",
     "with each %s tile of C stored transposed, in its place", tile_hint},
};

enum { A_CHOICES = 4 * LETTERS, B_CHOICES = 4 * LETTERS, C_CHOICES = 3 * LETTERS };

/* The letter of this choice, or 0 when there is none or an earlier one has the same value. */
static char choose_letter(const struct problem *p, const char *order, int choice) {
    if (choice >= (int)strlen(order)) return 0;
    for (int i = 0; i < choice; i++) {
        if (letter_value(p, order[i]) == letter_value(p, order[choice])) return 0;
    }
    return order[choice];
}

/* One thing that is not as it should be, in the formula's name and phrase. */
static void say_part(struct formula *f, char matrix, char letter, bool tiled, const char *part,
                     const char *format, const char *hint) {
    char what[40];
    if (tiled)
        snprintf(what, sizeof what, "%d x %d", f->tile, f->tile);
    else
        snprintf(what, sizeof what, "%c (%d)", letter, (int)letter_value(f->problem, letter));
    name(f, "%s", f->name[0] ? "+" : "");
    if (part)
        name(f, "%s", part);
    else
        name(f, "%c-stride-%c", matrix, letter);
    size_t length = strlen(f->phrase);
    say(f, "%s", length ? " and " : "the product ");
    length = strlen(f->phrase);
    snprintf(f->phrase + length, sizeof f->phrase - length, format, what);
    if (!f->hint) f->hint = hint;
}

/* With a single tile nobody can tell how it came to be transposed. */
static void say_or_tile(struct formula *f, int rows, int cols) {
    enum { LARGEST = 32 };
    if (rows <= LARGEST && cols <= LARGEST) say(f, " (or its one tile)");
}

/* Sets reading and stride. False: no such choice. */
static bool choose_reading(struct formula *f, char matrix, int choice) {
    const struct reading *reading = &(matrix == 'a' ? a_readings : b_readings)[choice / LETTERS];
    char letter = choose_letter(f->problem, reading->order, choice % LETTERS);
    if (!letter) return false;
    bool single = reading->index == a_first_tile || reading->index == b_first_tile;
    if (single && f->tile >= f->problem->k) return false; /* there is but one phase */
    if (matrix == 'a') {
        f->a = reading->index;
        f->a_stride = (int)letter_value(f->problem, letter);
    } else {
        f->b = reading->index;
        f->b_stride = (int)letter_value(f->problem, letter);
    }
    if (choice == 0) return true;
    say_part(f, matrix, letter, reading->tiled, reading->name, reading->say, reading->hint);
    bool whole = reading->index == a_transposed || reading->index == b_transposed;
    if (whole) say_or_tile(f, f->problem->k, matrix == 'a' ? f->problem->m : f->problem->n);
    return true;
}

static bool choose_storing(struct formula *f, int choice) {
    if (choice == 0) return true;
    char letter = choose_letter(f->problem, storings[choice / LETTERS].order, choice % LETTERS);
    if (!letter) return false;
    f->source = storings[choice / LETTERS].source;
    f->c_stride = (int)letter_value(f->problem, letter);
    say_part(f, 'c', letter, storings[choice / LETTERS].tiled, storings[choice / LETTERS].name,
             storings[choice / LETTERS].say, storings[choice / LETTERS].hint);
    if (f->source == stored_transposed) say_or_tile(f, f->problem->m, f->problem->n);
    return true;
}

static bool choose_terms(struct formula *f, int choice) {
    char letter = choose_letter(f->problem, "knm", choice);
    if (!letter) return false;
    f->terms = (int)letter_value(f->problem, letter);
    if (choice == 0) return true;
    say_part(f, 'k', letter, false, letter == 'n' ? "k-loop-n" : "k-loop-m",
             "with a loop over k that ends at %s", "how many terms has an element of C?");
    return true;
}

/* All ways to read A and B, to store C, to end the loop, and all tiles; those with one mistake come
 * first, then those with two, and so on. */
static enum answer propose_indices(const struct search *search, int i, struct formula *f) {
    enum { TILE, TERMS, STORING, B_READING, A_READING, CHOICES, MISTAKES = CHOICES - 1 };
    static const int sizes[CHOICES] = {6, LETTERS, C_CHOICES, B_CHOICES, A_CHOICES};
    int choice[CHOICES], mistakes = 0;
    (void)search;
    for (int c = 0; c < CHOICES; c++) {
        choice[c] = i % sizes[c];
        i /= sizes[c];
        mistakes += c != TILE && choice[c] != 0;
    }
    if (i >= MISTAKES) return NO_MORE;
    bool tiled = a_readings[choice[A_READING] / LETTERS].tiled ||
                 b_readings[choice[B_READING] / LETTERS].tiled ||
                 storings[choice[STORING] / LETTERS].tiled;
    if (mistakes != i + 1 || (tiled && choice[TERMS]) || (!tiled && choice[TILE])) return SKIPPED;
    f->tile = tiled ? explain_tiles[choice[TILE]] : 0;
    if (!choose_reading(f, 'a', choice[A_READING]) || !choose_reading(f, 'b', choice[B_READING]) ||
        !choose_storing(f, choice[STORING]) || !choose_terms(f, choice[TERMS]))
        return SKIPPED;
    if (tiled) f->terms = (int)round_up((size_t)f->terms, (size_t)f->tile);
    return PROPOSED;
}

static enum answer propose_argument_order(const struct search *search, int i, struct formula *f) {
    static const char orders[][LETTERS + 1] = {"mkn", "nmk", "nkm", "kmn", "knm"};
    const struct problem *p = f->problem;
    (void)search;
    if (i >= LENGTH(orders)) return NO_MORE;
    int m = (int)letter_value(p, orders[i][0]), n = (int)letter_value(p, orders[i][1]);
    int k = (int)letter_value(p, orders[i][2]);
    if (m == p->m && n == p->n && k == p->k) return SKIPPED;
    f->source = stored_plain;
    f->rows = m;
    f->cols = f->b_stride = f->c_stride = n;
    f->terms = f->a_stride = k;
    name(f, "argument-order");
    say(f, "the product with %c, %c, %c in place of m, n, k", orders[i][0], orders[i][1],
        orders[i][2]);
    f->hint = "are the arguments of the launch in the order of the kernel's parameters?";
    return PROPOSED;
}

/* Simple ones first. */
const struct hypothesis explain_hypotheses[] = {
    {.propose = propose_zero, .literal = true},
    {.propose = propose_copy},
    {.propose = propose_factor},
    {.propose = propose_finish},
    {.propose = propose_inputs, .precision = true},
    {.propose = propose_bits, .precision = true},
    {.propose = propose_integer_sum},
    {.propose = propose_slice},
    {.propose = propose_weights},
    {.propose = propose_last_again},
    {.propose = propose_argument_order},
    {.propose = propose_indices},
    {.propose = propose_offset},
    {.propose = propose_not_reset},
    {.propose = NULL},
};
