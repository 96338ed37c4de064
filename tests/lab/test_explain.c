/* Tests of explain(): for each mistake that it knows, a C made with that mistake from random
 * rectangular matrices is explained by it, by nothing else, and with the right numbers; and what is
 * no such mistake is not explained. */

#include "../check.h"
#include "engine/cores.h"
#include "engine/host/driver/report.h"
#include "engine/report/poison.h"
#include "engine/report/text/clock.h"
#include "engine/report/text/numbers.h"
#include "lab/sgemm.h"

#include <math.h>
#include <stdlib.h>

/* ---- a problem, and a C that a test fills in ---- */

struct fixture {
    struct problem problem;
    struct verdict verdict;
    int m, n, k, count; /* count: of explanations */
    float *A, *B, *C;
    struct explanation explanations[EXPLANATIONS];
};

static struct fixture fixture_new(enum fill fill, int m, int n, int k) {
    struct fixture f = {.m = m, .n = n, .k = k};
    f.A = malloc((size_t)m * (size_t)k * sizeof(float));
    f.B = malloc((size_t)k * (size_t)n * sizeof(float));
    f.C = malloc((size_t)m * (size_t)n * sizeof(float));
    CHECK(f.A && f.B && f.C);
    fill_matrix(fill, 5, MATRIX_A, m, k, f.A);
    fill_matrix(fill, 5, MATRIX_B, k, n, f.B);
    f.problem = (struct problem){.m = m, .n = n, .k = k, .A = f.A, .B = f.B, .C = f.C, .seed = 5};
    f.problem.comparison = fill_comparison(fill, m, n, k);
    return f;
}

static void fixture_free(struct fixture *f) {
    free(f->A);
    free(f->B);
    free(f->C);
}

/* What a kernel makes of element (i, j). */
typedef float element_function(const struct fixture *f, int i, int j);

static void set_all(struct fixture *f, element_function *value) {
    for (int i = 0; i < f->m; i++) {
        for (int j = 0; j < f->n; j++) f->C[i * f->n + j] = value(f, i, j);
    }
}

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* As memory holds it: a signalling NaN would become a quiet one on its way through some
 * registers. */
static void set_bits(float *to, uint32_t bits) { memcpy(to, &bits, sizeof bits); }

static void judge_mode(struct fixture *f, enum verify_mode mode) {
    CHECK(verify(&f->problem, mode, NULL, &f->verdict));
    f->count = explain(&f->problem, &f->verdict, f->explanations);
    CHECK(f->count >= 0 && f->count <= EXPLANATIONS);
    for (int i = 0; i < f->count; i++) {
        const struct explanation *e = &f->explanations[i];
        size_t length = strlen(e->text);
        CHECK_THAT(length > 0 && e->text[length - 1] == '.', "'%s' is no sentence", e->text);
        CHECK_THAT(strlen(e->hint) > 0 && strlen(e->formula) > 0, "'%s' has no hint", e->text);
        CHECK_THAT(!strchr(e->text, '\n'), "'%s'", e->text);
        CHECK_THAT(e->explained <= e->of && e->explained > 0, "'%s'", e->text);
    }
}

static void judge(struct fixture *f) { judge_mode(f, VERIFY_FULL); }

/* There is an explanation of this name, among others if any; its text says this. */
static const struct explanation *expect(const struct fixture *f, const char *formula,
                                        const char *say) {
    for (int i = 0; i < f->count; i++) {
        const struct explanation *e = &f->explanations[i];
        if (strcmp(e->formula, formula) != 0) continue;
        CHECK_THAT(strstr(e->text, say), "%s says '%s', not '%s'", formula, e->text, say);
        return e;
    }
    CHECK_THAT(f->count == 0, "not %s, but %s: %s", formula, f->explanations[0].formula,
               f->explanations[0].text);
    CHECK_THAT(false, "not %s, but nothing", formula);
    return NULL;
}

/* It is the only one, and it explains all wrong elements. */
static void expect_all(const struct fixture *f, const char *formula, const char *say) {
    char all[64];
    const struct explanation *e = expect(f, formula, say);
    CHECK_INT(f->count, 1);
    CHECK_INT(e->of, f->verdict.wrong);
    CHECK_INT(e->explained, f->verdict.wrong);
    snprintf(all, sizeof all, "this explains all %llu wrong elements.",
             (unsigned long long)f->verdict.wrong);
    CHECK_THAT(strstr(e->text, all), "'%s' does not say '%s'", e->text, all);
}

static void expect_nothing(const struct fixture *f) {
    CHECK_THAT(f->count == 0, "%s: %s", f->explanations[0].formula, f->explanations[0].text);
}

/* A C made by one function, on random matrices. */
static void check_all(element_function *value, int m, int n, int k, const char *formula,
                      const char *say) {
    struct fixture f = fixture_new(FILL_RANDOM, m, n, k);
    set_all(&f, value);
    judge(&f);
    expect_all(&f, formula, say);
    fixture_free(&f);
}

/* ---- right, and helpers for what is not ---- */

static float a(const struct fixture *f, int i, int p) { return f->A[i * f->k + p]; }
static float b(const struct fixture *f, int p, int j) { return f->B[p * f->n + j]; }

static float part(const struct fixture *f, int i, int j, int first, int last) {
    float sum = 0;
    for (int p = first; p < last; p++) sum += a(f, i, p) * b(f, p, j);
    return sum;
}

static float right(const struct fixture *f, int i, int j) { return part(f, i, j, 0, f->k); }

/* ---- the product, and something done to it ---- */

static float zero(const struct fixture *f, int i, int j) { return 0 * a(f, i, 0) * b(f, 0, j); }
static float copy_a(const struct fixture *f, int i, int j) {
    return f->A[(i * f->n + j) % (f->m * f->k)];
}
static float copy_b(const struct fixture *f, int i, int j) { return b(f, i, j); }
static float elementwise(const struct fixture *f, int i, int j) { return a(f, i, j) * b(f, i, j); }

/* In a sum with such a number no product is left: what the kernel adds to it, if anything, C does
 * not show. */
TEST(a_number_that_swallows_the_products_is_not_explained) {
    static const float numbers[] = {-1.69473953e38f, 1e30f, 1e12f};
    for (int i = 0; i < LENGTH(numbers); i++) {
        struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
        for (int at = 0; at < 34 * 40; at++) f.C[at] = numbers[i];
        judge(&f);
        expect_nothing(&f);
        fixture_free(&f);
    }
}

TEST(zero_is_seen) {
    check_all(zero, 34, 34, 34, "zero", "C is 0: ");
    check_all(zero, 3, 2, 5, "zero", "C is 0: ");
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, right);
    for (int j = 0; j < 40; j++) f.C[33 * 40 + j] = 0;
    judge(&f);
    expect_all(&f, "zero", "Where C is wrong, it is 0: this explains all 40 wrong elements");
    fixture_free(&f);
}

