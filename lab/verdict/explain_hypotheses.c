/* The mistakes that are known: what C is when they are made.
 *
 * Simple ones come first, because of two formulas that fit equally well the earlier one is named.
 * A new one needs a line in a table here, or a function, and a test that
 * makes the mistake. */
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "../sgemm.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "m", by its letter in the tables here. */
static const char *size_name(char letter) {
    return lab.params[letter == 'm' ? PARAM_M : letter == 'n' ? PARAM_N : PARAM_K].name;
}

/* ---- C is something else than a sum ---- */

static enum outcome accept_zero(const struct formula *f, const struct studied *e) {
    (void)f;
    return e->got == 0 ? FITS : DIFFERS;
}

/* The element of a matrix with so many columns that is in the same place, or as far from the
 * start. */
static enum outcome accept_equal(const struct studied *e, const float *x, int rows, int cols,
                                 int n) {
    int64_t at = (int64_t)e->row * n + e->col;
    bool has_place = e->row < rows && e->col < cols, has_index = at < (int64_t)rows * cols;
    if (has_place && x[(int64_t)e->row * cols + e->col] == e->got) return FITS;
    if (has_index && x[at] == e->got) return FITS;
    return has_place || has_index ? DIFFERS : OUTSIDE;
}

static enum outcome accept_a(const struct formula *f, const struct studied *e) {
    return accept_equal(e, f->problem->A, f->problem->m, f->problem->k, f->problem->n);
}

static enum outcome accept_b(const struct formula *f, const struct studied *e) {
    return accept_equal(e, f->problem->B, f->problem->k, f->problem->n, f->problem->n);
}

static enum outcome accept_elementwise(const struct formula *f, const struct studied *e) {
    const struct problem *p = f->problem;
    if (e->col >= p->k || e->row >= p->k) return OUTSIDE;
    float product = p->A[(int64_t)e->row * p->k + e->col] * p->B[(int64_t)e->row * p->n + e->col];
    return e->got == product ? FITS : DIFFERS;
}

/* ---- the product, rounded, or made of rounded numbers ---- */

static double finish_fabs(double sum, double G) { return G > 0 ? fabs(sum) : 0; }
static double finish_magnitude(double sum, double G) { return isnan(sum) ? sum : G; }
static double finish_trunc(double sum, double G) { return G > 0 ? trunc(sum) : 0; }
static double finish_floor(double sum, double G) { return G > 0 ? floor(sum) : 0; }
static double finish_rint(double sum, double G) { return G > 0 ? rint(sum) : 0; }

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

/* No bits beyond so many: proof that C went through a shorter type, if it is near A B. */
static enum outcome accept_bits(const struct formula *f, const struct studied *e) {
    bool near = fabs((double)e->got - e->ref) <= f->study->rms / 4;
    return near && keep_bits(e->got, f->bits, false) == e->got ? FITS : DIFFERS;
}

/* Those have few bits for another reason. */
static bool all_small_integers(const struct search *search, int bits) {
    for (int i = 0; i < search->probe_count; i++) {
        double got = (double)search->probes[i]->got;
        if (got != rint(got) || fabs(got) > ldexp(1, bits)) return false;
    }
    return true;
}

static const char row_hint[] = "one element of C takes a whole row of A and a whole column of B";
static const char integer_hint[] = "which variables between A, B and C are of type int?";
static const char sign_hint[] = "where does a sign get lost?";
static const char input_hint[] =
    "in which type do the elements of A and B reach the multiplication?";
static const char sum_hint[] = "in which type is the sum kept?";

