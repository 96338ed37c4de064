/* Tests of explain(): for each mistake that it knows, a C made with that mistake from random
 * rectangular matrices is explained by it, by nothing else, and with the right numbers; and what is
 * no such mistake is not explained. */

#include "../check.h"
#include "engine/cores.h"
#include "engine/host/driver/driver.h"
#include "engine/report/element_type.h"
#include "engine/report/text/numbers.h"
#include "lab/sgemm.h"

#include <math.h>
#include <stdlib.h>

/* ---- a problem, and a C that a test fills in ---- */

static struct {
    struct problem problem;
    struct verdict verdict;
    int m, n, k, count; /* count: of explanations */
    float *A, *B, *C;
    struct explanation explanations[EXPLANATIONS];
} f;

static void set_problem(enum fill fill, int m, int n, int k) {
    f.m = m;
    f.n = n;
    f.k = k;
    f.A = realloc(f.A, (size_t)m * (size_t)k * sizeof(float));
    f.B = realloc(f.B, (size_t)k * (size_t)n * sizeof(float));
    f.C = realloc(f.C, (size_t)m * (size_t)n * sizeof(float));
    CHECK(f.A && f.B && f.C);
    fill_matrix(fill, 5, MATRIX_A, m, k, f.A);
    fill_matrix(fill, 5, MATRIX_B, k, n, f.B);
    f.problem = (struct problem){.m = m, .n = n, .k = k, .A = f.A, .B = f.B, .C = f.C, .seed = 5};
    f.problem.comparison = fill_comparison(fill, m, n, k);
}

/* What a kernel makes of each element (i, j). */
#define SET_C(value)                                                                               \
    do {                                                                                           \
        for (int i = 0; i < f.m; i++)                                                              \
            for (int j = 0; j < f.n; j++) f.C[i * f.n + j] = (value);                              \
    } while (0)

/* Of the elements in a region; as memory holds it: a signalling NaN would become a quiet one on its
 * way through some registers. */
#define SET_WHERE(region, word)                                                                    \
    do {                                                                                           \
        for (int i = 0; i < f.m; i++)                                                              \
            for (int j = 0; j < f.n; j++)                                                          \
                if (region) memcpy(&f.C[i * f.n + j], &(uint32_t){word}, sizeof *f.C);             \
    } while (0)

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void judge(void) {
    CHECK(verify(&f.problem, &f.verdict));
    f.count = explain(&f.problem, &f.verdict, f.explanations);
    CHECK(f.count >= 0 && f.count <= EXPLANATIONS);
    for (int i = 0; i < f.count; i++) {
        const struct explanation *e = &f.explanations[i];
        size_t length = strlen(e->text);
        CHECK_THAT(length > 0 && e->text[length - 1] == '.', "'%s' is no sentence", e->text);
        CHECK_THAT(strlen(e->hint) > 0 && strlen(e->formula) > 0, "'%s' has no hint", e->text);
        CHECK_THAT(!strchr(e->text, '\n'), "'%s'", e->text);
        CHECK_THAT(e->explained <= e->of && e->explained > 0, "'%s'", e->text);
    }
}

/* There is an explanation of this name, among others if any; its text says this. */
static const struct explanation *expect(const char *formula, const char *say) {
    for (int i = 0; i < f.count; i++) {
        const struct explanation *e = &f.explanations[i];
        if (strcmp(e->formula, formula) != 0) continue;
        CHECK_THAT(strstr(e->text, say), "%s says '%s', not '%s'", formula, e->text, say);
        return e;
    }
    CHECK_THAT(f.count == 0, "not %s, but %s: %s", formula, f.explanations[0].formula,
               f.explanations[0].text);
    CHECK_THAT(false, "not %s, but nothing", formula);
    return NULL;
}

/* It is the only one, and it explains so many elements, all that are wrong in its way. */
static const struct explanation *expect_one(const char *formula, const char *say, uint64_t of) {
    const struct explanation *e = expect(formula, say);
    CHECK_INT(f.count, 1);
    CHECK_INT(e->of, of);
    CHECK_INT(e->explained, of);
    return e;
}

