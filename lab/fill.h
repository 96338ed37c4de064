/* What A and B hold: a pure function of the fill and the seed. */
#ifndef LAB_FILL_H
#define LAB_FILL_H
#include "../engine/lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Positions in lab.arrays. */
enum matrix_name { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_COUNT };

/* Positions in lab.fills, which says what they are. */
enum fill {
    FILL_RANDOM,
    FILL_ONES_TWOS,
    FILL_IDENTITY,
    FILL_INDEX,
    FILL_EXACT, /* integers that TF32 and BF16 cannot hold and float32 adds up exactly */
    FILL_EXTREMES,
    FILL_COUNTING,
    FILL_COUNT
};

/* Element (row, col) of matrix A or B, rows x cols, of a fill and seed: a pure function, so that
 * any part of a matrix can be made again anywhere. */
float fill_element(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                   int row, int col);

/* All of it into out[rows * cols], the caller's; on all cores when it is large. */
void fill_matrix(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                 float *out);

/* In a fill whose values are their own places, element (row, col) of a matrix with cols columns is
 * row * place_base(cols) + col (the row modulo so many that it stays below 2^24). */
int64_t place_base(int cols);

#ifdef __cplusplus
}
#endif
#endif
