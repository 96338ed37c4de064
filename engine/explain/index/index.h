/* What a kernel's index expressions compute, recovered from the accesses of a run: a formula for
 * each access that the source has. */
#ifndef ENGINE_EXPLAIN_INDEX_INDEX_H
#define ENGINE_EXPLAIN_INDEX_INDEX_H
#include "../../cuda/runtime/runtime.h" /* struct place */
#include "../../watch/record/record.h"
#include <stdbool.h>
#include <stddef.h>

/* --- formula.c --------------------------------------------------------------------------------
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

static inline bool index_is_multiple(long long coefficient, const struct index_size *size) {
    return size->value > 1 && coefficient % size->value == 0;
}

/* The same formula with the terms apart that belong to a row and to a column at once: where a
 * coefficient is a size plus 1, beside multiples of the size, a variable counts both. */
struct index_formula index_split(const struct index_formula *formula,
                                 const struct index_size *sizes, size_t count);

/* Writes the formula as C; terms whose coefficients are multiples of one size are put together:
 * `(16 * phase + threadIdx.y) * k + threadIdx.x`. As much as fits into `size` bytes. */
void index_write(char *text, size_t size, const struct index_formula *formula,
                 const struct index_size *sizes, size_t count);

/* Rows and columns of an index formula: offset = row * (elements of a row) + column. */
struct layout {
    int size;   /* which of the sizes is taken for the elements of a row; -1: none, there is one row
                 */
    bool mixed; /* other terms are multiples of other sizes */
    struct index_formula row, col;
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

/* Whether a part, a row or a column, has terms of any of these variables. */
bool part_has(const struct index_formula *part, unsigned variables);
/* Likewise, any with / or %. */
bool part_has_digits(const struct index_formula *part, unsigned variables);
/* Whether two parts have the same terms of these variables. */
bool part_same(const struct index_formula *a, const struct index_formula *b, unsigned variables);
/* The coefficient of a variable, or of its remainder; 0: it has none, or is divided. */
long long part_coefficient(const struct index_formula *part, enum index_variable variable);

/* --- recover.c: from a trace (record.h) to formulas ------------------------------------------- */

/* Which element of which array this value, of a shared array's element, is; false: of none. Only
 * where the run's inputs hold such values is it known what a shared array's elements
 * are. */
typedef bool value_decoder(double value, int *array, int64_t *offset);

/* All loads, or all stores, of one array in one line. */
struct recovered {
    struct place place;
    int array; /* as in struct trace */
    bool write, atomic;
    int elements; /* that one access moves */
    size_t count;
    size_t first; /* its first access in the trace */
    int phases;   /* intervals between barriers in which there are any, of one block */
    int steps;    /* how often a thread comes by in one interval, at most */
    int threads;  /* of one block that come by at all, at most */
    bool exact;   /* there is a formula, of the offset in elements */
    struct index_formula formula;
    unsigned varied; /* variables that had several values, a bit each: of others nothing is known */
    /* A load of shared memory: the array whose elements it gets, if of one only, and the formula
     * of their offset in that; negative: of none, or of several. Elements of no array (zeros
     * behind an edge) are left out. */
    int source;
    bool source_exact;
    struct index_formula source_formula;
    unsigned source_varied;
};

enum { RECOVERED = 48 };

struct recovery {
    const struct trace *trace;
    struct recovered access[RECOVERED];
    int count;
    /* For each access of the trace: which of `access`, RECOVERED: none; and its step among those of
     * the same recovered access by the same thread in the same phase. */
    uint8_t *of;
    int *step;
};

/* From now on the launches of another run, whose inputs hold other values: a formula that does not
 * hold in the same launch there, too, depends on what was loaded, and is none. */
void recover_beside(const struct trace *launches, int count);

/* Recovers all accesses of the trace, by the order of their lines. False: out of memory. The caller
 * frees the recovery's parts with recover_free(). */
bool recover(const struct trace *trace, value_decoder *decode, struct recovery *recovery);
void recover_free(struct recovery *recovery);

/* What the variables are in a thread of one of the trace's blocks. */
void recover_values(const struct trace *trace, int block, unsigned thread, int phase, int step,
                    int value[INDEX_VARIABLES]);
/* The same of an access that is of a recovered one, with its offset. */
void recover_sample(const struct recovery *recovery, size_t access, struct index_sample *sample);

/* Row and column of an index into a shared array. False: it has not two dimensions. */
bool recover_row_and_column(const struct trace_array *array, const struct index_formula *formula,
                            struct layout *layout);

/* The array's name. */
const char *recover_array_name(const struct recovery *recovery, int array);
/* Appends the array and the index as C has them: A[threadIdx.y * k + threadIdx.x], with sizes that
 * have a name; one index for each dimension of a shared array; A[...] if the index is not known. */
void recover_write(char *text, size_t size, const struct recovery *recovery,
                   const struct recovered *access, const struct index_size *sizes, size_t count);
/* The same of the element that a load from shared memory gets. */
void recover_write_source(char *text, size_t size, const struct recovery *recovery,
                          const struct recovered *access, const struct index_size *sizes,
                          size_t count);

#endif
