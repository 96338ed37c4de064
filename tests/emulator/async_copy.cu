/* __pipeline_memcpy_async: tiles that are fetched while the ones before are worked on. */
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
__global__ void filled(const float *in, float *out) {
    __shared__ __align__(16) float four[4];
    __pipeline_memcpy_async(four, in, 16, 8); /* the last 8 bytes become 0 */
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; ++i) out[i] = four[i];
}

int main() {
    float *in = visible<float>(TILE * TILES), *out = visible<float>(16);
    for (int i = 0; i < TILE * TILES; ++i) in[i] = i % TILE + 1;
    sums<<<1, 16>>>(in, out);
    RUN();
    for (int i = 0; i < 16; ++i) {
        float sum = 0;
        for (int j = 0; j < 4; ++j) sum += TILES * (TILE - (i * 4 + j));
        EXPECT(out[i], sum);
    }
    filled<<<1, 1>>>(in, out);
    RUN();
    EXPECT(out[0] + out[1], 3.0f);
    EXPECT(out[2] + out[3], 0.0f);
    return verdict();
}
