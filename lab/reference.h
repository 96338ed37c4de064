/* The reference: C = A B in double precision. Row-major and without padding. */
#ifndef LAB_REFERENCE_H
#define LAB_REFERENCE_H
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Instruction sets that the reference is compiled for. The best one that the processor has is used
 * unless reference_set_isa() chooses another (for tests; false: not available). */
enum isa { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_COUNT };
bool reference_set_isa(enum isa isa);
enum isa reference_isa(void);
const char *isa_name(enum isa isa);

/* ref = A B and G = |A||B| in double precision, for any rows and any columns of C:
 * ref[i * col_count + j] belongs to element (rows[i], cols[j]). rows == NULL means 0, 1, 2, ...,
 * and so does cols == NULL. All memory is the caller's. False: no memory for the workspace. */
bool reference(const float *A, const float *B, int n, int k, const int *rows, int row_count,
               const int *cols, int col_count, double *ref, double *G);

#ifdef __cplusplus
}
#endif
#endif