TEST(copies_are_seen) {
    check_all(copy_a, 40, 20, 34, "copy-of-a", "C is A itself");
    check_all(copy_b, 20, 34, 40, "copy-of-b", "C is B itself");
    check_all(elementwise, 34, 34, 34, "elementwise", "A[i][j] * B[i][j]");
}

static float factor_of_test;
static float times(const struct fixture *f, int i, int j) {
    return factor_of_test * right(f, i, j);
}

static void check_factor(float factor, const char *say) {
    factor_of_test = factor;
    check_all(times, 34, 40, 20, "factor", say);
}

TEST(factors_are_seen) {
    check_factor(2, "C is 2 times the product");
    check_factor(-1, "C is the negative of the product");
    check_factor(0.5f, "C is 0.5 times the product");
    check_factor(1.25f, "C is 1.25 times the product");
    check_factor(1.0f / 20, "C is the product divided by k (20)");
    check_factor(40, "n (40) times the product");
}

static float plus(const struct fixture *f, int i, int j) { return right(f, i, j) + 1; }
static float minus(const struct fixture *f, int i, int j) { return right(f, i, j) - 0.375f; }

TEST(offsets_are_seen) {
    check_all(plus, 34, 40, 20, "offset", "the product plus 1");
    check_all(minus, 50, 33, 70, "offset", "the product plus -0.375");
}

static float truncated(const struct fixture *f, int i, int j) { return truncf(right(f, i, j)); }
static float rounded(const struct fixture *f, int i, int j) { return rintf(right(f, i, j)); }
static float floored(const struct fixture *f, int i, int j) { return floorf(right(f, i, j)); }
static float absolute(const struct fixture *f, int i, int j) { return fabsf(right(f, i, j)); }

static float magnitudes(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++) sum += fabsf(a(f, i, p) * b(f, p, j));
    return sum;
}

TEST(integer_results_are_seen) {
    check_all(truncated, 34, 40, 100, "integer-result", "the product without its fraction");
    check_all(rounded, 34, 40, 100, "integer-result", "rounded to an integer");
    check_all(floored, 34, 40, 100, "integer-result", "rounded down");
}

TEST(lost_signs_are_seen) {
    check_all(absolute, 34, 40, 20, "absolute", "without its sign");
    check_all(magnitudes, 34, 40, 20, "magnitudes", "|A| and |B|");
}

/* ---- less than float32 ---- */

/* So many significant bits, to nearest even. */
static float nearest(float value, int bits) {
    uint32_t word, drop = 24 - (uint32_t)bits;
    memcpy(&word, &value, sizeof word);
    word += (1u << (drop - 1)) - 1 + (word >> drop & 1);
    return from_bits(word & ~((1u << drop) - 1));
}

static float cut(float value, int bits) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return from_bits(word & ~((1u << (24 - bits)) - 1));
}

static int bits_of_test;

static float nearest_inputs(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++)
        sum += nearest(a(f, i, p), bits_of_test) * nearest(b(f, p, j), bits_of_test);
    return sum;
}

static float cut_inputs(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++)
        sum += cut(a(f, i, p), bits_of_test) * cut(b(f, p, j), bits_of_test);
    return sum;
}

static float short_sums(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++) sum = nearest(sum + a(f, i, p) * b(f, p, j), bits_of_test);
    return sum;
}

TEST(rounded_inputs_are_seen) {
    bits_of_test = 11;
    check_all(nearest_inputs, 34, 40, 20, "inputs-11-bits", "rounded to 11 significant bits");
    check_all(cut_inputs, 34, 34, 34, "inputs-11-bits", "cut to 11 significant bits (TF32)");
    bits_of_test = 8;
    check_all(nearest_inputs, 34, 40, 200, "inputs-8-bits", "rounded to 8 significant bits (BF16)");
    check_all(cut_inputs, 34, 34, 34, "inputs-8-bits", "cut to 8 significant bits (BF16)");
}

TEST(short_sums_are_seen) {
    bits_of_test = 11;
    check_all(short_sums, 34, 40, 100, "sums-11-bits",
              "at most 11 significant bits (FP16 or TF32)");
    bits_of_test = 8;
    check_all(short_sums, 34, 34, 34, "sums-8-bits", "at most 8 significant bits (BF16)");
}

/* At k = 4096 all elements are within the bound, and none of them is called wrong. */
TEST(a_result_that_is_not_float32_is_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 16, 20, 4096);
    bits_of_test = 11;
    set_all(&f, cut_inputs);
    judge(&f);
    CHECK(f.verdict.not_float32 && f.verdict.wrong == 0);
    CHECK_INT(f.count, 1);
    const struct explanation *e = expect(&f, "inputs-11-bits", "this explains all 320 elements.");
    CHECK(e->explained == 320 && e->of == 320);
    fixture_free(&f);
}

/* Rounding errors that no known type makes: some noise in each product. */
static float noisy_products(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++)
        sum += a(f, i, p) * b(f, p, j) * (1 + 0.001f * (float)((i * 7 + j * 13 + p * 31) % 11 - 5));
    return sum;
}

TEST(other_low_precision_is_named) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, noisy_products);
    judge(&f);
    CHECK_INT(f.count, 1);
    expect(&f, "low-precision", "the arithmetic is less precise than float32");
    fixture_free(&f);
}

/* Errors of 5 u of |A||B|, which no sum in float32 makes: any formula that is nearly A B would fit.
 */
TEST(errors_near_those_of_float32_are_no_formula) {
    struct fixture f = fixture_new(FILL_RANDOM, 20, 20, 4096);
    f.problem.comparison = COMPARE_FLOAT32;
    double *ref = malloc(400 * sizeof *ref), *G = malloc(400 * sizeof *G);
    CHECK(reference(f.A, f.B, f.n, f.k, NULL, f.m, NULL, f.n, ref, G));
    for (int at = 0; at < 400; at++)
        f.C[at] = (float)(ref[at] + (at % 3 ? 5 : -5) * UNIT_ROUNDOFF * G[at]);
    judge(&f);
    CHECK(f.verdict.not_float32);
    CHECK_INT(f.count, 1);
    expect(&f, "low-precision", "less precise than float32");
    free(ref);
    free(G);
    fixture_free(&f);
}

/* In float32 numbers between -1 and 1 all of this is 0; here they go up to 10. */
static void scale_inputs(struct fixture *f) {
    for (int i = 0; i < f->m * f->k; i++) f->A[i] *= 10;
    for (int i = 0; i < f->k * f->n; i++) f->B[i] *= 10;
}

static float integer_sum(const struct fixture *f, int i, int j) {
    int sum = 0;
    for (int p = 0; p < f->k; p++) sum = (int)((float)sum + a(f, i, p) * b(f, p, j));
    return (float)sum;
}

static float integer_inputs(const struct fixture *f, int i, int j) {
    int sum = 0;
    for (int p = 0; p < f->k; p++) sum += (int)a(f, i, p) * (int)b(f, p, j);
    return (float)sum;
}

