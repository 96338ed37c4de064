/* What the loads and stores of a kernel compute: from a trace (trace.h) to an index formula
 * (formula.h) for each access that the source has. */
#ifndef ENGINE_EXPLAIN_RECOVER_H
#define ENGINE_EXPLAIN_RECOVER_H
#include "../../cuda/runtime/runtime.h" /* struct place */
#include "../../watch/record/trace.h"
#include "rows.h"

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
    uint8_t *of; /* for each access of the trace: which of `access`; RECOVERED: none */
};

/* Recovers all accesses of the trace, by the order of their lines. False: out of memory. The caller
 * frees the recovery's parts with recover_free(). */
bool recover(const struct trace *trace, value_decoder *decode, struct recovery *recovery);
void recover_free(struct recovery *recovery);

/* Thread and block of an access, its phase, and its step among those of the same recovered access
 * by the same thread in the same phase. */
void recover_sample(const struct recovery *recovery, size_t access, int step,
                    struct index_sample *sample);

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
