/* The asynchronous copies from global to shared memory (cp.async) in their plain C form.
 *
 * What ../runtime/copies.c makes of them is the strictest of what a GPU may do: a copy arrives when
 * its thread waits for its group, and not before. The other threads of the block see it after a
 * barrier behind that. */
#ifndef EMULATOR_CUDA_PIPELINE_PRIMITIVES_H
#define EMULATOR_CUDA_PIPELINE_PRIMITIVES_H
#include "cuda_runtime.h"

extern "C" {
void emulator_copy_async(void *to, const void *from, size_t bytes, size_t zeros);
void emulator_copy_commit(void);
void emulator_copy_wait(size_t groups_left);
}

/* The runtime finds a call's line by its return address: so the call is inlined into the
 * kernel, and never a tail call. */
#define EMULATOR_IN_THE_KERNEL static inline __device__ __attribute__((always_inline))

/* 4, 8 or 16 bytes, of which the last `zero_fill` are not copied but set to 0. */
EMULATOR_IN_THE_KERNEL void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes,
                                                    size_t zero_fill = 0) {
    emulator_copy_async(shared, global, bytes, zero_fill);
    __asm__ volatile("");
}
/* What was begun since the last call becomes a group. */
EMULATOR_IN_THE_KERNEL void __pipeline_commit(void) { emulator_copy_commit(); }
/* Until all groups but the last `prior` have arrived. */
EMULATOR_IN_THE_KERNEL void __pipeline_wait_prior(size_t prior) { emulator_copy_wait(prior); }
#endif