static void expect_all(const char *formula, const char *say) {
    char all[64];
    const struct explanation *e = expect_one(formula, say, f.verdict.wrong);
    snprintf(all, sizeof all, "this explains all %llu wrong elements.",
             (unsigned long long)f.verdict.wrong);
    CHECK_THAT(strstr(e->text, all), "'%s' does not say '%s'", e->text, all);
}

static void expect_nothing(void) {
    CHECK_THAT(f.count == 0, "%s: %s", f.explanations[0].formula, f.explanations[0].text);
}

/* A C made in one way, on random matrices. */
#define CHECK_ALL(m, n, k, value, formula, say)                                                    \
    do {                                                                                           \
        set_problem(FILL_RANDOM, m, n, k);                                                         \
        SET_C(value);                                                                              \
        judge();                                                                                   \
        expect_all(formula, say);                                                                  \
    } while (0)

/* ---- right, and helpers for what is not ---- */

static float a(int i, int p) { return f.A[i * f.k + p]; }
static float b(int p, int j) { return f.B[p * f.n + j]; }

static float part(int i, int j, int first, int last) {
    float sum = 0;
    for (int p = first; p < last; p++) sum += a(i, p) * b(p, j);
    return sum;
}

static float right(int i, int j) { return part(i, j, 0, f.k); }

/* ---- the product, and something done to it ---- */

TEST(what_is_no_product_is_seen) {
    CHECK_ALL(34, 34, 34, 0, "zero", "C is 0: ");
    CHECK_ALL(34, 40, 20, i < 33 ? right(i, j) : 0, "zero",
              "Where C is wrong, it is 0: this explains all 40 wrong elements");
}

TEST(what_is_made_of_the_product_is_seen) {
    CHECK_ALL(34, 40, 20, 2 * right(i, j), "factor", "C is 2 times the product");
    CHECK_ALL(34, 40, 20, -right(i, j), "factor", "C is -1 times the product");
}

/* The verdict says so in its own words. */
TEST(a_result_that_is_not_float32_has_no_formula) {
    double ref[400], G[400];
    set_problem(FILL_RANDOM, 20, 20, 4096);
    CHECK(reference(f.A, f.B, f.n, f.k, NULL, f.m, NULL, f.n, ref, G));
    for (int at = 0; at < 400; at++)
        f.C[at] = (float)(ref[at] + (at % 3 ? 50 : -50) * UNIT_ROUNDOFF * G[at]);
    judge();
    CHECK(f.verdict.not_float32 && f.verdict.wrong == 0);
    expect_nothing();
}

/* ---- other terms ---- */

static float twice(int i, int j, int first, int last) {
    return right(i, j) + part(i, j, first, last);
}

TEST(k_cut_to_whole_tiles_is_seen) {
    CHECK_ALL(34, 34, 34, part(i, j, 0, 32), "k-cut",
              "C is the product over the first 32 of 34 values of k");
    CHECK(strstr(f.explanations[0].hint, "not a multiple of the tile?"));
    CHECK_ALL(40, 30, 101, part(i, j, 0, 100), "k-cut", "the first 100 of 101 values");
    CHECK_ALL(40, 21, 55, part(i, j, 0, 21), "k-cut", "the first 21 of 55 values of k (n is 21)");
    CHECK_ALL(34, 34, 34, part(i, j, 0, 16), "k-cut", "the first 16 of 34 values of k");
    CHECK(!strstr(f.explanations[0].hint, "tile")); /* whole tiles are missing */
    CHECK_ALL(10, 9, 3000, part(i, j, 0, 2053), "k-cut", "the first 2053 of 3000 values");
}

TEST(other_parts_of_k_are_seen) {
    CHECK_ALL(34, 20, 40, part(i, j, 16, 40), "k-late", "the last 24 of 40 values of k");
    CHECK_ALL(34, 34, 34, part(i, j, 1, 34), "k-late", "the last 33 of 34 values of k");
    CHECK_ALL(34, 20, 50, twice(i, j, 0, 16), "k-twice", "values 0 to 15 of k counted twice");
    CHECK_ALL(9, 9, 3001, twice(i, j, 2985, 2992), "k-twice", "values 2985 to 2991 of k");
}

