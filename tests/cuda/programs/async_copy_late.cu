/* Asynchronous copies arrive here as late as a GPU may let them: so that a wait which is missing,
 * or too weak, shows. A GPU has mostly made the copy by then, and this program passes there, too.
 */
#include "check.h"
#include <cuda_pipeline_primitives.h>

__device__ void take(const float *from, float *seen) { *seen = *(const volatile float *)from; }

/* seen: before any wait; after one for too few groups; after one for all that are committed; and
 * what was committed later. */
__global__ void looks_early(const float *in, float *seen) {
    __shared__ float to[3];
    to[0] = to[1] = to[2] = -1;
    __pipeline_memcpy_async(&to[0], &in[0], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&to[1], &in[1], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&to[2], &in[2], 4); /* in no group yet */
    take(&to[0], &seen[0]);
    __pipeline_wait_prior(2);
    take(&to[0], &seen[1]);
    __pipeline_wait_prior(1);
    take(&to[0], &seen[2]);
    take(&to[1], &seen[3]);
    __pipeline_wait_prior(0);
    take(&to[1], &seen[4]);
    take(&to[2], &seen[5]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    take(&to[2], &seen[6]);
}

/* A wait leaves 8 groups at most, whatever it is asked for. */
__global__ void leaves_many(const float *in, float *seen) {
    __shared__ float to[10];
    for (int i = 0; i < 10; ++i) {
        to[i] = -1;
        __pipeline_memcpy_async(&to[i], &in[0], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(9);
    for (int i = 0; i < 3; ++i) take(&to[i], &seen[i]);
}

int main() {
    float *in = visible<float>(3), *seen = visible<float>(7);
    for (int i = 0; i < 3; ++i) in[i] = i + 1;
    RUN(looks_early<<<1, 1>>>(in, seen));
#ifdef CUDA_EMULATOR
    const bool late = true;
#else
    const bool late = false;
#endif
    const float expected[] = {-1, -1, 1, -1, 2, -1, 3}, arrived[] = {1, 1, 1, 2, 2, 3, 3};
    for (int i = 0; i < 7; ++i) CHECK(seen[i] == expected[i] || (!late && seen[i] == arrived[i]));

    RUN(leaves_many<<<1, 1>>>(in, seen));
    EXPECT(seen[0] + seen[1], 2.0f);
    CHECK(seen[2] == -1 || (!late && seen[2] == 1));
    return verdict();
}
