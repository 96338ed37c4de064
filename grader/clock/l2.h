/* l2.h: leaves a GPU as a timed call should find it. Works in the current CUDA context; used by
 * ./clock and by `make bench`. Failures leave a reason in l2_error(). */
#ifndef L2_H
#define L2_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct l2;

/* A buffer of twice the L2 cache. NULL: no memory for it. */
struct l2 *l2_new(void);
void l2_free(struct l2 *l2); /* NULL is fine */
const char *l2_error(void);

/* Nothing of what was used before is in the L2 cache afterwards: lines that a kernel made
 * persisting become ordinary ones, and twice the cache's size is overwritten. Asynchronous. */
bool l2_flush(struct l2 *l2, cudaStream_t stream);

/* Keep the stream busy for 100,000 cycles, some 50 microseconds, so that what is enqueued behind it
 * meanwhile (an event, a call, an event) is not waited for: between the two events then lies the
 * GPU's time, and not the host's time to find a kernel and launch it, of which cuBLAS takes more
 * than others. Asynchronous; synchronise first. Goes into no graph. */
bool l2_hold(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