static float one_short(int i, int j, int tile) {
    float sum = 0;
    for (int p = 0; p < f.k; p++) sum += p % tile == tile - 1 ? 0 : a(i, p) * b(p, j);
    return sum;
}

TEST(loops_over_a_tile_that_miss_a_term_are_seen) {
    CHECK_ALL(34, 34, 34, one_short(i, j, 16), "tile-one-short", "the last value of k of each 16");
}

/* Added one by one, with a rounding each, up to a whole tile of 16. */
static float last_again(int i, int j) {
    float sum = right(i, j);
    for (int p = f.k; p % 16 != 0; p++) sum += a(i, f.k - 1) * b(f.k - 1, j);
    return sum;
}

/* What the same thread, of a block of 32 x 16, has left in the tile of C before. */
static float left_behind(int i, int j) {
    if (j >= 32) return f.C[i * f.n + j - 32];
    return i >= 16 ? f.C[(i - 16) * f.n + (f.n - 1 - j) / 32 * 32 + j] : 0;
}

TEST(terms_that_are_added_again_are_seen) {
    CHECK_ALL(7, 9, 5, last_again(i, j), "last-term-repeated", "counted 12 times");
    CHECK_ALL(34, 34, 20, last_again(i, j), "last-term-repeated",
              "last value of k counted 13 times");
    CHECK_ALL(70, 90, 16, left_behind(i, j) + right(i, j), "sum-not-reset",
              "32 columns to the left or 16 rows up");
    CHECK(f.verdict.wrong > 5000);
}

/* ---- other indices ---- */

/* C[i][j] with A at i * a_i + p * a_p and B at p * b_p + j * b_j; NaN, as from a guard, outside. */
struct strides {
    int a_i, a_p, b_p, b_j, terms;
};

static float strided(int i, int j, struct strides s) {
    float sum = 0;
    for (int p = 0; p < s.terms; p++) {
        int at_a = i * s.a_i + p * s.a_p, at_b = p * s.b_p + j * s.b_j;
        if (at_a >= f.m * f.k || at_b >= f.k * f.n) return from_bits(GUARD_BITS | 1u << 22);
        sum += f.A[at_a] * f.B[at_b];
    }
    return sum;
}

/* Elements whose operands are all inside must be explained; the others are NaN. */
static void check_strides(int m, int n, int k, struct strides mistaken, const char *formula,
                          const char *say) {
    set_problem(FILL_RANDOM, m, n, k);
    SET_C(strided(i, j, mistaken));
    judge();
    const struct explanation *e = expect_one(formula, say, f.verdict.wrong - f.verdict.nan);
    CHECK(!f.verdict.nan == !strstr(e->text, "more are NaN, as expected"));
}

TEST(wrong_indices_are_seen) {
    check_strides(34, 40, 20, (struct strides){40, 1, 40, 1, 20}, "a-stride-n",
                  "A read as if its rows had n (40) elements");
    check_strides(34, 40, 20, (struct strides){34, 1, 40, 1, 20}, "a-stride-m",
                  "A read as if its rows had m (34) elements");
    check_strides(34, 40, 20, (struct strides){20, 1, 20, 1, 20}, "b-stride-k",
                  "B read as if its rows had k (20) elements");
    check_strides(34, 40, 20, (struct strides){20, 1, 34, 1, 20}, "b-stride-m",
                  "B read as if its rows had m (34) elements");
    check_strides(41, 40, 20, (struct strides){20, 1, 41, 1, 20}, "b-stride-m", "more are NaN");
    check_strides(34, 40, 20, (struct strides){1, 34, 40, 1, 20}, "a-transposed",
                  "with A read transposed, element (i, p) at p * m (34) + i");
    check_strides(34, 40, 20, (struct strides){1, 20, 40, 1, 20}, "a-transposed",
                  "at p * k (20) + i");
    check_strides(34, 40, 20, (struct strides){20, 1, 1, 20, 20}, "b-transposed",
                  "with B read transposed, element (p, j) at j * k (20) + p");
}