static const struct formula simple[] = {
    {"zero", "0",
     "is what is stored the sum to which products are added (a declaration inside a loop makes "
     "another one), does the loop over k run, and are the sum and the tiles of type float?",
     "which threads store these elements: are they meant to, and what have they loaded?",
     .literal = true, .accept = accept_zero},
    {"copy-of-a", "A itself", row_hint, .accept = accept_a},
    {"copy-of-b", "B itself", row_hint, .accept = accept_b},
    {"elementwise", "A[i][j] * B[i][j], a product element by element", row_hint,
     .accept = accept_elementwise},
    {"integer-result", "the product without its fraction, an integer", integer_hint,
     .finish = finish_trunc},
    {"integer-result", "the product rounded to an integer", integer_hint, .finish = finish_rint},
    {"integer-result", "the product rounded down to an integer", integer_hint,
     .finish = finish_floor},
    {"absolute", "the product without its sign", sign_hint, .finish = finish_fabs},
    {"magnitudes", "the product of |A| and |B|, without signs", sign_hint,
     .finish = finish_magnitude},
    {"inputs-11-bits",
     "the product of A and B rounded to 11 significant bits (TF32, FP16), not float32's 24",
     input_hint, .input = nearest_11},
    {"inputs-11-bits", "the product of A and B cut to 11 significant bits (TF32), not float32's 24",
     input_hint, .input = towards_zero_11},
    {"inputs-8-bits",
     "the product of A and B rounded to 8 significant bits (BF16), not float32's 24", input_hint,
     .input = nearest_8},
    {"inputs-8-bits", "the product of A and B cut to 8 significant bits (BF16), not float32's 24",
     input_hint, .input = towards_zero_8},
    {"integer-inputs", "the product of A and B without their fractions", input_hint,
     .input = truncf},
    {"sums-8-bits",
     "nearly the product, but with at most 8 significant bits (BF16) where float32 has 24",
     sum_hint, .accept = accept_bits, .bits = 8},
    {"sums-11-bits",
     "nearly the product, but with at most 11 significant bits (FP16 or TF32) where float32 has 24",
     sum_hint, .accept = accept_bits, .bits = 11},
    {"integer-sum", "a sum that loses its fraction with each term, as in an int", integer_hint,
     .step = truncf},
};

static void consider_simple(struct search *search) {
    for (int i = 0; i < LENGTH(simple); i++) {
        struct formula f = explain_formula_new(search->study, simple[i]);
        if (!f.bits || !all_small_integers(search, f.bits)) explain_consider(search, &f);
    }
}

static struct formula new_formula(const struct search *search, const char *name, const char *phrase,
                                  const char *hint) {
    struct formula f = explain_formula_new(search->study, (struct formula){.hint = hint});
    APPEND(f.name, "%s", name);
    APPEND(f.phrase, "%s", phrase);
    return f;
}

/* ---- the product times, or plus, a constant ---- */

