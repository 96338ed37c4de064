/* timer.h: times one piece of work on the GPU, a submission's and what stands beside it alike, in
 * the current CUDA context.
 *
 *     timer_start()    the GPU as a timed call should find it, then the first event
 *     ...              the work is enqueued on the default stream
 *     timer_holds()    whether it was in time: the GPU has not begun
 *     timer_stop()     the second event, the wait, the times */
#ifndef TIMER_H
#define TIMER_H
#include "../../engine/report/element_type.h"
#include "judgement.h"
#include <cuda.h>
#include <cuda_runtime_api.h>

struct timer;

/* With a buffer of twice the L2 cache. Ends with its process. */
cudaError_t timer_new(struct timer **timer);

/* Nothing of what was used before is in the L2 cache afterwards: lines that a kernel made
 * persisting become ordinary ones, and twice the cache's size is overwritten. The device is waited
 * for, and the stream is then held for 100,000 cycles, some 50 microseconds, while the host
 * enqueues the work: so the time between the two events is the GPU's, without the host's time to
 * choose a kernel and launch it, of which a library takes more than others. */
cudaError_t timer_start(struct timer *timer);

/* Whether the stream is still held. If not, the host was late, and the time between the events has
 * some of the host's in it. */
bool timer_holds(struct timer *timer);

/* An error is one of the work: a kernel's failure becomes that of every later call. */
cudaError_t timer_stop(struct timer *timer, struct times *times);

/* Poison on the device: what an output holds before each run that counts. Header only, and for C
 * and CUDA, since the clock and the benchmarks of BLAS libraries put it there alike. */

/* Whole words of these bytes of the device's memory. Asynchronous, on the default stream. */
static inline CUresult poison_device(CUdeviceptr begin, size_t bytes) {
    return cuMemsetD32Async(begin, POISON_BITS, bytes / sizeof(uint32_t), NULL);
}

#endif