/* C stored at i * c_i + j * c_j; what is outside lands behind C. */
static void store(int c_i, int c_j) {
    SET_WHERE(true, POISON_BITS);
    for (int i = 0; i < f.m; i++) {
        for (int j = 0; j < f.n; j++) {
            if (i * c_i + j * c_j < f.m * f.n) f.C[i * c_i + j * c_j] = right(i, j);
        }
    }
}

/* The unwritten elements are part of the explanation. */
static void check_store(int m, int n, int k, int c_i, int c_j, const char *formula,
                        const char *say) {
    set_problem(FILL_RANDOM, m, n, k);
    store(c_i, c_j);
    judge();
    const struct explanation *e = expect_one(formula, say, f.verdict.wrong);
    CHECK(!f.verdict.unwritten == !strstr(e->text, "It also leaves out the"));
}

TEST(a_c_that_is_stored_elsewhere_is_seen) {
    check_store(34, 40, 20, 34, 1, "c-stride-m", "stored as if the rows of C had m (34) elements");
    check_store(40, 34, 20, 40, 1, "c-stride-m", "stored as if the rows of C had m (40) elements");
    check_store(34, 40, 37, 37, 1, "c-stride-k", "stored as if the rows of C had k (37) elements");
    check_store(34, 40, 20, 1, 34, "c-transposed",
                "stored transposed, element (i, j) at j * m (34)");
    check_store(40, 34, 20, 1, 34, "c-transposed", "at j * n (34)");
}

/* The tile of A or B is loaded with x and y exchanged, or the first one in every phase; zeros
 * beyond the edges. */
struct tiles {
    int size;
    bool a_transposed, b_transposed, a_first, b_first;
};

static float guarded(const float *x, int rows, int cols, int row, int col) {
    return row < rows && col < cols ? x[row * cols + col] : 0;
}

static float tiled(int i, int j, struct tiles tiles) {
    const int t = tiles.size, i0 = i - i % t, j0 = j - j % t;
    float sum = 0;
    for (int p0 = 0; p0 < f.k; p0 += t) {
        const int a_from = tiles.a_first ? 0 : p0, b_from = tiles.b_first ? 0 : p0;
        for (int q = 0; q < t; q++) {
            float x = tiles.a_transposed ? guarded(f.A, f.m, f.k, i0 + q, p0 + i % t)
                                         : guarded(f.A, f.m, f.k, i, a_from + q);
            float y = tiles.b_transposed ? guarded(f.B, f.k, f.n, p0 + j % t, j0 + q)
                                         : guarded(f.B, f.k, f.n, b_from + q, j);
            sum += x * y;
        }
    }
    return sum;
}

static const struct tiles of_a = {16, .a_transposed = true}, b_of_8 = {8, .b_transposed = true},
                          first_of_a = {16, .a_first = true}, first_of_b = {32, .b_first = true};

TEST(wrong_tiles_are_seen) {
    CHECK_ALL(34, 40, 20, tiled(i, j, of_a), "a-tile-transposed",
              "with each 16 x 16 tile of A transposed");
    CHECK_ALL(34, 34, 34, tiled(i, j, b_of_8), "b-tile-transposed", "each 8 x 8 tile of B");
    CHECK_ALL(34, 40, 50, tiled(i, j, first_of_a), "a-first-tile",
              "the same, first 16 x 16 tiles of A");
    CHECK_ALL(34, 40, 70, tiled(i, j, first_of_b), "b-first-tile",
              "the same, first 32 x 32 tiles of B");
    /* a single tile may be transposed in either way, and the text says so */
    CHECK_ALL(16, 16, 16, tiled(i, j, of_a), "a-transposed", "(or its one tile)");
    CHECK(strstr(f.explanations[0].hint, "in its tile, if it has one"));
}