TEST(integers_are_seen) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    scale_inputs(&f);
    set_all(&f, integer_sum);
    judge(&f);
    expect(&f, "integer-sum", "loses its fraction with each term");
    set_all(&f, integer_inputs);
    judge(&f);
    expect_all(&f, "integer-inputs", "without their fractions");
    fixture_free(&f);
}

/* ---- other terms ---- */

static int first_of_test, last_of_test, tile_of_test;

static float slice(const struct fixture *f, int i, int j) {
    return part(f, i, j, first_of_test, last_of_test);
}

static void set_slice(struct fixture *f, int first, int last) {
    first_of_test = first;
    last_of_test = last;
    set_all(f, slice);
}

static float without_slice(const struct fixture *f, int i, int j) {
    return part(f, i, j, 0, first_of_test) + part(f, i, j, last_of_test, f->k);
}

static float slice_twice(const struct fixture *f, int i, int j) {
    return right(f, i, j) + slice(f, i, j);
}

static void check_slice(element_function *value, int first, int last, int m, int n, int k,
                        const char *formula, const char *say) {
    first_of_test = first;
    last_of_test = last;
    check_all(value, m, n, k, formula, say);
}

TEST(k_cut_to_whole_tiles_is_seen) {
    check_slice(slice, 0, 32, 34, 34, 34, "k-cut",
                "C is the product over the first 32 of 34 values of k");
    check_slice(slice, 0, 16, 34, 34, 34, "k-cut", "the first 16 of 34 values");
    check_slice(slice, 0, 192, 40, 30, 201, "k-cut", "the first 192 of 201 values");
    check_slice(slice, 0, 100, 40, 30, 101, "k-cut", "the first 100 of 101 values");
    check_slice(slice, 0, 21, 40, 21, 55, "k-cut", "the first 21 of 55 values of k (n is 21)");
    check_slice(slice, 0, 19, 10, 9, 20, "k-cut", "the first 19 of 20 values");
    check_slice(slice, 0, 2053, 10, 9, 3000, "k-cut", "the first 2053 of 3000 values");
}

TEST(the_hint_follows_the_cut) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 34, 34);
    set_slice(&f, 0, 32);
    judge(&f);
    CHECK(strstr(expect(&f, "k-cut", "32 of 34")->hint, "not a multiple of the tile?"));
    set_slice(&f, 0, 16);
    judge(&f);
    CHECK(strstr(expect(&f, "k-cut", "16 of 34")->hint, "after the first phase?"));
    fixture_free(&f);
}

TEST(missing_first_terms_are_seen) {
    check_slice(slice, 16, 40, 34, 20, 40, "k-late", "the last 24 of 40 values of k");
    check_slice(slice, 1, 34, 34, 34, 34, "k-late", "the last 33 of 34 values of k");
    check_slice(slice, 33, 34, 34, 34, 34, "k-late", "the last 1 of 34 values of k");
}

TEST(other_parts_of_k_are_seen) {
    check_slice(slice, 16, 32, 34, 20, 50, "k-part", "over values 16 to 31 of k alone, of 0 to 49");
    check_slice(without_slice, 16, 32, 34, 20, 50, "k-gap", "without values 16 to 31 of k");
    check_slice(without_slice, 1024, 1040, 9, 20, 4000, "k-gap", "without values 1024 to 1039");
}

TEST(a_phase_counted_twice_is_seen) {
    check_slice(slice_twice, 0, 16, 34, 20, 50, "k-twice", "values 0 to 15 of k counted twice");
    check_slice(slice_twice, 32, 50, 34, 20, 50, "k-twice", "values 32 to 49 of k counted twice");
    check_slice(slice_twice, 4, 16, 34, 34, 20, "k-twice", "values 4 to 15 of k counted twice");
    check_slice(slice_twice, 49, 50, 34, 20, 50, "k-twice", "value 49 of k counted twice");
    check_slice(slice_twice, 2985, 2992, 9, 9, 3001, "k-twice", "values 2985 to 2991 of k");
}

static float tile_one_short(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++)
        sum += p % tile_of_test == tile_of_test - 1 ? 0 : a(f, i, p) * b(f, p, j);
    return sum;
}

static float tile_late(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < f->k; p++) sum += p % tile_of_test == 0 ? 0 : a(f, i, p) * b(f, p, j);
    return sum;
}

/* Each phase adds a sum that goes on from the phase before. */
static float partial_kept(const struct fixture *f, int i, int j) {
    float sum = 0, partial = 0;
    for (int p = 0; p < f->k; p += tile_of_test) {
        partial += part(f, i, j, p, p + tile_of_test < f->k ? p + tile_of_test : f->k);
        sum += partial;
    }
    return sum;
}

TEST(loops_over_a_tile_that_miss_a_term_are_seen) {
    tile_of_test = 16;
    check_all(tile_one_short, 34, 34, 34, "tile-one-short", "the last value of k of each 16");
    check_all(tile_late, 34, 34, 34, "tile-late", "the first value of k of each 16");
    tile_of_test = 32;
    check_all(tile_one_short, 20, 40, 70, "tile-one-short", "the last value of k of each 32");
    tile_of_test = 12;
    check_all(tile_late, 20, 40, 70, "tile-late", "the first value of k of each 12");
}

TEST(a_partial_sum_that_goes_on_is_seen) {
    tile_of_test = 16;
    check_all(partial_kept, 34, 20, 50, "partial-sum-kept",
              "the first 16 values of k count in every");
}

static float last_again(const struct fixture *f, int i, int j) {
    return right(f, i, j) + 12 * a(f, i, f->k - 1) * b(f, f->k - 1, j);
}

/* Added one by one, with a rounding each. */
static float last_again_and_again(const struct fixture *f, int i, int j) {
    float sum = right(f, i, j);
    for (int p = f->k; p < 16; p++) sum += a(f, i, f->k - 1) * b(f, f->k - 1, j);
    return sum;
}

TEST(a_clamped_index_is_seen) {
    check_all(last_again_and_again, 7, 9, 5, "last-term-repeated", "counted 12 times");
    check_all(last_again_and_again, 40, 50, 3, "last-term-repeated", "counted 14 times");
    check_all(last_again, 34, 34, 20, "last-term-repeated", "last value of k counted 13 times");
}

/* A block of threads goes through C in steps; its sum goes on. */
TEST(sums_that_are_not_reset_are_seen) {
    struct fixture f = fixture_new(FILL_RANDOM, 70, 90, 16);
    for (int i0 = 0; i0 < 16; i0++) {
        for (int j0 = 0; j0 < 32; j0++) {
            float sum = 0;
            for (int i = i0; i < f.m; i += 16) {
                for (int j = j0; j < f.n; j += 32) f.C[i * f.n + j] = sum += right(&f, i, j);
            }
        }
    }
    judge(&f);
    expect_all(&f, "sum-not-reset", "32 columns to the left or 16 rows up");
    CHECK(f.verdict.wrong > 5000);
    fixture_free(&f);
}

/* ---- other indices ---- */

