/* __pipeline_memcpy_async: tiles that are fetched while the ones before are worked on; and waits.
 */
#include "check.h"
#include <cuda_pipeline.h>

enum { TILE = 64, TILES = 10 };

__global__ void sums(const float *in, float *out) {
    __shared__ __align__(16) float tile[2][TILE];
    int i = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][i * 4], &in[i * 4], sizeof(float4));
    __pipeline_commit();
    for (int t = 0; t < TILES; ++t) {
        if (t + 1 < TILES)
            __pipeline_memcpy_async(&tile[(t + 1) % 2][i * 4], &in[(t + 1) * TILE + i * 4],
                                    sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int j = 0; j < 4; ++j) sum += tile[t % 2][TILE - 1 - (i * 4 + j)];
        __syncthreads();
    }
    out[i] = sum;
}

/* Of each size, with zeros at the end. */
__global__ void filled(const float *in, float *out) {
    __shared__ __align__(16) float to[4][4];
    for (int i = 0; i < 4; ++i) to[3][i] = -1;
    __pipeline_memcpy_async(to[0], in, 16, 8); /* the last 8 bytes become 0 */
    __pipeline_memcpy_async(to[1], in, 8);
    __pipeline_memcpy_async(to[1] + 2, in + 1, 4);
    __pipeline_memcpy_async(to[1] + 3, in + 5, 4, 4);
    __pipeline_memcpy_async(to[2], in, 16, 4);
    __pipeline_memcpy_async(to[3], in, 4, 1); /* the last byte of a word */
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 16; ++i) out[i] = to[i / 4][i % 4];
}

/* Every thread counts its own groups: here, as many as its index says, none of the others'. */
__global__ void own_groups(const float *in, float *out) {
    __shared__ float to[32][32];
    int i = threadIdx.x;
    for (int group = 0; group <= i; ++group) {
        __pipeline_memcpy_async(&to[i][group], &in[group], 4);
        __pipeline_commit();
    }
    __pipeline_commit(); /* an empty one is one, too */
    __pipeline_wait_prior(1);
    float sum = 0;
    for (int group = 0; group <= i; ++group) sum += to[i][group];
    out[i] = sum;
}

/* What is on its way when a thread returns, arrives all the same. */
__global__ void returns_early(const float *in, float *out) {
    __shared__ float to[32];
    int i = threadIdx.x;
    __syncthreads();
    if (i > 0) {
        __pipeline_memcpy_async(&to[i], &in[i], 4);
        if (i % 2) __pipeline_commit();
        return;
    }
    for (int wait = 0; wait < 1000; ++wait) __nanosleep(1000);
    __syncthreads();
    for (int j = 1; j < 32; ++j) out[j] = to[j];
}

/* Copies arrive here as late as a GPU may let them, so that a wait which is missing, or too weak,
 * shows. A GPU has mostly made the copy by then, and these kernels pass there, too. */
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

/* More of them than before, when some have arrived. */
__global__ void goes_on(const float *in, float *out) {
    __shared__ float to[24];
    for (int i = 0; i < 24; ++i) {
        __pipeline_memcpy_async(&to[i], &in[i], 4);
        if (i == 9 || i == 14 || i == 23) __pipeline_commit();
        if (i == 14) __pipeline_wait_prior(1);
    }
    __pipeline_wait_prior(0);
    for (int i = 0; i < 24; ++i) out[i] = to[i];
}

int main() {
    float *in = visible<float>(TILE * TILES), *out = visible<float>(256);
    for (int i = 0; i < TILE * TILES; ++i) in[i] = i % TILE + 1;
    RUN(sums<<<1, 16>>>(in, out));
    for (int i = 0; i < 16; ++i) EXPECT(out[i], TILES * (4.0f * (TILE - i * 4) - 6));

    RUN(filled<<<1, 1>>>(in, out));
    const float expected[] = {1, 2, 0, 0, 1, 2, 2, 0, 1, 2, 3, 0, 0, -1, -1, -1};
    for (int i = 0; i < 16; ++i)
        if (i != 12) EXPECT(out[i], expected[i]);
    unsigned word;
    memcpy(&word, &out[12], sizeof word);
    EXPECT(word, 0x00800000u); /* of 1.0f, 0x3F800000 */

    RUN(own_groups<<<1, 32>>>(in, out));
    for (int i = 0; i < 32; ++i) EXPECT(out[i], (i + 1) * (i + 2) / 2.0f);

    RUN(returns_early<<<1, 32>>>(in, out));
    for (int i = 1; i < 32; ++i) EXPECT(out[i], in[i]);

    RUN(looks_early<<<1, 1>>>(in, out));
#ifdef CUDA_EMULATOR
    const bool late = true;
#else
    const bool late = false;
#endif
    const float waited_for[] = {-1, -1, 1, -1, 2, -1, 3}, arrived[] = {1, 1, 1, 2, 2, 3, 3};
    for (int i = 0; i < 7; ++i) CHECK(out[i] == waited_for[i] || (!late && out[i] == arrived[i]));

    RUN(leaves_many<<<1, 1>>>(in, out));
    EXPECT(out[0] + out[1], 2.0f);
    CHECK(out[2] == -1 || (!late && out[2] == 1));

    RUN(goes_on<<<1, 1>>>(in, out));
    for (int i = 0; i < 24; ++i) EXPECT(out[i], in[i]);
    return verdict();
}
