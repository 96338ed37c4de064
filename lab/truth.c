/* SGEMM: what is right, and what it takes. */
#include "../engine/report/text/text.h"
#include "product.h"
#include "sgemm.h"
#include <math.h>

/* Further from what it should be than any order of summation leads. */
static bool is_wrong(const struct shape *shape, const void *const arrays[LAB_ARRAYS],
                     int64_t element, double *right) {
    const float *A = arrays[MATRIX_A], *B = arrays[MATRIX_B], *C = arrays[MATRIX_C];
    const int64_t n = shape_size(shape, PARAM_N), k = shape_size(shape, PARAM_K);
    const float *row = &A[element / n * k], *column = &B[element % n];
    double sum = 0, magnitude = 0;
    for (int64_t p = 0; p < k; p++) {
        const double term = (double)row[p] * (double)column[p * n];
        sum += term;
        magnitude += fabs(term);
    }
    *right = sum;
    return !(fabs(C[element] - sum) <= gamma_bound(k + 2) * magnitude);
}

static void fill(const struct lab_case *c, void *const arrays[LAB_ARRAYS]) {
    const int m = shape_size(&c->shape, PARAM_M), n = shape_size(&c->shape, PARAM_N),
              k = shape_size(&c->shape, PARAM_K);
    fill_matrix((enum fill)c->fill, c->seed, MATRIX_A, m, k, arrays[MATRIX_A]);
    fill_matrix((enum fill)c->fill, c->seed, MATRIX_B, k, n, arrays[MATRIX_B]);
}

/* Of lab_truth.comparisons; the first one is as the fill allows. */
static const enum comparison named[] = {[1] = COMPARE_FLOAT32, COMPARE_BOUND, COMPARE_EXACT};

static struct problem problem_of(const struct lab_case *c, const void *const arrays[LAB_ARRAYS]) {
    const int m = shape_size(&c->shape, PARAM_M), n = shape_size(&c->shape, PARAM_N),
              k = shape_size(&c->shape, PARAM_K);
    const enum comparison comparison =
        c->comparison ? named[c->comparison] : fill_comparison((enum fill)c->fill, m, n, k);
    return (struct problem){
        m, n, k, arrays[MATRIX_A], arrays[MATRIX_B], arrays[MATRIX_C], comparison, c->seed};
}

static bool verify_product(const struct lab_case *c, const void *const arrays[LAB_ARRAYS],
                           struct verdict *verdict) {
    const struct problem problem = problem_of(c, arrays);
    return verify(&problem, verdict);
}

static int explain_product(const struct lab_case *c, const void *const arrays[LAB_ARRAYS],
                           const struct verdict *verdict, struct explanation *out) {
    const struct problem problem = problem_of(c, arrays);
    return explain(&problem, verdict, out);
}

static void say_fill(const struct lab_case *c, FILE *out) {
    const int n = shape_size(&c->shape, PARAM_N), k = shape_size(&c->shape, PARAM_K);
    if (c->fill == FILL_IDENTITY)
        fprintf(out,
                "Each value gives its place in B: row * %lld + column.\n"
                "Expected is C[i][j] = B[i %% k][j].\n",
                (long long)place_base(n));
    if (c->fill == FILL_INDEX)
        fprintf(out,
                "Each value gives its place in A: row * %lld + column.\n"
                "Expected is C[i][j] = A[i][j %% k].\n",
                (long long)place_base(k));
}

static void say_precision(const struct verdict *v, char text[MESSAGE_SIZE]) {
    snprintf(text, MESSAGE_SIZE,
             "The result is not float32: its errors are up to %.3g u of |A||B| (rms %.3g u), "
             "u = 2^-24, where float32 in any order stays below %g u (rms %g u). "
             "Were inputs or sums rounded to TF32, BF16 or FP16?",
             v->max_error_u, v->rms_error_u, FLOAT32_MAX_U, FLOAT32_RMS_U);
}