TEST(tiles_of_c_that_are_stored_transposed_are_seen) {
    const int shapes[][3] = {{32, 48, 20}, {34, 34, 34}, {40, 50, 20}}, t = 16;
    for (int s = 0; s < LENGTH(shapes); s++) {
        set_problem(FILL_RANDOM, shapes[s][0], shapes[s][1], shapes[s][2]);
        SET_WHERE(true, POISON_BITS);
        for (int i = 0; i < f.m; i++) {
            for (int j = 0; j < f.n; j++) {
                int to = (i - i % t + j % t) * f.n + j - j % t + i % t;
                if (to < f.m * f.n) f.C[to] = right(i, j);
            }
        }
        judge();
        CHECK_INT(
            expect("c-tile-transposed", "each 16 x 16 tile of C stored transposed")->explained,
            f.verdict.wrong);
    }
}

/* ---- where a NaN came from ---- */

enum { QUIET = 1 << 22, SHARED_NAN = 0x7FA2A2A2 | QUIET };

TEST(a_nan_shows_where_it_came_from) {
    static const struct {
        uint32_t bits;
        const char *formula, *say;
    } rows[] = {
        {POISON_BITS, "adds-to-c", "All 80 NaN come from what C was filled with"},
        {GUARD_BITS, "reads-outside", "All 80 NaN come from the guards around A, B and C"},
        {0x7FA2A2A2, "shared-unwritten", "All 80 NaN come from uninitialized shared memory"},
        {0x7F939393, "shuffle-absent", "All 80 NaN come from a shuffle that reads from a lane"},
    };
    set_problem(FILL_RANDOM, 34, 40, 20);
    SET_C(right(i, j));
    for (int row = 0; row < LENGTH(rows); row++) {
        SET_WHERE(i == 33, rows[row].bits | QUIET);
        SET_WHERE(i == 32, rows[row].bits | QUIET | 1u << 31); /* -x */
        judge();
        const struct explanation *e = expect_one(rows[row].formula, rows[row].say, 80);
        CHECK(e->about_nan);
    }
}

/* ---- regions ---- */

/* The first values of k alone, and a second mistake. The one that covers more comes first. */
static void check_two(const char *cut_of_k, const char *formula, const char *say, int explained) {
    judge();
    CHECK_INT(f.count, 2);
    CHECK_INT(expect(formula, say)->explained, explained);
    CHECK_INT(expect("k-cut", cut_of_k)->explained, 34 * 34 - explained);
    CHECK(f.explanations[0].explained >= f.explanations[1].explained);
}

TEST(two_mistakes_are_both_explained) {
    set_problem(FILL_RANDOM, 34, 34, 34);
    SET_C(part(i, j, 0, 32));
    SET_WHERE(j == 33, SHARED_NAN);
    check_two("the first 32 of 34", "shared-unwritten", "All 34 NaN come from", 34);
    set_problem(FILL_RANDOM, 34, 34, 20);
    SET_C(part(i, j, 0, 16));
    SET_WHERE(i >= 32 || j >= 32, POISON_BITS);
    check_two("the first 16 of 20", "unwritten-region", "rows 32 to 33", 132);
}

static void leave_out_beyond(int rows, int cols) {
    SET_C(right(i, j));
    SET_WHERE(i >= rows || j >= cols, POISON_BITS);
    judge();
    CHECK_INT(f.count, 1);
}

static void check_extent(int m, int n, int k, int rows, int cols, const char *say) {
    set_problem(FILL_RANDOM, m, n, k);
    leave_out_beyond(rows, cols);
    expect_one("unwritten-region", say, f.verdict.unwritten);
    CHECK_INT(f.explanations[0].row_end, rows);
    CHECK_INT(f.explanations[0].col_end, cols);
}

TEST(unwritten_edges_are_described) {
    check_extent(34, 34, 34, 32, 32, "Never written: rows 32 to 33 and columns 32 to 33.");
    check_extent(35, 64, 50, 32, 64, "Never written: rows 32 to 34.");
    check_extent(120, 250, 201, 120, 128, "Never written: columns 128 to 249.");
    set_problem(FILL_RANDOM, 34, 40, 20);
    leave_out_beyond(0, 0);
    expect_one("none-written", "No element of C was written.", f.verdict.unwritten);
}