/* C[i][j] with A at i * a_i + p * a_p and B at p * b_p + j * b_j; NaN, as from a guard, outside. */
static struct strides { int a_i, a_p, b_p, b_j, terms; } strides;

static float strided(const struct fixture *f, int i, int j) {
    float sum = 0;
    for (int p = 0; p < strides.terms; p++) {
        int at_a = i * strides.a_i + p * strides.a_p, at_b = p * strides.b_p + j * strides.b_j;
        if (at_a >= f->m * f->k || at_b >= f->k * f->n) return from_bits(GUARD_BITS | 1u << 22);
        sum += f->A[at_a] * f->B[at_b];
    }
    return sum;
}

/* Elements whose operands are all inside must be explained; the others are NaN. */
static void check_strides(struct strides mistaken, int m, int n, int k, const char *formula,
                          const char *say) {
    struct fixture f = fixture_new(FILL_RANDOM, m, n, k);
    strides = mistaken;
    set_all(&f, strided);
    judge(&f);
    CHECK_INT(f.count, 1);
    const struct explanation *e = expect(&f, formula, say);
    CHECK_INT(e->of, f.verdict.wrong - f.verdict.nan);
    CHECK_INT(e->explained, e->of);
    CHECK(!f.verdict.nan == !strstr(e->text, "more are NaN, as expected"));
    fixture_free(&f);
}

TEST(wrong_indices_are_seen) {
    static const struct {
        int m, n, k;
        struct strides mistaken;
        const char *formula, *say;
    } rows[] = {
        {34, 40, 20, {40, 1, 40, 1, 20}, "a-stride-n", "A read as if its rows had n (40) elements"},
        {34, 40, 20, {34, 1, 40, 1, 20}, "a-stride-m", "A read as if its rows had m (34) elements"},
        {20, 20, 34, {20, 1, 20, 1, 34}, "a-stride-n", "n (20)"},
        {34, 40, 20, {20, 1, 20, 1, 20}, "b-stride-k", "B read as if its rows had k (20) elements"},
        {34, 40, 20, {20, 1, 34, 1, 20}, "b-stride-m", "B read as if its rows had m (34) elements"},
        {41, 40, 20, {20, 1, 41, 1, 20}, "b-stride-m", "more are NaN, as expected"},
        /* n for k, as stride and as end of the loop */
        {34,
         20,
         40,
         {20, 1, 20, 1, 20},
         "a-stride-n+k-loop-n",
         "and with a loop over k that ends at n (20)"},
        {34,
         40,
         20,
         {1, 34, 40, 1, 20},
         "a-transposed",
         "with A read transposed, element (i, p) at p * m (34) + i"},
        {34, 40, 20, {1, 20, 40, 1, 20}, "a-transposed", "at p * k (20) + i"},
        {34,
         40,
         20,
         {20, 1, 1, 20, 20},
         "b-transposed",
         "with B read transposed, element (p, j) at j * k (20) + p"},
        {34, 40, 20, {1, 34, 1, 20, 20}, "a-transposed+b-transposed", "with A read transposed"},
        {34, 34, 34, {1, 34, 34, 1, 34}, "a-transposed", "explains all 1156 wrong elements"},
        {34, 34, 34, {34, 1, 1, 34, 34}, "b-transposed", "explains all 1156 wrong elements"},
    };
    for (int i = 0; i < LENGTH(rows); i++)
        check_strides(rows[i].mistaken, rows[i].m, rows[i].n, rows[i].k, rows[i].formula,
                      rows[i].say);
}

/* C stored at i * c_i + j * c_j; what is outside lands behind C. */
static void store(struct fixture *f, int c_i, int c_j) {
    for (int at = 0; at < f->m * f->n; at++) set_bits(&f->C[at], POISON_BITS);
    for (int i = 0; i < f->m; i++) {
        for (int j = 0; j < f->n; j++) {
            if (i * c_i + j * c_j < f->m * f->n) f->C[i * c_i + j * c_j] = right(f, i, j);
        }
    }
}

static void check_store(int m, int n, int k, int c_i, int c_j, const char *formula,
                        const char *say) {
    struct fixture f = fixture_new(FILL_RANDOM, m, n, k);
    store(&f, c_i, c_j);
    judge(&f);
    CHECK_INT(f.count, 1); /* the unwritten ones are part of it */
    const struct explanation *e = expect(&f, formula, say);
    CHECK_INT(e->of, f.verdict.wrong);
    CHECK_INT(e->explained, f.verdict.wrong);
    CHECK(!f.verdict.unwritten == !strstr(e->text, "It also leaves out the"));
    fixture_free(&f);
}

TEST(a_wrong_stride_of_c_is_seen) {
    check_store(34, 40, 20, 34, 1, "c-stride-m", "stored as if the rows of C had m (34) elements");
    check_store(40, 34, 20, 40, 1, "c-stride-m", "stored as if the rows of C had m (40) elements");
    check_store(34, 40, 37, 37, 1, "c-stride-k", "stored as if the rows of C had k (37) elements");
}

TEST(a_transposed_c_is_seen) {
    check_store(34, 40, 20, 1, 34, "c-transposed",
                "stored transposed, element (i, j) at j * m (34)");
    check_store(34, 34, 34, 1, 34, "c-transposed", "stored transposed");
    check_store(40, 34, 20, 1, 34, "c-transposed", "at j * n (34)");
}

/* The tile of A or B is loaded with x and y exchanged; zeros beyond the edges. */
static bool a_tiles, b_tiles, a_first, b_first;

static float guarded(const float *x, int rows, int cols, int row, int col) {
    return row < rows && col < cols ? x[row * cols + col] : 0;
}

static float tiled(const struct fixture *f, int i, int j) {
    int t = tile_of_test, i0 = i - i % t, j0 = j - j % t;
    float sum = 0;
    for (int p0 = 0; p0 < f->k; p0 += t) {
        for (int q = 0; q < t; q++) {
            int a_from = a_first ? 0 : p0, b_from = b_first ? 0 : p0;
            float x = a_tiles ? guarded(f->A, f->m, f->k, i0 + q, p0 + i % t)
                              : guarded(f->A, f->m, f->k, i, a_from + q);
            float y = b_tiles ? guarded(f->B, f->k, f->n, p0 + j % t, j0 + q)
                              : guarded(f->B, f->k, f->n, b_from + q, j);
            sum += x * y;
        }
    }
    return sum;
}

static void check_tiles(int tile, bool of_a, bool of_b, int m, int n, int k, const char *formula,
                        const char *say) {
    tile_of_test = tile;
    a_tiles = of_a;
    b_tiles = of_b;
    check_all(tiled, m, n, k, formula, say);
    a_tiles = b_tiles = false;
}

