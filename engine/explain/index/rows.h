/* Rows and columns of an index formula: offset = row * (elements of a row) + column. */
#ifndef ENGINE_EXPLAIN_ROWS_H
#define ENGINE_EXPLAIN_ROWS_H
#include "formula.h"

/* A sum of terms: what a row or a column number is computed from. */
struct part {
    long long constant;
    int terms;
    struct index_term term[INDEX_TERMS];
};

struct layout {
    int size;   /* which of the sizes is taken for the elements of a row; -1: none, there is one row
                 */
    bool mixed; /* other terms are multiples of other sizes */
    struct part row, col;
};

/* Divides a formula into row and column. The coefficients of rows are multiples of a size; if
 * several sizes could be meant, `expected` is. Sizes must be primes beyond any other coefficient.
 */
struct layout layout_of(const struct index_formula *formula, const struct index_size *sizes,
                        size_t count, int expected);

/* Sets of variables, a bit each. */
#define LAYOUT_THREAD (1u << INDEX_THREAD_X | 1u << INDEX_THREAD_Y | 1u << INDEX_THREAD_Z)
#define LAYOUT_BLOCK (1u << INDEX_BLOCK_X | 1u << INDEX_BLOCK_Y | 1u << INDEX_BLOCK_Z)
#define LAYOUT_PHASE (1u << INDEX_PHASE)
#define LAYOUT_STEP (1u << INDEX_STEP)

/* Whether a part has terms of any of these variables. */
bool part_has(const struct part *part, unsigned variables);
/* Whether two parts have the same terms of these variables. */
bool part_same(const struct part *a, const struct part *b, unsigned variables);
/* The coefficient of a variable, all of whose bits count; 0: it has none, or digits only. */
long long part_coefficient(const struct part *part, enum index_variable variable);
/* Its value for these values of the variables, phases counted as `formula` counts them. */
long long part_value(const struct part *part, const struct index_formula *formula,
                     const int value[INDEX_VARIABLES]);
/* Writes it as C. */
void part_write(char *text, size_t size, const struct part *part);

#endif