static void check_launch(int rows, int cols, unsigned x, unsigned y, const char *added) {
    const struct finding_launch launch = {.kernel = "f", .grid = {x, y, 1}, .block = {16, 8, 1}};
    set_problem(FILL_RANDOM, 35, 70, 20);
    leave_out_beyond(rows, cols);
    struct explanation *e = &f.explanations[0];
    size_t length = strlen(e->text);
    launch_explain(&launch, &(struct shape){{f.m, f.n, 1}}, e);
    CHECK_STRING(e->text + length, added);
}

TEST(a_launch_whose_threads_end_where_c_does_explains_it) {
    check_launch(32, 70, 5, 4, " The grid has 4 x 8 = 32 threads in y; C has 35 rows.");
    check_launch(35, 64, 4, 5, " The grid has 4 x 16 = 64 threads in x; C has 70 columns.");
    check_launch(32, 70, 2, 9, " The grid has 2 x 16 = 32 threads in x; C has 35 rows.");
    check_launch(32, 70, 5, 5, ""); /* a guard may leave them out, or threads have several rows */
    check_launch(35, 32, 5, 5, "");
    struct explanation wrong = {.text = "Every element of rows 32 to 34 is wrong."};
    launch_explain(&(struct finding_launch){.kernel = "f", .grid = {5, 4, 1}, .block = {16, 8, 1}},
                   &(struct shape){{35, 70, 1}}, &wrong);
    CHECK_STRING(wrong.text, "Every element of rows 32 to 34 is wrong.");
}

static float hash_value(int i, int j) {
    return (float)((unsigned)(i * 7919 + j * 104729 + i * j * 31) % 1009u) / 100.0f - 5;
}

static void expect_region(const char *formula, const char *say, uint64_t of) {
    CHECK_INT(f.count, *formula != '\0');
    if (*formula) CHECK_INT(expect(formula, say)->explained, of);
}

/* Of a C of 34 x 40, this region is unwritten. "": it is not described. */
#define CHECK_UNWRITTEN(region, formula, say)                                                      \
    do {                                                                                           \
        SET_C(right(i, j));                                                                        \
        SET_WHERE(region, POISON_BITS);                                                            \
        judge();                                                                                   \
        expect_region(formula, say, f.verdict.unwritten);                                          \
    } while (0)

TEST(regions_are_described) {
    set_problem(FILL_RANDOM, 34, 40, 20);
    CHECK_UNWRITTEN(i / 16 == j / 16, "blocks", "3 of the 9 blocks of 16 x 16.");
    CHECK_UNWRITTEN(j == 39, "unwritten-region", "Never written: column 39.");
    CHECK_UNWRITTEN((i * 7 + j * 3) % 11 == 4, "", "");
}

TEST(a_region_whose_values_are_known_is_explained_by_them) {
    CHECK_ALL(34, 40, 20, part(i, j, 0, i < 32 ? f.k : 16), "k-cut",
              "Where C is wrong, it is the product over the first 16 of 20 values");
}

/* ---- what is not explained ---- */

TEST(right_results_are_not_explained) {
    set_problem(FILL_RANDOM, 34, 40, 20);
    SET_C(right(i, j));
    judge();
    CHECK(f.verdict.passed);
    expect_nothing();
}

/* Beside |A||B|, which grows with k, numbers of the size of A B look like rounding errors. */
TEST(garbage_is_not_explained) {
    const int shapes[][3] = {{34, 40, 20}, {2, 3, 4},   {16, 16, 16}, {5, 1, 1},
                             {1, 60, 1},   {40, 1, 20}, {1, 1, 50},   {9, 9, 8000}};
    for (int s = 0; s < LENGTH(shapes); s++) {
        set_problem(FILL_RANDOM, shapes[s][0], shapes[s][1], shapes[s][2]);
        SET_C(hash_value(i, j));
        judge();
        CHECK(!f.verdict.passed);
        expect_nothing();
    }
    for (int at = 0; at < 81; at++) f.C[at] = rintf(f.C[at]) + 0.5f; /* few significant bits, too */
    judge();
    expect_nothing();
}