TEST(transposed_tiles_are_seen) {
    check_tiles(16, true, false, 34, 40, 20, "a-tile-transposed",
                "with each 16 x 16 tile of A transposed");
    check_tiles(32, true, false, 70, 40, 50, "a-tile-transposed", "each 32 x 32 tile of A");
    check_tiles(16, false, true, 34, 40, 20, "b-tile-transposed",
                "with each 16 x 16 tile of B transposed");
    check_tiles(8, false, true, 34, 34, 34, "b-tile-transposed", "each 8 x 8 tile of B");
    check_tiles(16, true, true, 34, 40, 20, "a-tile-transposed+b-tile-transposed",
                "tile of A transposed and with each");
    /* a single tile may be transposed in either way, and the text says so */
    check_tiles(16, true, false, 16, 16, 16, "a-transposed", "(or its one tile)");
    struct fixture f = fixture_new(FILL_RANDOM, 16, 16, 16);
    a_tiles = true;
    set_all(&f, tiled);
    a_tiles = false;
    judge(&f);
    CHECK(strstr(expect(&f, "a-transposed", "one tile")->hint, "in its tile, if it has one"));
    fixture_free(&f);
}

TEST(the_same_tile_in_every_phase_is_seen) {
    a_first = true;
    check_tiles(16, false, false, 34, 40, 50, "a-first-tile", "the same, first 16 x 16 tiles of A");
    a_first = false;
    b_first = true;
    check_tiles(32, false, false, 34, 40, 70, "b-first-tile", "the same, first 32 x 32 tiles of B");
    b_first = false;
}

static void store_tiles(struct fixture *f, int t) {
    for (int at = 0; at < f->m * f->n; at++) set_bits(&f->C[at], POISON_BITS);
    for (int i = 0; i < f->m; i++) {
        for (int j = 0; j < f->n; j++) {
            int to = (i - i % t + j % t) * f->n + j - j % t + i % t;
            if (to < f->m * f->n) f->C[to] = right(f, i, j);
        }
    }
}

TEST(tiles_of_c_that_are_stored_transposed_are_seen) {
    const int shapes[][3] = {{32, 48, 20}, {34, 34, 34}, {40, 50, 20}};
    for (int s = 0; s < 3; s++) {
        struct fixture f = fixture_new(FILL_RANDOM, shapes[s][0], shapes[s][1], shapes[s][2]);
        store_tiles(&f, 16);
        judge(&f);
        const struct explanation *e =
            expect(&f, "c-tile-transposed", "with each 16 x 16 tile of C stored transposed");
        CHECK_INT(e->explained, f.verdict.wrong);
        fixture_free(&f);
    }
}

TEST(arguments_in_another_order_are_seen) {
    const int orders[][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const char *const texts[] = {"m, k, n in", "n, m, k in", "n, k, m in", "k, m, n in",
                                 "k, n, m in"};
    int seen = 0;
    for (int o = 0; o < 5; o++) {
        struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
        const int sizes[3] = {f.m, f.n, f.k};
        int m = sizes[orders[o][0]], n = sizes[orders[o][1]], k = sizes[orders[o][2]];
        for (int at = 0; at < f.m * f.n; at++) set_bits(&f.C[at], POISON_BITS);
        strides = (struct strides){k, 1, n, 1, k};
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                if (i * n + j < f.m * f.n) f.C[i * n + j] = strided(&f, i, j);
            }
        }
        judge(&f);
        if (f.verdict.wrong > f.verdict.nan) { /* else nothing was left to recognize */
            const struct explanation *e = expect(&f, "argument-order", texts[o]);
            CHECK_INT(f.count, 1);
            CHECK_INT(e->explained, f.verdict.wrong - f.verdict.nan);
            seen++;
        }
        fixture_free(&f);
    }
    CHECK(seen >= 2);
}

/* ---- where a NaN came from ---- */

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
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, right);
    for (int i = 0; i < LENGTH(rows); i++) {
        for (int j = 0; j < 40; j++) {
            set_bits(&f.C[33 * 40 + j], rows[i].bits | 1u << 22);
            set_bits(&f.C[32 * 40 + j], rows[i].bits | 1u << 22 | 1u << 31); /* -x */
        }
        judge(&f);
        CHECK_INT(f.count, 1);
        const struct explanation *e = expect(&f, rows[i].formula, rows[i].say);
        CHECK(e->explained == 80 && e->of == 80 && e->about_nan);
        CHECK_THAT(strstr(e->text, "They fill rows 32 to 33."), "'%s'", e->text);
    }
    fixture_free(&f);
}

TEST(a_tile_that_is_not_stored_is_an_edge_only_at_the_edge) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, right);
    for (int i = 0; i < 34; i++) {
        for (int j = 0; j < 40; j++)
            if (i >= 32) set_bits(&f.C[i * 40 + j], 0x7FA2A2A2 | 1u << 22);
    }
    judge(&f);
    CHECK(strstr(f.explanations[0].hint, "at the edge of C"));
    for (int at = 0; at < 34 * 40; at++) set_bits(&f.C[at], 0x7FA2A2A2 | 1u << 22);
    judge(&f);
    CHECK(strstr(f.explanations[0].hint, "barrier") && !strstr(f.explanations[0].hint, "edge"));
    fixture_free(&f);
}

/* A GPU gives this one for every NaN. */
TEST(a_nan_without_an_origin_is_not_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    for (int at = 0; at < 34 * 40; at++) set_bits(&f.C[at], 0x7FFFFFFF);
    judge(&f);
    expect_nothing(&f);
    fixture_free(&f);
}

/* Two mistakes: half the sum's terms are missing, and the edge reads what it should not. */
TEST(a_formula_and_a_nan_are_both_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 34, 34);
    set_slice(&f, 0, 32);
    for (int i = 0; i < 34; i++) set_bits(&f.C[i * 34 + 33], 0x7FA2A2A2 | 1u << 22);
    judge(&f);
    CHECK_INT(f.count, 2);
    CHECK_INT(expect(&f, "k-cut", "explains all 1122 wrong elements")->explained, 1122);
    CHECK_INT(expect(&f, "shared-unwritten", "They fill column 33.")->explained, 34);
    CHECK_STRING(f.explanations[0].formula, "k-cut"); /* the one that covers more */
    fixture_free(&f);
}

/* ---- regions ---- */

/* A right C, but for some elements that were not written. */
static void leave_out(struct fixture *f, bool (*out)(int i, int j)) {
    set_all(f, right);
    for (int i = 0; i < f->m; i++) {
        for (int j = 0; j < f->n; j++) {
            if (out(i, j)) set_bits(&f->C[i * f->n + j], POISON_BITS);
        }
    }
}

static int rows_written, cols_written;
static bool beyond(int i, int j) { return i >= rows_written || j >= cols_written; }

static void check_extent(int m, int n, int k, int rows, int cols, const char *formula,
                         const char *say) {
    struct fixture f = fixture_new(FILL_RANDOM, m, n, k);
    rows_written = rows;
    cols_written = cols;
    leave_out(&f, beyond);
    judge(&f);
    CHECK_INT(f.count, 1);
    const struct explanation *e = expect(&f, formula, say);
    CHECK(e->explained == f.verdict.unwritten && e->of == f.verdict.unwritten);
    fixture_free(&f);
}

