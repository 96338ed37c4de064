/* Tests of layout_of() of engine/explain/index/formula.c, and of index_split(): which terms of an
 * index formula belong to the row and which to the column, by the sizes that their coefficients are
 * multiples of.
 */
#include "../../engine/explain/index/formula.c"

#include "../check.h"

enum { M = 37, N = 29, K = 53 };
enum { BY_M, BY_N, BY_K };
static const struct index_size sizes[] = {{"m", M}, {"n", N}, {"k", K}};

#define TERM(coefficient, variable)                                                                \
    { coefficient, INDEX_##variable, 0, 0 }

/* A sum of a constant and terms. */
#define FORMULA(constant, ...)                                                                     \
    (struct index_formula) {                                                                       \
        constant, sizeof((struct index_term[]){__VA_ARGS__}) / sizeof(struct index_term),          \
            {__VA_ARGS__}, 0, 1                                                                    \
    }

/* The matrix's rows should be k elements long; they are `size` (-1: no row). */
static void check_layout(struct index_formula formula, int size, bool mixed, const char *row,
                         const char *col) {
    const struct layout l = layout_of(&formula, sizes, 3, BY_K);
    char row_text[200], col_text[200];
    index_write(row_text, sizeof row_text, &l.row, NULL, 0);
    index_write(col_text, sizeof col_text, &l.col, NULL, 0);
    CHECK_STRING(row_text, row);
    CHECK_STRING(col_text, col);
    CHECK_THAT(l.size == size && l.mixed == mixed, "row %s: size %d, mixed %d", row, l.size,
               l.mixed);
}

/* The size that is expected is taken wherever it can be meant. */
TEST(rows_and_columns) {
    check_layout(
        FORMULA(0, TERM(16 * K, BLOCK_Y), TERM(K, THREAD_Y), TERM(16, PHASE), TERM(1, THREAD_X)),
        BY_K, false, "16 * blockIdx.y + threadIdx.y", "16 * phase + threadIdx.x");
    check_layout(FORMULA(0, TERM(K, THREAD_X), TERM(1, THREAD_Y)), BY_K, false, "threadIdx.x",
                 "threadIdx.y");
    check_layout(FORMULA(7, TERM(1, THREAD_X)), -1, false, "0", "threadIdx.x + 7");
    check_layout(FORMULA(0, {K, INDEX_THREAD_X, 4, 0}, {1, INDEX_THREAD_X, 0, 4}), BY_K, false,
                 "threadIdx.x / 16", "threadIdx.x % 16");
    check_layout(FORMULA(0, TERM(N, THREAD_Y), TERM(1, THREAD_X)), BY_N, false, "threadIdx.y",
                 "threadIdx.x");
    check_layout(FORMULA(0, TERM(N, THREAD_Y), TERM(16 * K, BLOCK_Y), TERM(1, THREAD_X)), BY_K,
                 true, "16 * blockIdx.y", "29 * threadIdx.y + threadIdx.x");
    check_layout(FORMULA(0, TERM(N, THREAD_Y), TERM(16 * M, BLOCK_Y), TERM(1, THREAD_X)), BY_N,
                 true, "threadIdx.y", "592 * blockIdx.y + threadIdx.x");
}

/* Rows of one element each have no size that could be recognized. */
TEST(a_size_of_one) {
    static const struct index_size vector[] = {{"m", M}, {"n", 1}, {"k", K}};
    CHECK_INT(layout_of(&FORMULA(0, TERM(1, THREAD_Y)), vector, 3, BY_N).size, -1);
}

/* Whole rows, and the columns before or behind one: to three quarters of it behind. */
TEST(constants) {
    static const int rows[][3] = {/* the constant, its rows and its columns */
                                  {0, 0, 0},
                                  {1, 0, 1},
                                  {-1, 0, -1},
                                  {K, 1, 0},
                                  {-K, -1, 0},
                                  {K + 1, 1, 1},
                                  {K - 1, 1, -1},
                                  {-K - 1, -1, -1},
                                  {1 - K, -1, 1},
                                  {K * 3 / 4, 0, K * 3 / 4},
                                  {K * 3 / 4 + 1, 1, K * 3 / 4 + 1 - K}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct layout l = layout_of(&FORMULA(rows[i][0], TERM(K, THREAD_Y)), sizes, 3, BY_K);
        CHECK_INT(l.row.constant, rows[i][1]);
        CHECK_INT(l.col.constant, rows[i][2]);
    }
}

/* A[(i + y) * k + i + x] has k + 1 for i, and i in both. Where nothing else counts rows, a number
 * that happens to be k + 1 says nothing. */
TEST(a_variable_of_row_and_column) {
    const struct index_formula both =
        FORMULA(0, TERM(K + 1, STEP), TERM(K, THREAD_Y), TERM(1, THREAD_X));
    check_layout(both, BY_K, false, "threadIdx.y + step", "threadIdx.x + step");
    CHECK_INT(index_split(&FORMULA(0, TERM(K + 1, STEP)), sizes, 3).terms, 1);
    const struct index_formula split = index_split(&both, sizes, 3);
    CHECK_INT(split.terms, 4);
    for (int i = 0; i < INDEX_VARIABLES; i++) {
        int value[INDEX_VARIABLES] = {0};
        value[i] = 5;
        CHECK_INT(index_offset(&split, value), index_offset(&both, value));
    }
}

TEST(what_is_not_split) {
    static const struct index_size vector[] = {{"m", 1}}; /* 2 is no row of one and a column */
    const struct index_formula others =
        FORMULA(0, TERM(K, STEP), TERM(K + 2, PHASE), TERM(2, THREAD_X));
    CHECK_INT(index_split(&others, sizes, 3).terms, 3);
    CHECK_INT(index_split(&FORMULA(0, TERM(2, THREAD_X)), vector, 1).terms, 1);
    struct index_formula full = {.terms = INDEX_TERMS, .phase_every = 1}; /* there is no room */
    for (int i = 0; i < INDEX_TERMS; i++)
        full.term[i] = (struct index_term){K + 1, INDEX_THREAD_X, i, 1};
    const struct index_formula split = index_split(&full, sizes, 3);
    CHECK_INT(split.terms, INDEX_TERMS);
    CHECK_INT(split.term[INDEX_TERMS - 1].coefficient, K + 1);
}