/* In a sum with such a number no product is left: what the kernel adds to it, if anything, C does
 * not show. A GPU has but one NaN, wherever it came from. */
TEST(a_number_that_swallows_the_products_is_not_explained) {
    static const float numbers[] = {-1.69473953e38f, 1e30f, 1e12f, INFINITY};
    set_problem(FILL_RANDOM, 34, 40, 20);
    for (int n = 0; n < LENGTH(numbers); n++) {
        SET_C(numbers[n]);
        judge();
        expect_nothing();
    }
    SET_WHERE(true, 0x7FFFFFFF);
    judge();
    expect_nothing();
}

TEST(a_few_wrong_elements_are_not_explained) {
    set_problem(FILL_RANDOM, 34, 40, 20);
    for (int count = 1; count <= 7; count++) {
        SET_C(right(i, j));
        for (int i = 0; i < count; i++) f.C[417 + 5 * i] += 0.5f + (float)i;
        judge();
        CHECK_INT(f.verdict.wrong, count);
        expect_nothing();
    }
    SET_C(right(i, j));
    f.C[417] += 1e-4f; /* which is no rounding error, though it is as small as one */
    judge();
    CHECK_INT(f.verdict.wrong, 1);
    expect_nothing();
}

/* A formula that holds for some elements, among others for which it does not. */
static void check_mixture(int percent, uint32_t other, const char *formula) {
    set_problem(FILL_RANDOM, 34, 40, 20);
    for (int i = 0; i < 34; i++) {
        for (int j = 0; j < 40; j++) {
            bool fits = (i * 7919 + j * 104729) % 100 < percent;
            float value = other ? from_bits(other) : hash_value(i, j);
            f.C[i * 40 + j] = fits ? part(i, j, 0, 16) : value;
        }
    }
    judge();
    if (formula)
        expect(formula, "the first 16 of 20 values of k: this explains ");
    else
        expect_nothing();
}

TEST(a_formula_must_explain_all_but_nan) {
    const uint32_t nan = 0x7FFFFFFF; /* which says nothing */
    check_mixture(100, 0, "k-cut");
    check_mixture(99, 0, NULL);
    check_mixture(30, nan, "k-cut");
    check_mixture(5, nan, NULL);
}

/* Where k is 1, a transposed tile of A has one row that is not 0: zeros are zeros, and no more. And
 * a multiple of the product is its last term, counted often. */
TEST(a_formula_is_not_named_where_another_gives_the_same) {
    CHECK_ALL(33, 33, 1, i % 4 == 1 ? 0 : right(i, j), "zero", "Where C is wrong, it is 0");
    CHECK(f.explanations[0].products == 0);
    SET_C(16 * right(i, j));
    judge();
    expect_nothing();
    CHECK_ALL(33, 33, 2, 16 * right(i, j), "factor", "C is 16 times the product");
}

TEST(a_gap_of_one_is_a_tile_only_where_all_tiles_lack_it) {
    set_problem(FILL_RANDOM, 34, 40, 40);
    SET_C(part(i, j, 0, 15) + part(i, j, 16, 40));
    judge();
    expect_nothing();
}

/* Zeros where a neighbor's thread stored them. With the identity, other formulas, too, give zeros
 * in places. */
TEST(a_part_of_c_is_not_explained_by_accident) {
    set_problem(FILL_IDENTITY, 50, 23, 37);
    SET_C(i >= 1 && j < 9 ? 0 : right(i, j));
    judge();
    expect_all("zero", "Where C is wrong, it is 0");
    CHECK(strstr(f.explanations[0].hint, "which threads store these elements"));
}

/* Every cut of k, many strides and factors come to the same: none may be named. */
TEST(constant_matrices_are_not_explained) {
    const float values[] = {64, 66, 34, 100, 67};
    set_problem(FILL_ONES_TWOS, 34, 34, 34);
    for (int v = 0; v < LENGTH(values); v++) {
        SET_C(values[v]);
        judge();
        expect_nothing();
    }
    SET_C(0);
    judge();
    expect_all("zero", "C is 0");
}

