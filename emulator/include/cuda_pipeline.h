/* The asynchronous copies from global to shared memory (cp.async) in their plain C form. Here a
 * copy is done when the call returns, which is one of the orders that a GPU may choose. */
#ifndef EMULATOR_CUDA_PIPELINE_H
#define EMULATOR_CUDA_PIPELINE_H
#include "cuda_runtime.h"

/* `zero_fill` bytes at the end are not copied but set to 0. */
static inline void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes,
                                           size_t zero_fill = 0) {
    memcpy(shared, global, bytes - zero_fill);
    memset((char *)shared + bytes - zero_fill, 0, zero_fill);
}
static inline void __pipeline_commit(void) {}
static inline void __pipeline_wait_prior(size_t) {}
#endif
