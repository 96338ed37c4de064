/* float arrays read and written through float4 and float2 pointers, in global, shared and local
 * memory, as kernels that move four elements at once do. __ldg and its relatives load what a plain
 * read loads. */
#include "check.h"

#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4 *>(&(pointer))[0])

__global__ void copy_reversed(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 v = reinterpret_cast<const float4 *>(in)[i];
    reinterpret_cast<float4 *>(out)[n / 4 - 1 - i] = make_float4(v.w, v.z, v.y, v.x);
}

__global__ void through_shared(float *data) {
    __shared__ __align__(16) float tile[16][16];
    float registers[4];
    int row = threadIdx.x / 4, col = threadIdx.x % 4 * 4;
    FETCH_FLOAT4(tile[row][col]) = FETCH_FLOAT4(data[row * 16 + col]);
    __syncthreads();
    for (int i = 0; i < 4; ++i) registers[i] = tile[col + i][row];
    *(float2 *)&data[row * 16 + col] = make_float2(registers[0], registers[1]);
    *(float2 *)&data[row * 16 + col + 2] = make_float2(registers[2], registers[3]);
}

/* Written as floats and read as float4 in the same thread: the order must be kept. */
__global__ void both_ways(float *data, float *out) {
    float *mine = data + threadIdx.x * 4;
    for (int i = 0; i < 4; ++i) mine[i] = i + 1;
    float4 v = *(float4 *)mine;
    *(float4 *)mine = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
    out[threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3] + v.w;
}

__global__ void packed(const uchar4 *pixels, int4 *sums) {
    uchar4 p = pixels[threadIdx.x];
    int4 *sum = &sums[threadIdx.x];
    sum->x = p.x + p.y;
    sum->y = p.z - p.w;
    sum->z = *(const int *)&p;
}

__global__ void loads(const float *__restrict__ in, const float4 *fours, const int *ints,
                      float *out) {
    int i = threadIdx.x;
    float4 four = __ldg(&fours[i]);
    out[i * 4] = __ldg(in + i) + __ldg(&ints[i]);
    out[i * 4 + 1] = four.x + four.w;
    out[i * 4 + 2] = __ldca(in + i) + __ldcs(in + i) + __ldcg(in + i);
    __stcs(&out[i * 4 + 3], 5.0f);
    __stwt(&out[i * 4 + 3], __ldlu(&out[i * 4 + 3]));
    __stwb(&out[i * 4 + 3], __ldcv(&out[i * 4 + 3]) + 1);
}

int main() {
    enum { N = 256 };
    float *in = visible<float>(N), *out = visible<float>(N);
    for (int i = 0; i < N; ++i) in[i] = i;
    RUN(copy_reversed<<<4, 16>>>(in, out, N));
    for (int i = 0; i < N; ++i) EXPECT(out[i], (float)(N - 1 - i));
    RUN(through_shared<<<1, 64>>>(in));
    for (int i = 0; i < N; ++i) EXPECT(in[i], (float)(i % 16 * 16 + i / 16));
    RUN(both_ways<<<1, 32>>>(in, out));
    EXPECT(out[31], 24.0f);

    uchar4 *pixels = visible<uchar4>(4);
    int4 *sums = visible<int4>(4);
    pixels[3] = make_uchar4(200, 100, 5, 6);
    RUN(packed<<<1, 4>>>(pixels, sums));
    EXPECT(sums[3].x, 300);
    EXPECT(sums[3].y, -1);
    EXPECT(sums[3].z, 200 + (100 << 8) + (5 << 16) + (6 << 24));

    int *ints = visible<int>(64);
    for (int i = 0; i < N; ++i) in[i] = i;
    for (int i = 0; i < 64; ++i) ints[i] = 1000;
    RUN(loads<<<1, 64>>>(in, (const float4 *)in, ints, out));
    for (int i = 0; i < 64; ++i) EXPECT_EACH(out + i * 4, i + 1000.0f, i * 8 + 3.0f, i * 3.0f, 6);
    return verdict();
}