/* Each element of C takes a row of A and a column of B: as many loads as operations. */
static double operations(const struct shape *s) {
    return 2 * (double)s->of[PARAM_M] * (double)s->of[PARAM_N] * (double)s->of[PARAM_K];
}

/* Twenty times what a plain build of a naive kernel takes on two cores, and more. */
static double seconds(const struct shape *s) { return 10 + operations(s) / 40e6; }

/* Edges in all three dimensions; exchanged dimensions, both ways; less than a tile; whole tiles;
 * more than a block's threads in one direction. In the order m, n, k, as all here. */
static const struct shape to_check[] = {{{34, 34, 34}}, {{35, 20, 70}}, {{20, 35, 70}},
                                        {{48, 17, 5}},  {{1, 1, 1}},    {{7, 9, 3}},
                                        {{64, 64, 64}}, {{2, 1100, 3}}, {{1100, 2, 40}}};
static const struct shape to_count[] = {{{64, 64, 64}}}, whole[] = {{{64, 64, 256}}};
/* Several tile phases in one of them, tiles of 2 to 128; the first one otherwise. */
static const struct shape with_phases[] = {
    {{4, 4, 4}}, {{34, 34, 34}}, {{130, 130, 130}}, {{4, 4, 4}}};

/* Two blocks in one direction and three in the other; four phases; edges in all of them. */
static bool telling_shape(int number, int tile, struct shape *shape) {
    const int64_t two = lab_prime_from(tile + tile / 2 + 1), three = lab_prime_from(2 * tile + 5),
                  four = lab_prime_from(three + tile);
    const struct shape list[] = {{{three, two, four}}, {{two, three, four}}, {{four, three, two}}};
    if (number < LENGTH(list)) *shape = list[number];
    return number < LENGTH(list);
}

/* A block whole, the edges of the next ones, two or three tile phases, the last one not whole. */
static bool page_shape(int number, int tile, struct shape *shape) {
    const int edge = max_int(tile / 4, 1), phases = tile < 32 ? 2 : 1; /* whole ones */
    *shape = (struct shape){{tile + edge, tile + edge, phases * tile + edge}};
    return number == 0;
}

static bool listed(const struct shape *list, int count, int number, struct shape *shape) {
    if (number < count) *shape = list[number];
    return number < count;
}

static bool shape_for(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    switch (purpose) {
    case SHAPE_CHECK: return listed(to_check, LENGTH(to_check), number, shape);
    case SHAPE_TELL: return telling_shape(number, width, shape);
    case SHAPE_COUNT: return listed(to_count, LENGTH(to_count), number, shape);
    case SHAPE_WHOLE: return listed(whole, LENGTH(whole), number, shape);
    case SHAPE_PHASES: return listed(with_phases, LENGTH(with_phases), number, shape);
    case SHAPE_PAGE: return page_shape(number, width, shape);
    }
    return false;
}

/* Kernels compute row * n + col in int, which must not overflow. */
static bool allows(const struct shape *s, char message[MESSAGE_SIZE]) {
    for (int i = 0; i < MATRIX_COUNT; i++) {
        int64_t extent[ENGINE_DIMENSIONS];
        const int64_t elements = lab_elements(&lab.arrays[i], s);
        if (elements <= INT32_MAX) continue;
        lab_extents(&lab.arrays[i], s, extent);
        snprintf(message, MESSAGE_SIZE,
                 "%s would be %lld x %lld = %s elements: a matrix has at most %s, "
                 "because kernels index with int",
                 lab.arrays[i].name, (long long)extent[0], (long long)extent[1],
                 grouped((uint64_t)elements).text, grouped(INT32_MAX).text);
        return false;
    }
    return true;
}

const struct lab_truth lab_truth = {
    .fill = fill,
    .verify = verify_product,
    .is_wrong = is_wrong,
    .comparisons = {"fill", "float32", "bound", "exact"},
    .explain = explain_product,
    .say_fill = say_fill,
    .say_precision = say_precision,
    .operations = operations,
    .naive_loads = operations,
    .seconds = seconds,
    .shape = shape_for,
    .allows = allows,
};