/* A = 1 at i = p: in a 34 x 34 product, B transposed and C transposed are the same. */
TEST(what_the_identity_cannot_tell_apart_is_not_explained) {
    set_problem(FILL_IDENTITY, 34, 34, 34);
    store(1, 34);
    judge();
    expect_nothing();
}

/* A and B are 1, 2, 3, ...: what differs on random matrices may be the same there. Element (i, j)
 * of this C is 7 more than it should be; a term more, or a larger one, would explain it somewhere.
 */
TEST(numbers_that_count_are_explained_with_care) {
    const int shapes[][3] = {{4, 4, 4}, {2, 2, 2}, {6, 5, 4}};
    for (int s = 0; s < LENGTH(shapes); s++) {
        set_problem(FILL_COUNTING, shapes[s][0], shapes[s][1], shapes[s][2]);
        SET_C(right(i, j));
        for (int at = 1; at < f.m * f.n; at++) f.C[at] += (float)(at % 5 * 7);
        judge();
        expect_nothing();
        SET_C(part(i, j, 0, f.k / 2));
        judge();
        if (s != 1) expect_all("k-cut", "C is the product over the first 2 of 4 values of k");
    }
}

TEST(other_fills_are_explained_where_it_is_certain) {
    for (int extremes = 0; extremes <= 1; extremes++) {
        set_problem(extremes ? FILL_EXTREMES : FILL_EXACT, 34, 40, 20);
        SET_C(part(i, j, 0, 16));
        judge();
        expect_all("k-cut", "the first 16 of 20");
    }
    set_problem(FILL_EXACT, 34, 40, 20);
    SET_C(strided(i, j, (struct strides){1, 34, 40, 1, 20}));
    judge();
    expect_all("a-transposed", "at p * m (34) + i");
}

/* ---- how much of the product it is ---- */

static void expect_products(double products) {
    judge();
    CHECK_INT(f.count, 1);
    CHECK_THAT(fabs(f.explanations[0].products - products) < 1e-9, "%s: %g, not %g",
               f.explanations[0].formula, f.explanations[0].products, products);
}

TEST(the_part_of_the_products_that_are_in_c_is_known) {
    set_problem(FILL_RANDOM, 34, 40, 50);
    SET_C(part(i, j, 0, 16));
    expect_products(16.0 / 50);
    SET_C(twice(i, j, 0, 16));
    expect_products(1);
    SET_C(2 * right(i, j));
    expect_products(1);
    SET_C(tiled(i, j, of_a));
    expect_products(1);
    SET_C(tiled(i, j, first_of_a)); /* the same 16 columns of A again and again */
    expect_products(16.0 / 50);
    SET_C(right(i, j));
    SET_WHERE(i >= 32, POISON_BITS);
    expect_products(32.0 / 34);
}

static void expect_no_products(void) {
    judge();
    CHECK(f.count > 0 && f.explanations[0].products == 0);
    CHECK(f.count == 1 || f.explanations[1].products == 0);
}

TEST(what_is_no_product_or_several_mistakes_has_no_part_of_them) {
    set_problem(FILL_RANDOM, 34, 40, 50);
    SET_C(0);
    expect_no_products();
    SET_C(part(i, j, 0, 48));
    SET_WHERE(i == 0 && j == 0, GUARD_BITS | QUIET);
    expect_no_products();
    SET_C(part(i, j, 0, 48));
    SET_WHERE(i == 33 && j == 39, POISON_BITS);
    expect_no_products();
    SET_WHERE(true, POISON_BITS);
    expect_no_products();
    SET_C(i + j == 0 ? 7 : part(i, j, 0, 48)); /* which the formula does not give */
    judge();
    expect_nothing();
}

/* ---- large ---- */

TEST(large_products_are_sampled) {
    set_problem(FILL_RANDOM, 1500, 1600, 20);
    SET_C(part(i, j, 0, 16));
    judge();
    const struct explanation *e = expect("k-cut", "the first 16 of 20 values");
    CHECK_THAT(strstr(e->text, "wrong elements that were looked at."), "'%s'", e->text);
    CHECK(f.count == 1 && e->explained == e->of && e->of > 1000);
}