TEST(unwritten_edges_are_described) {
    check_extent(34, 34, 34, 32, 32, "grid-rounded-down",
                 "Never written: rows 32 to 33 and columns 32 to 33; only whole");
    check_extent(35, 64, 50, 32, 64, "grid-rounded-down", "Never written: rows 32 to 34; ");
    check_extent(120, 250, 201, 120, 128, "grid-exchanged",
                 "columns 128 to 249; as if the grid were as high");
    check_extent(100, 40, 20, 48, 40, "grid-exchanged", "rows 48 to 99; ");
    check_extent(90, 70, 20, 32, 70, "grid-from-k", "the rows end at k");
    check_extent(70, 90, 20, 70, 20, "grid-from-k", "the columns end at k");
    check_extent(90, 70, 20, 70, 70, "row-ends-at-n", "the rows end at n");
    check_extent(70, 91, 20, 70, 70, "column-ends-at-m", "the columns end at m");
    check_extent(90, 70, 20, 16, 16, "first-block-only", "only the first block stored anything");
    check_extent(96, 60, 20, 80, 60, "last-blocks-missing", "the grid is one block short");
    check_extent(90, 70, 20, 47, 70, "unwritten-region", "Never written: rows 47 to 89.");
    check_extent(34, 40, 20, 0, 0, "none-written", "No element of C was written.");
}

static void check_launch(int rows, int cols, unsigned x, unsigned y, const char *added) {
    const struct finding_launch launch = {.kernel = "f", .grid = {x, y, 1}, .block = {16, 8, 1}};
    struct fixture f = fixture_new(FILL_RANDOM, 35, 70, 20);
    rows_written = rows;
    cols_written = cols;
    leave_out(&f, beyond);
    judge(&f);
    CHECK_INT(f.count, 1);
    struct explanation *e = &f.explanations[0];
    size_t length = strlen(e->text);
    launch_explain(&launch, &(struct shape){{f.m, f.n, 1}}, e);
    CHECK_STRING(e->text + length, added);
    fixture_free(&f);
}

TEST(a_launch_whose_threads_end_where_c_does_explains_it) {
    check_launch(32, 70, 5, 4, " The grid has 4 x 8 = 32 threads in y; C has 35 rows.");
    check_launch(35, 64, 4, 5, " The grid has 4 x 16 = 64 threads in x; C has 70 columns.");
    check_launch(32, 64, 4, 4,
                 " The grid has 4 x 8 = 32 threads in y; C has 35 rows."
                 " The grid has 4 x 16 = 64 threads in x; C has 70 columns.");
    check_launch(32, 70, 2, 9, " The grid has 2 x 16 = 32 threads in x; C has 35 rows.");
    check_launch(32, 70, 5, 5, ""); /* a guard may leave them out, or threads have several rows */
    check_launch(35, 32, 5, 5, "");
}

TEST(a_launch_explains_no_wrong_element) {
    const struct finding_launch launch = {.kernel = "f", .grid = {5, 4, 1}, .block = {16, 8, 1}};
    struct explanation wrong = {.text = "Every element of rows 32 to 34 is wrong."};
    launch_explain(&launch, &(struct shape){{35, 70, 1}}, &wrong);
    CHECK_STRING(wrong.text, "Every element of rows 32 to 34 is wrong.");
}

/* m = 40, k = 16, n = 16: rows end at 16, which is n, k, a block, and what the exchange gives. */
TEST(no_reason_is_given_where_several_fit) {
    check_extent(40, 16, 16, 16, 16, "unwritten-region", "Never written: rows 16 to 39.");
    check_extent(32, 33, 16, 32, 32, "unwritten-region", "Never written: column 32.");
}

static bool on_diagonal(int i, int j) { return i / 16 == j / 16; }
static bool checkerboard(int i, int j) { return (i / 16 + j / 16) % 2; }
static bool second_rows(int i, int j) { return i % 2 == 1 && j >= 0; }
static bool fourth_columns(int i, int j) { return j % 4 == 3 && i >= 0; }
static bool in_one_block(int i, int j) { return i / 16 == 1 && j / 16 == 1; }
static bool at_the_end(int i, int j) { return i * 40 + j >= 700; }
static bool first_rows(int i, int j) { return i < 16 && j >= 0; }
static bool last_column(int i, int j) { return j == 39 && i >= 0; }
static bool edge_blocks(int i, int j) { return i >= 32 || j >= 32; }
static bool scattered(int i, int j) { return (i * 7 + j * 3) % 11 == 4; }

static float hash_value(int i, int j) {
    return (float)((unsigned)(i * 7919 + j * 104729 + i * j * 31) % 1009u) / 100.0f - 5;
}

/* Parts of a C of 34 x 40, and how they are described where they are unwritten, or wrong. NULL: not
 * tried; "": not described. */
TEST(regions_are_described) {
    static const struct {
        bool (*in)(int i, int j);
        const char *unwritten, *unwritten_text, *wrong, *wrong_text;
    } rows[] = {
        {on_diagonal, "blocks", "the blocks of 16 x 16 on the diagonal.", "blocks-wrong",
         "the blocks of 16 x 16 on the diagonal is wrong."},
        {checkerboard, "blocks", "4 of the 9 blocks of 16 x 16.", NULL, NULL},
        {second_rows, "stripes", "one row in 2 (rows 1, 3, ...).", "stripes-wrong", "one row in 2"},
        {fourth_columns, "stripes", "one column in 4 (columns 3, 7, ...).", NULL, NULL},
        {in_one_block, "unwritten-region", "rows 16 to 31 in columns 16 to 31.", NULL, NULL},
        {at_the_end, "tail", "everything from row 17, column 20 on", NULL, NULL},
        {first_rows, "unwritten-region", "Never written: rows 0 to 15.", "wrong-region",
         "rows 0 to 15 is wrong."},
        {last_column, "unwritten-region", "Never written: column 39.", "wrong-region",
         "column 39 is wrong."},
        {edge_blocks, NULL, NULL, "edge-wrong",
         "Every element of rows 32 to 33 and columns 32 to 39 is wrong."},
        {scattered, "", "", "", ""},
    };
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    for (int r = 0; r < LENGTH(rows); r++) {
        for (int wrong = 0; wrong <= 1; wrong++) {
            const char *formula = wrong ? rows[r].wrong : rows[r].unwritten;
            if (!formula) continue;
            leave_out(&f, rows[r].in);
            for (int at = 0; wrong && at < 34 * 40; at++) {
                if (rows[r].in(at / 40, at % 40)) f.C[at] = hash_value(at / 40, at % 40);
            }
            judge(&f);
            CHECK_INT(f.count, *formula != '\0');
            if (!*formula) continue;
            const struct explanation *e =
                expect(&f, formula, wrong ? rows[r].wrong_text : rows[r].unwritten_text);
            CHECK_INT(e->explained, wrong ? f.verdict.wrong : f.verdict.unwritten);
        }
    }
    fixture_free(&f);
}

