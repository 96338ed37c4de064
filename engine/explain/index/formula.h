/* What a kernel's index expressions compute, recovered from the accesses of a run.
 *
 * In: samples of one access (one code location, one array): who accessed, when, and which element.
 * Out: the formula that gives each sample's element exactly, or none. A formula is a sum of digits
 * of the variables in base two, each times a coefficient:
 *
 *     threadIdx.x + k * threadIdx.y + 16 * phase         offsets of rows of k
 *     tid % 16 + 17 * (tid / 16)                          1-D blocks, rows of 16 padded
 *     threadIdx.x + 256 * (phase % 2)                     two buffers
 *
 * Whatever a kernel computes with +, *, and with / and % by powers of two has that form. */
#ifndef ENGINE_EXPLAIN_FORMULA_H
#define ENGINE_EXPLAIN_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

enum index_variable {
    INDEX_THREAD_X,
    INDEX_THREAD_Y,
    INDEX_THREAD_Z,
    INDEX_BLOCK_X,
    INDEX_BLOCK_Y,
    INDEX_BLOCK_Z,
    INDEX_PHASE, /* how many barriers the block had passed */
    INDEX_STEP,  /* how often this thread had been here in this phase */
    INDEX_VARIABLES
};

struct index_sample {
    int value[INDEX_VARIABLES]; /* none is negative */
    long long offset;           /* in elements, from the array's first */
};

/* coefficient * (variable / 2^shift % 2^bits); bits 0: no %. */
struct index_term {
    long long coefficient;
    enum index_variable variable;
    int shift, bits;
};

enum { INDEX_TERMS = 24 };

struct index_formula {
    long long constant;
    int terms;
    struct index_term term[INDEX_TERMS];
    /* The access is in every phase_every-th phase from phase_first on; `phase` counts those. */
    int phase_first, phase_every;
};

/* True, and *formula, if one formula gives the offset of all samples exactly. A variable that is
 * the same in all samples has no term. Needs a sample or more. */
bool index_fit(const struct index_sample *sample, size_t samples, struct index_formula *formula);

/* What the formula gives for these values of the variables. */
long long index_offset(const struct index_formula *formula, const int value[INDEX_VARIABLES]);

/* A size with a name: where a coefficient is a multiple of it, it is written so. */
struct index_size {
    const char *name; /* m, n, k */
    long long value;  /* over 1 */
};

/* The same formula with the terms apart that belong to a row and to a column at once: where a
 * coefficient is a size plus 1, beside multiples of the size, a variable counts both. */
struct index_formula index_split(const struct index_formula *formula,
                                 const struct index_size *sizes, size_t count);

/* Writes the formula as C; terms whose coefficients are multiples of one size are put together:
 * `(16 * phase + threadIdx.y) * k + threadIdx.x`. As much as fits into `size` bytes. */
void index_write(char *text, size_t size, const struct index_formula *formula,
                 const struct index_size *sizes, size_t count);

#endif