/* The median over the wrong probes of what `of` makes of them. */
static double probe_median(const struct search *search, double (*of)(const struct studied *)) {
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
static double quotient(const struct studied *e) {
    return fabs(e->ref) > 0.02 * e->G ? (double)e->got / e->ref : NAN;
}

static double difference(const struct studied *e) { return (double)e->got - e->ref; }

static bool is_near(double factor, double exact) { return fabs(factor / exact - 1) <= 1e-4; }

/* A factor in words, exact if it is near one that people use. */
static void name_factor(struct formula *f) {
    static const double usual[] = {2, -1, 0.5, 3, 4, -2, 0.25, 10, 0.1, 100, 0.01};
    const int sizes[] = {f->problem->k, f->problem->n, f->problem->m};
    for (int i = 0; i < LENGTH(usual); i++) {
        if (!is_near(f->factor, usual[i])) continue;
        f->factor = usual[i];
        APPEND(f->phrase, f->factor == -1 ? "the negative of the product" : "%g times the product",
               f->factor);
        return;
    }
    for (int i = 0; i < LENGTH(sizes); i++) {
        bool divided = is_near(f->factor, 1.0 / sizes[i]);
        if (!divided && !is_near(f->factor, sizes[i])) continue;
        f->factor = divided ? 1.0 / sizes[i] : sizes[i];
        APPEND(f->phrase, divided ? "the product divided by %s (%d)" : "%s (%d) times the product",
               size_name("knm"[i]), sizes[i]);
        return;
    }
    APPEND(f->phrase, "%.6g times the product", f->factor);
}

static void consider_factor(struct search *search) {
    double factor = probe_median(search, quotient);
    if (isnan(factor) || fabs(factor) < 1e-6 || fabs(factor - 1) < 1e-3) return;
    struct formula f = new_formula(search, "factor", "",
                                   fabs(factor - 2) < 1e-3
                                       ? "is each product added to the sum once, and to C once?"
                                       : "C = A B has no factor: what else happens to the sum?");
    f.natural = true;
    f.factor = factor;
    f.slack = 1024; /* a quotient has an error, too */
    name_factor(&f);
    explain_consider(search, &f);
}

static void consider_offset(struct search *search) {
    double offset = probe_median(search, difference);
    if (isnan(offset) || offset == 0) return;
    if (fabs(offset - rint(offset)) < 1e-3 && rint(offset) != 0) offset = rint(offset);
    struct formula f = new_formula(search, "offset", "the product plus ",
                                   "what is in the sum before the first term is added?");
    f.natural = true;
    f.offset = offset;
    f.slack = 64;
    APPEND(f.phrase, "%.6g", offset);
    explain_consider(search, &f);
}

/* ---- other terms ---- */

static double weigh_not_last(const struct formula *f, int p) { return p % f->tile != f->tile - 1; }
static double weigh_not_first(const struct formula *f, int p) { return p % f->tile != 0; }

static double weigh_kept(const struct formula *f, int p) {
    return (f->problem->k - 1) / f->tile + 1 - p / f->tile;
}

/* The %d of a phrase is the tile. */
static const struct formula by_tile[] = {
    {"tile-one-short", "the product without the last value of k of each %d",
     "how many products does one phase add to the sum?", .weight = weigh_not_last},
    {"tile-late", "the product without the first value of k of each %d",
     "where does the loop over a tile start?", .weight = weigh_not_first},
    {"partial-sum-kept",
     "a sum in which the first %d values of k count in every phase, the next ones in all but one, "
     "and so on",
     "with which value does each phase's own sum begin?", .weight = weigh_kept},
};

static void consider_weights(struct search *search) {
    for (int i = 0; i < LENGTH(by_tile) * TILES; i++) {
        struct formula f = explain_formula_new(search->study, by_tile[i / TILES]);
        f.tile = explain_tiles[i % TILES];
        if (f.tile >= f.problem->k) continue;
        snprintf(f.phrase, sizeof f.phrase, by_tile[i / TILES].phrase, f.tile);
        explain_consider(search, &f);
    }
}

/* Each probe gives a number of times that the last term would be in its sum. */
static void consider_last_again(struct search *search) {
    const struct problem *p = search->study->problem;
    for (int i = 0; i < search->probe_count; i++) {
        const struct studied *e = search->probes[i];
        double term = (double)p->A[((int64_t)e->row + 1) * p->k - 1] *
                      p->B[(int64_t)(p->k - 1) * p->n + e->col];
        double times = rint(1 + difference(e) / term);
        if (!(times >= 3 && times <= 1024)) continue;
        struct formula f = new_formula(
            search, "last-term-repeated", "the product with the last value of k counted ",
            "what belongs in the part of the last tile that is beyond k?");
        APPEND(f.phrase, "%g times", times);
        explain_weigh(&f, p->k - 1, p->k, times, 1);
        explain_consider(search, &f);
    }
}

/* A thread that computes several elements, so many columns and rows apart, and keeps its sum. */
static void consider_not_reset(struct search *search) {
    static const int steps[] = {8, 16, 32, 64, 4, 128, 256, 512, 1024, 24, 48, 96, 192};
    const int n = search->study->problem->n, m = search->study->problem->m;
    for (int r = 0; r < LENGTH(steps); r++) {
        for (int c = 0; c <= LENGTH(steps); c++) {
            bool whole_rows = c == LENGTH(steps); /* a thread has one column */
            struct formula f =
                new_formula(search, "sum-not-reset",
                            "the product plus what the same thread had computed before, ",
                            "what is in the sum when a thread begins its second element of C?");
            f.natural = true;
            f.back_rows = steps[r];
            f.back_cols = whole_rows ? n : steps[c];
            if ((f.back_cols >= n && !whole_rows) || (f.back_rows >= m && whole_rows)) continue;
            if (!whole_rows) APPEND(f.phrase, "%d columns to the left", f.back_cols);
            if (f.back_rows < m)
                APPEND(f.phrase, "%s%d rows up", whole_rows ? "" : " or ", f.back_rows);
            explain_consider(search, &f);
        }
    }
}

/* ---- other indices ---- */

static int size_of(const struct problem *p, char letter) {
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

/* A way to read A or B, to store C, or to end the loop over k: with each of some sizes. */
struct way {
    char what; /* 'a', 'b', 'c', 'k' */
    enum { PLAIN, WHOLE, TILED, FIRST_TILE } kind;
    index_function *index;   /* of A or B */
    source_function *source; /* of C */
    const char *sizes;       /* m, n, k, as stride or end */
    const char *name, *say;  /* name: %s is the size's. say: its name and value, or the tile */
    const char *hint;
};

static const char transposed_hint[] =
    "in row-major order, which of the two indices is multiplied by the length of a row?";
static const char one_tile_hint[] =
    "which index is threadIdx.x: in the matrix, and in its tile, if it has one?";
static const char tile_hint[] =
    "is the tile read in the order in which it was stored? Which index is threadIdx.x?";
static const char first_tile_hint[] = "what changes from one phase to the next?";

enum { KINDS = 4, PARTS = 4, CHOICES = 12 };

/* With its first size, the first way of each part is right. */
static const struct way ways[PARTS][KINDS] = {
    {{'a', PLAIN, explain_a_row, NULL, "knm", "a-stride-%s",
      "with A read as if its rows had %s elements",
      "how many elements lie between A[i][p] and A[i + 1][p]?"},
     {'a', WHOLE, a_transposed, NULL, "mkn", "a-transposed",
      "with A read transposed, element (i, p) at p * %s + i", transposed_hint},
     {'a', TILED, a_tile_transposed, NULL, "k", "a-tile-transposed",
      "with each %s tile of A transposed", tile_hint},
     {'a', FIRST_TILE, a_first_tile, NULL, "k", "a-first-tile",
      "with the same, first %s tiles of A in every phase", first_tile_hint}},
    {{'b', PLAIN, explain_b_row, NULL, "nkm", "b-stride-%s",
      "with B read as if its rows had %s elements",
      "how many elements lie between B[p][j] and B[p + 1][j]?"},
     {'b', WHOLE, b_transposed, NULL, "knm", "b-transposed",
      "with B read transposed, element (p, j) at j * %s + p", transposed_hint},
     {'b', TILED, b_tile_transposed, NULL, "n", "b-tile-transposed",
      "with each %s tile of B transposed", tile_hint},
     {'b', FIRST_TILE, b_first_tile, NULL, "n", "b-first-tile",
      "with the same, first %s tiles of B in every phase", first_tile_hint}},
    {{'c', PLAIN, NULL, stored_plain, "nmk", "c-stride-%s",
      "stored as if the rows of C had %s elements",
      "how many elements lie between C[i][j] and C[i + 1][j]?"},
     {'c', WHOLE, NULL, stored_transposed, "mnk", "c-transposed",
      "stored transposed, element (i, j) at j * %s + i", transposed_hint},
     {'c', TILED, NULL, stored_tile_transposed, "n", "c-tile-transposed",
      "with each %s tile of C stored transposed, in its place", tile_hint}},
    {{'k', PLAIN, NULL, NULL, "knm", "k-loop-%s", "with a loop over k that ends at %s",
      "how many terms does an element of C have?"}},
};

struct choice {
    const struct way *way;
    char letter;
};

/* Each way with each size, but for sizes that have the value of an earlier one. */
static int list_choices(const struct problem *p, const struct way list[KINDS],
                        struct choice out[CHOICES]) {
    int count = 0;
    for (int w = 0; w < KINDS && list[w].what; w++) {
        const char *sizes = list[w].sizes;
        for (int i = 0; sizes[i]; i++) {
            bool known = false;
            for (int e = 0; e < i; e++) known |= size_of(p, sizes[e]) == size_of(p, sizes[i]);
            if (!known) out[count++] = (struct choice){&list[w], sizes[i]};
        }
    }
    return count;
}

/* With a single tile it is unknown how it came to be transposed. */
static bool is_one_tile(const struct problem *p, char matrix) {
    enum { LARGEST = 32 };
    int rows = matrix == 'b' ? p->k : p->m, cols = matrix == 'a' ? p->k : p->n;
    return rows <= LARGEST && cols <= LARGEST;
}

/* One mistake, in the formula's name and phrase. */
static void say_choice(struct formula *f, const struct choice *choice) {
    const struct way *way = choice->way;
    char size[40];
    if (way->kind == TILED || way->kind == FIRST_TILE)
        snprintf(size, sizeof size, "%d x %d", f->tile, f->tile);
    else
        snprintf(size, sizeof size, "%s (%d)", size_name(choice->letter),
                 size_of(f->problem, choice->letter));
    if (f->name[0]) APPEND(f->name, "+");
    APPEND(f->name, way->name, size_name(choice->letter));
    APPEND(f->phrase, "%s", f->phrase[0] ? " and " : "the product ");
    APPEND(f->phrase, way->say, size);
    const bool one_tile = way->kind == WHOLE && is_one_tile(f->problem, way->what);
    if (one_tile) APPEND(f->phrase, " (or its one tile)");
    if (!f->hint) f->hint = one_tile ? one_tile_hint : way->hint;
}

static void apply_choice(struct formula *f, const struct choice *choice) {
    int size = size_of(f->problem, choice->letter);
    switch (choice->way->what) {
    case 'a':
        f->a = choice->way->index;
        f->a_stride = size;
        break;
    case 'b':
        f->b = choice->way->index;
        f->b_stride = size;
        break;
    case 'c':
        f->source = choice->way->source;
        f->c_stride = size;
        break;
    case 'k': f->terms = size; break;
    }
}

static void consider_choices(struct search *search, const struct choice *const chosen[PARTS],
                             const bool wrong[PARTS], int tile) {
    struct formula f = explain_formula_new(search->study, (struct formula){.tile = tile});
    for (int i = 0; i < PARTS; i++) {
        if (!wrong[i]) continue;
        if (chosen[i]->way->kind == FIRST_TILE && tile >= f.problem->k) return; /* one phase */
        apply_choice(&f, chosen[i]);
        say_choice(&f, chosen[i]);
    }
    if (tile) f.terms = (int)round_up((size_t)f.terms, (size_t)tile);
    explain_consider(search, &f);
}

/* All combinations of so many wrong choices, and the usual tiles. */
static void consider_mistakes(struct search *search, struct choice choices[PARTS][CHOICES],
                              const int counts[PARTS], int mistakes) {
    enum { USUAL_TILES = 6 };
    for (int i = 0; i < counts[0] * counts[1] * counts[2] * counts[3]; i++) {
        const struct choice *chosen[PARTS];
        bool wrong[PARTS], tiled = false;
        int made = 0, rest = i;
        for (int part = PARTS - 1; part >= 0; part--) {
            chosen[part] = &choices[part][rest % counts[part]];
            wrong[part] = rest % counts[part] != 0;
            rest /= counts[part];
            made += wrong[part];
            tiled |= chosen[part]->way->kind >= TILED;
        }
        if (made != mistakes || (tiled && wrong[PARTS - 1])) continue;
        for (int t = 0; t < (tiled ? USUAL_TILES : 1); t++)
            consider_choices(search, chosen, wrong, tiled ? explain_tiles[t] : 0);
    }
}

/* All ways to read A and B, to store C and to end the loop: those with one mistake come first, then
 * those with two, and so on. */
static void consider_indices(struct search *search) {
    struct choice choices[PARTS][CHOICES];
    int counts[PARTS];
    for (int part = 0; part < PARTS; part++)
        counts[part] = list_choices(search->study->problem, ways[part], choices[part]);
    for (int mistakes = 1; mistakes <= PARTS; mistakes++)
        consider_mistakes(search, choices, counts, mistakes);
}

static void consider_argument_order(struct search *search) {
    static const char *const orders[] = {"mkn", "nmk", "nkm", "kmn", "knm"};
    const struct problem *p = search->study->problem;
    for (int i = 0; i < LENGTH(orders); i++) {
        const char *order = orders[i];
        int m = size_of(p, order[0]), n = size_of(p, order[1]), k = size_of(p, order[2]);
        if (m == p->m && n == p->n && k == p->k) continue;
        struct formula f =
            new_formula(search, "argument-order", "the product with ",
                        "are the arguments of the launch in the order of the kernel's parameters?");
        f.source = stored_plain;
        f.rows = m;
        f.cols = f.b_stride = f.c_stride = n;
        f.terms = f.a_stride = k;
        APPEND(f.phrase, "%s, %s, %s in place of m, n, k", size_name(order[0]), size_name(order[1]),
               size_name(order[2]));
        explain_consider(search, &f);
    }
}

void explain_hypotheses(struct search *search) {
    consider_simple(search);
    if (search->study->verdict->not_float32) return; /* nothing else is nearly right */
    consider_factor(search);
    explain_slices(search);
    consider_weights(search);
    consider_last_again(search);
    consider_argument_order(search);
    consider_indices(search);
    consider_offset(search);
    consider_not_reset(search);
}
