/* product.h: one product C = A B on a GPU, and everything about it that has to be trusted: the
 * matrices, the product in double precision, cuBLAS, to which speed is compared, and the verdict on
 * a C.
 *
 * All of it works on the default stream of the CUDA context that is current when product_new() is
 * called, which has to be current in every later call; the runtime's functions only. A and B are
 * row-major and without padding; parameters are in the order m, n, k.
 *
 * What returns bool judges when it returns false: the machine is at fault. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "judgement.h"
#include <cuda_runtime_api.h>
#include <stdint.h>

struct product;

/* What became of one C. As in docs/sgemm.md: an element is wrong when it is off by more than
 * gamma_{k+2} |A||B| (a NaN always is), unwritten when it still has the bits of
 * product_poison(); all elements within the bound, but less precise than float32 in any order of
 * summation: not_float32. */
struct product_verdict {
    size_t wrong, unwritten; /* no element is both */
    int row, col;            /* the first of the wrong ones, or of the unwritten; else -1 */
    float got;               /* ... what C holds there, */
    double expected;         /* ... and what the product is */
    double max_u, rms_u;     /* |C - AB| / (u |A||B|): largest, root of the mean square */
    bool not_float32;
};

/* Matrices are allocated but not filled. NULL: judged. */
struct product *product_new(int m, int n, int k, struct judgement *judgement);

/* Waits for the whole device first. NULL is nothing. */
void product_free(struct product *product);

/* New A and B, uniform on (-1, 1), each element a pure function of seed and place: the same that
 * fill_element(FILL_RANDOM, seed, ...) of support.h gives. Then AB and |A||B| by cublasDgemm.
 * Returns when all of it is done. */
bool product_fill(struct product *product, uint64_t seed, struct judgement *judgement);

/* On the device; for reading. */
const float *product_A(const struct product *product);
const float *product_B(const struct product *product);

/* Set all m n elements of C to the pattern of an element that was never written; asynchronous. */
bool product_poison(const struct product *product, float *C, struct judgement *judgement);

/* One call of cublasGemmEx, C = AB in CUBLAS_COMPUTE_32F_PEDANTIC: float32 throughout, whatever
 * NVIDIA_TF32_OVERRIDE says. Asynchronous; it allocates nothing. */
bool product_cublas(struct product *product, float *C, struct judgement *judgement);

/* Compare C with the product of the last product_fill(). Waits for the whole device first. */
bool product_verdict(struct product *product, const float *C, struct product_verdict *verdict,
                     struct judgement *judgement);

/* Whether the verdict is that C is right. */
bool verdict_passed(const struct product_verdict *verdict);

#endif