/* A region whose values are known is explained by its values. */
TEST(a_formula_in_a_region_is_named) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, right);
    for (int i = 32; i < 34; i++) {
        for (int j = 0; j < 40; j++) f.C[i * 40 + j] = part(&f, i, j, 0, 16);
    }
    judge(&f);
    expect_all(&f, "k-cut", "Where C is wrong, it is the product over the first 16 of 20 values");
    fixture_free(&f);
}

TEST(wrong_and_unwritten_are_both_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 34, 20);
    set_slice(&f, 0, 16);
    for (int i = 0; i < 34; i++) {
        for (int j = 0; j < 34; j++) {
            if (edge_blocks(i, j)) set_bits(&f.C[i * 34 + j], POISON_BITS);
        }
    }
    judge(&f);
    CHECK_INT(f.count, 2);
    CHECK_INT(expect(&f, "k-cut", "the first 16 of 20 values")->explained, 1024);
    CHECK_INT(expect(&f, "grid-rounded-down", "rows 32 to 33")->explained, 132);
    fixture_free(&f);
}

/* What covers more comes first. */
TEST(the_larger_part_comes_first) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 34, 50);
    set_slice(&f, 0, 48);
    for (int i = 16; i < 34; i++) {
        for (int j = 0; j < 34; j++) set_bits(&f.C[i * 34 + j], POISON_BITS);
    }
    judge(&f);
    CHECK_INT(f.count, 2);
    CHECK_INT(f.explanations[0].explained, 18 * 34);
    CHECK_STRING(f.explanations[1].formula, "k-cut");
    fixture_free(&f);
}

/* ---- what is not explained ---- */

TEST(right_results_are_not_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, right);
    judge(&f);
    CHECK(f.verdict.passed);
    expect_nothing(&f);
    set_all(&f, zero);
    judge_mode(&f, VERIFY_NONE);
    expect_nothing(&f);
    fixture_free(&f);
}

static float garbage(const struct fixture *f, int i, int j) {
    return hash_value(i, j) + 0 * a(f, i, 0);
}

TEST(garbage_is_not_explained) {
    const int shapes[][3] = {{34, 34, 34}, {34, 40, 20}, {2, 3, 4}, {16, 16, 16}, {5, 1, 1},
                             {1, 60, 1},   {9, 9, 300},  {3, 3, 3}, {40, 1, 20},  {1, 1, 50}};
    for (int s = 0; s < 10; s++) {
        struct fixture f = fixture_new(FILL_RANDOM, shapes[s][0], shapes[s][1], shapes[s][2]);
        set_all(&f, garbage);
        judge(&f);
        CHECK(!f.verdict.passed);
        expect_nothing(&f);
        fixture_free(&f);
    }
}

TEST(a_few_wrong_elements_are_not_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    for (int count = 1; count <= 7; count++) {
        set_all(&f, right);
        for (int i = 0; i < count; i++) f.C[417 + 5 * i] += 0.5f + (float)i;
        judge(&f);
        CHECK_INT(f.verdict.wrong, count);
        expect_nothing(&f);
    }
    set_all(&f, right);
    f.C[417] += 1e-4f; /* which is no rounding error, though it is as small as one */
    judge(&f);
    CHECK_INT(f.verdict.wrong, 1);
    expect_nothing(&f);
    fixture_free(&f);
}

static float infinite(const struct fixture *f, int i, int j) { return INFINITY + right(f, i, j); }

/* Beside |A||B|, which grows with k, numbers of the size of A B look like rounding errors. */
TEST(garbage_is_not_explained_by_rounding) {
    struct fixture f = fixture_new(FILL_RANDOM, 9, 9, 8000);
    set_all(&f, garbage);
    judge(&f);
    expect_nothing(&f);
    for (int at = 0; at < 81; at++) f.C[at] = rintf(f.C[at]) + 0.5f; /* few significant bits, too */
    judge(&f);
    expect_nothing(&f);
    fixture_free(&f);
}

/* A formula that holds for some elements, among others for which it does not. */
static void check_mixture(int percent, uint32_t other, const char *formula) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    for (int i = 0; i < 34; i++) {
        for (int j = 0; j < 40; j++) {
            bool fits = (i * 7919 + j * 104729) % 100 < percent;
            float value = other ? from_bits(other) : hash_value(i, j);
            f.C[i * 40 + j] = fits ? part(&f, i, j, 0, 16) : value;
        }
    }
    judge(&f);
    if (formula)
        expect(&f, formula, "the first 16 of 20 values of k: this explains ");
    else
        expect_nothing(&f);
    fixture_free(&f);
}

TEST(a_formula_must_explain_all_but_nan) {
    const uint32_t nan = 0x7FFFFFFF; /* which says nothing */
    check_mixture(100, 0, "k-cut");
    check_mixture(99, 0, NULL);
    check_mixture(85, 0, NULL);
    check_mixture(50, 0, NULL);
    check_mixture(30, nan, "k-cut");
    check_mixture(5, nan, NULL);
}

static float zero_in_some_rows(const struct fixture *f, int i, int j) {
    return i % 4 == 1 ? 0 : right(f, i, j);
}

static float product_16_times(const struct fixture *f, int i, int j) { return 16 * right(f, i, j); }
static float all_but_15(const struct fixture *f, int i, int j) {
    return part(f, i, j, 0, 15) + part(f, i, j, 16, f->k);
}

/* Where k is 1, a transposed tile of A has one row that is not 0: zeros are zeros, and no more. And
 * a multiple of the product is its last term, counted often. */
TEST(a_formula_is_not_named_where_another_gives_the_same) {
    struct fixture f = fixture_new(FILL_RANDOM, 33, 33, 1);
    set_all(&f, zero_in_some_rows);
    judge(&f);
    expect_all(&f, "zero", "Where C is wrong, it is 0");
    CHECK(f.explanations[0].products == 0);
    set_all(&f, product_16_times);
    judge(&f);
    expect_nothing(&f);
    fixture_free(&f);
    check_all(product_16_times, 33, 33, 2, "factor", "C is 16 times the product");
}

/* Without the 16th value of k: the last of its tile, or a gap. With a second tile it is clear. */
TEST(a_gap_of_one_is_no_tile) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, all_but_15);
    judge(&f);
    expect_nothing(&f);
    fixture_free(&f);
    check_all(all_but_15, 34, 40, 40, "k-gap", "without values 15 to 15");
}

/* Zeros where a neighbor's thread stored them. With the identity, other formulas, too, give zeros
 * in places. */
TEST(a_part_of_c_is_not_explained_by_accident) {
    struct fixture f = fixture_new(FILL_IDENTITY, 50, 23, 37);
    set_all(&f, right);
    for (int i = 1; i < 50; i++) {
        for (int j = 0; j < 9; j++) f.C[i * 23 + j] = 0;
    }
    judge(&f);
    CHECK_INT(f.count, 1);
    expect_all(&f, "zero", "Where C is wrong, it is 0");
    CHECK(strstr(f.explanations[0].hint, "which threads store these elements"));
    fixture_free(&f);
}

