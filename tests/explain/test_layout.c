/* Tests of engine/explain/index/rows.c, and of index_split(): which terms of an index formula
 * belong to the row and which to the column, by the sizes that their coefficients are multiples of.
 */
#include "../../engine/explain/index/formula.c"
#include "../../engine/explain/index/rows.c"

#include "../check.h"

enum { M = 37, N = 29, K = 53 };
enum { BY_M, BY_N, BY_K };
static const struct index_size sizes[] = {{"m", M}, {"n", N}, {"k", K}};

#define TERM(coefficient, variable)                                                                \
    { coefficient, INDEX_##variable, 0, 0 }

/* A formula, and what its row and its column are; the matrix's rows should be k elements long. */
struct row {
    struct index_formula formula;
    int size; /* of the elements of a row; -1: no row */
    bool mixed;
    const char *row, *col;
};

static void check_row(const struct row *expected) {
    const struct layout l = layout_of(&expected->formula, sizes, 3, BY_K);
    char row[200], col[200];
    part_write(row, sizeof row, &l.row);
    part_write(col, sizeof col, &l.col);
    CHECK_STRING(row, expected->row);
    CHECK_STRING(col, expected->col);
    CHECK_THAT(l.size == expected->size && l.mixed == expected->mixed, "row %s: size %d, mixed %d",
               row, l.size, l.mixed);
}

TEST(rows_and_columns) {
    static const struct row rows[] = {
        {{0,
          4,
          {TERM(16 * K, BLOCK_Y), TERM(K, THREAD_Y), TERM(16, PHASE), TERM(1, THREAD_X)},
          0,
          1},
         BY_K,
         false,
         "16 * blockIdx.y + threadIdx.y",
         "16 * phase + threadIdx.x"},
        {{0, 2, {TERM(K, THREAD_X), TERM(1, THREAD_Y)}, 0, 1},
         BY_K,
         false,
         "threadIdx.x",
         "threadIdx.y"},
        {{7, 1, {TERM(1, THREAD_X)}, 0, 1}, -1, false, "0", "threadIdx.x + 7"},
        {{0, 2, {{K, INDEX_THREAD_X, 4, 0}, {1, INDEX_THREAD_X, 0, 4}}, 0, 1},
         BY_K,
         false,
         "threadIdx.x / 16",
         "threadIdx.x % 16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

/* The size that is expected is taken wherever it can be meant. */
TEST(rows_of_another_length) {
    static const struct row rows[] = {
        {{0, 2, {TERM(N, THREAD_Y), TERM(1, THREAD_X)}, 0, 1},
         BY_N,
         false,
         "threadIdx.y",
         "threadIdx.x"},
        {{0, 3, {TERM(N, THREAD_Y), TERM(16 * K, BLOCK_Y), TERM(1, THREAD_X)}, 0, 1},
         BY_K,
         true,
         "16 * blockIdx.y",
         "29 * threadIdx.y + threadIdx.x"},
        {{0, 3, {TERM(N, THREAD_Y), TERM(16 * M, BLOCK_Y), TERM(1, THREAD_X)}, 0, 1},
         BY_N,
         true,
         "threadIdx.y",
         "592 * blockIdx.y + threadIdx.x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

/* Rows of one element each have no size that could be recognized. */
TEST(a_size_of_one) {
    static const struct index_size vector[] = {{"m", M}, {"n", 1}, {"k", K}};
    static const struct index_formula f = {0, 1, {TERM(1, THREAD_Y)}, 0, 1};
    CHECK_INT(layout_of(&f, vector, 3, BY_N).size, -1);
}

/* Whole rows, and the columns that are nearest to one. */
TEST(constants) {
    static const struct {
        long long constant, row, col;
    } rows[] = {
        {0, 0, 0},
        {1, 0, 1},
        {-1, 0, -1},
        {K, 1, 0},
        {-K, -1, 0},
        {K + 1, 1, 1},
        {K - 1, 1, -1},
        {-K - 1, -1, -1},
        {1 - K, -1, 1},
        {K / 2, 0, K / 2},
        {K / 2 + 1, 1, -(K / 2)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct index_formula f = {rows[i].constant, 1, {TERM(K, THREAD_Y)}, 0, 1};
        const struct layout l = layout_of(&f, sizes, 3, BY_K);
        CHECK_INT(l.row.constant, rows[i].row);
        CHECK_INT(l.col.constant, rows[i].col);
    }
}

/* A[(i + y) * k + i + x] has k + 1 for i, and i in both. Where nothing else counts rows, a number
 * that happens to be k + 1 says nothing. */
TEST(a_variable_of_row_and_column) {
    static const struct row row = {
        {0, 3, {TERM(K + 1, STEP), TERM(K, THREAD_Y), TERM(1, THREAD_X)}, 0, 1},
        BY_K,
        false,
        "threadIdx.y + step",
        "threadIdx.x + step"};
    static const struct index_formula chance = {0, 1, {TERM(K + 1, STEP)}, 0, 1};
    check_row(&row);
    CHECK_INT(index_split(&chance, sizes, 3).terms, 1);
    const struct index_formula split = index_split(&row.formula, sizes, 3);
    CHECK_INT(split.terms, 4);
    for (int i = 0; i < INDEX_VARIABLES; i++) {
        int value[INDEX_VARIABLES] = {0};
        value[i] = 5;
        CHECK_INT(index_offset(&split, value), index_offset(&row.formula, value));
    }
}

TEST(what_is_not_split) {
    static const struct index_formula
        others = {0, 3, {TERM(K, STEP), TERM(K + 2, PHASE), TERM(2, THREAD_X)}, 0, 1},
        one = {0, 1, {TERM(2, THREAD_X)}, 0, 1};
    static const struct index_size vector[] = {{"m", 1}}; /* 2 is no row of one and a column */
    CHECK_INT(index_split(&others, sizes, 3).terms, 3);
    CHECK_INT(index_split(&one, vector, 1).terms, 1);
}

TEST(terms_without_room_are_not_split) {
    struct index_formula full = {.terms = INDEX_TERMS, .phase_every = 1};
    for (int i = 0; i < INDEX_TERMS; i++)
        full.term[i] = (struct index_term){K + 1, INDEX_THREAD_X, i, 1};
    const struct index_formula split = index_split(&full, sizes, 3);
    CHECK_INT(split.terms, INDEX_TERMS);
    CHECK_INT(split.term[INDEX_TERMS - 1].coefficient, K + 1);
}

/* Of (16 * blockIdx.y + threadIdx.y) * k + 16 * phase + threadIdx.x / 16, counted from phase 3 on
 * in every second. */
static const struct index_formula a_load = {
    2, 4, {TERM(16 * K, BLOCK_Y), TERM(K, THREAD_Y), TERM(16, PHASE), {1, INDEX_THREAD_X, 4, 0}},
    3, 2,
};

TEST(what_a_part_has) {
    const struct layout l = layout_of(&a_load, sizes, 3, BY_K);
    CHECK(part_has(&l.row, LAYOUT_BLOCK) && part_has(&l.row, LAYOUT_THREAD));
    CHECK(!part_has(&l.row, LAYOUT_PHASE | LAYOUT_STEP));
    CHECK(part_has(&l.col, LAYOUT_PHASE) && !part_has(&l.col, LAYOUT_BLOCK));
    CHECK_INT(part_coefficient(&l.row, INDEX_BLOCK_Y), 16);
    CHECK_INT(part_coefficient(&l.row, INDEX_THREAD_X), 0);
    CHECK_INT(part_coefficient(&l.col, INDEX_THREAD_X), 0); /* some of its digits only */
}

TEST(parts_that_are_the_same) {
    static const struct part a = {0, 2, {TERM(16, BLOCK_Y), TERM(1, THREAD_Y)}},
                             turned = {5,
                                       3,
                                       {TERM(1, THREAD_Y), TERM(16, BLOCK_Y), TERM(8, PHASE)}},
                             wider = {0, 2, {TERM(32, BLOCK_Y), TERM(1, THREAD_Y)}};
    CHECK(part_same(&a, &turned, LAYOUT_BLOCK | LAYOUT_THREAD));
    CHECK(!part_same(&a, &turned, LAYOUT_PHASE) && !part_same(&turned, &a, LAYOUT_PHASE));
    CHECK(!part_same(&a, &wider, LAYOUT_BLOCK) && part_same(&a, &wider, LAYOUT_THREAD));
}

TEST(values_of_parts) {
    const struct layout l = layout_of(&a_load, sizes, 3, BY_K);
    int value[INDEX_VARIABLES] = {0};
    value[INDEX_THREAD_X] = 35;
    value[INDEX_THREAD_Y] = 4;
    value[INDEX_BLOCK_Y] = 1;
    value[INDEX_PHASE] = 7;
    CHECK_INT(part_value(&l.row, &a_load, value), 16 + 4);
    CHECK_INT(part_value(&l.col, &a_load, value), 16 * 2 + 35 / 16 + 2);
}