TEST(infinity_is_not_explained) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_all(&f, infinite);
    judge(&f);
    expect_nothing(&f);
    fixture_free(&f);
}

/* Every cut of k, many strides and factors come to the same: none may be named. */
TEST(constant_matrices_are_not_explained) {
    const float values[] = {64, 66, 34, 100, 67};
    struct fixture f = fixture_new(FILL_ONES_TWOS, 34, 34, 34);
    for (int v = 0; v < 5; v++) {
        for (int at = 0; at < 34 * 34; at++) f.C[at] = values[v];
        judge(&f);
        for (int i = 0; i < f.count; i++) {
            const char *name = f.explanations[i].formula;
            CHECK_THAT(false, "%g, not 68, is no proof of %s", (double)values[v], name);
        }
    }
    for (int at = 0; at < 34 * 34; at++) f.C[at] = 0;
    judge(&f);
    expect_all(&f, "zero", "C is 0");
    fixture_free(&f);
}

/* A = 1 at i = p: in a 34 x 34 product, B transposed and C transposed are the same. */
TEST(what_the_identity_cannot_tell_apart_is_not_explained) {
    struct fixture f = fixture_new(FILL_IDENTITY, 34, 34, 34);
    store(&f, 1, 34);
    judge(&f);
    expect_nothing(&f);
    fixture_free(&f);
}

/* A and B are 1, 2, 3, ...: what differs on random matrices may be the same there. Element (i, j)
 * of this C is 7 more than it should be; a term more, or a larger one, would explain it somewhere.
 */
TEST(numbers_that_count_are_explained_with_care) {
    const int shapes[][3] = {{4, 4, 4}, {2, 2, 2}, {6, 5, 4}};
    for (int s = 0; s < 3; s++) {
        struct fixture f = fixture_new(FILL_RANDOM, shapes[s][0], shapes[s][1], shapes[s][2]);
        for (int at = 0; at < f.m * f.k; at++) f.A[at] = (float)(at + 1);
        for (int at = 0; at < f.k * f.n; at++) f.B[at] = (float)(at + 1);
        f.problem.comparison = COMPARE_EXACT;
        set_all(&f, right);
        for (int at = 1; at < f.m * f.n; at++) f.C[at] += (float)(at % 5 * 7);
        judge(&f);
        expect_nothing(&f);
        set_slice(&f, 0, f.k / 2);
        judge(&f);
        if (s != 1) expect_all(&f, "k-cut", "C is the product over the first 2 of 4 values of k");
        fixture_free(&f);
    }
}

TEST(exact_fills_are_explained_where_it_is_certain) {
    struct fixture f = fixture_new(FILL_EXACT, 34, 40, 20);
    set_slice(&f, 0, 16);
    judge(&f);
    expect_all(&f, "k-cut", "the first 16 of 20");
    strides = (struct strides){1, 34, 40, 1, 20};
    set_all(&f, strided);
    judge(&f);
    expect_all(&f, "a-transposed", "at p * m (34) + i");
    fixture_free(&f);
}

TEST(extremes_are_explained) {
    struct fixture f = fixture_new(FILL_EXTREMES, 34, 40, 20);
    set_slice(&f, 0, 16);
    judge(&f);
    expect_all(&f, "k-cut", "the first 16 of 20");
    fixture_free(&f);
}

/* ---- how much of the product it is ---- */

static void expect_products(struct fixture *f, double products) {
    judge(f);
    CHECK_INT(f->count, 1);
    CHECK_THAT(fabs(f->explanations[0].products - products) < 1e-9, "%s: %g, not %g",
               f->explanations[0].formula, f->explanations[0].products, products);
}

TEST(the_part_of_the_products_that_are_in_c_is_known) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 50);
    set_slice(&f, 0, 16);
    expect_products(&f, 16.0 / 50);
    set_all(&f, slice_twice);
    expect_products(&f, 1);
    factor_of_test = 2;
    set_all(&f, times);
    expect_products(&f, 1);
    tile_of_test = 16;
    a_tiles = true;
    set_all(&f, tiled);
    expect_products(&f, 1);
    a_tiles = false;
    a_first = true; /* the same 16 columns of A again and again */
    set_all(&f, tiled);
    expect_products(&f, 16.0 / 50);
    a_first = false;
    set_all(&f, right);
    for (int at = 32 * 40; at < 34 * 40; at++) set_bits(&f.C[at], POISON_BITS);
    expect_products(&f, 32.0 / 34);
    fixture_free(&f);
}

TEST(what_is_no_product_or_several_mistakes_has_no_part_of_them) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 50);
    set_all(&f, zero);
    expect_products(&f, 0);
    set_all(&f, copy_b);
    judge(&f);
    CHECK(f.explanations[0].products == 0);
    bits_of_test = 11;
    set_all(&f, nearest_inputs);
    expect_products(&f, 0);
    tile_of_test = 16;
    a_tiles = b_tiles = true;
    set_all(&f, tiled);
    expect_products(&f, 0);
    a_tiles = b_tiles = false;
    set_slice(&f, 0, 48);
    f.C[0] = 7; /* which the formula does not give */
    judge(&f);
    expect_nothing(&f);
    set_bits(&f.C[0], GUARD_BITS | 1u << 22);
    judge(&f);
    CHECK(f.explanations[0].products == 0 && f.explanations[1].products == 0);
    set_slice(&f, 0, 48);
    set_bits(&f.C[34 * 40 - 1], POISON_BITS);
    judge(&f);
    CHECK(f.explanations[0].products == 0 && f.explanations[1].products == 0);
    rows_written = cols_written = 0;
    leave_out(&f, beyond);
    expect_products(&f, 0);
    fixture_free(&f);
}

/* ---- large, and quick ---- */

TEST(large_products_are_sampled) {
    struct fixture f = fixture_new(FILL_RANDOM, 1500, 1600, 20);
    set_slice(&f, 0, 16);
    for (int quick = 0; quick <= 1; quick++) {
        double start = clock_seconds();
        judge_mode(&f, quick ? VERIFY_QUICK : VERIFY_FULL);
        CHECK_INT(f.count, 1);
        const struct explanation *e = expect(&f, "k-cut", "the first 16 of 20 values");
        CHECK_THAT(strstr(e->text, "wrong elements that were looked at."), "'%s'", e->text);
        CHECK(e->explained == e->of && e->of > 1000);
        CHECK_THAT(clock_seconds() - start < 30, "%g s", clock_seconds() - start);
    }
    fixture_free(&f);
}

TEST(the_same_verdict_gives_the_same_explanation) {
    struct fixture f = fixture_new(FILL_RANDOM, 34, 40, 20);
    set_slice(&f, 0, 16);
    judge(&f);
    struct explanation first = f.explanations[0];
    set_threads(3);
    judge(&f);
    set_threads(0);
    CHECK(memcmp(&first, &f.explanations[0], sizeof first) == 0);
    fixture_free(&f);
}
