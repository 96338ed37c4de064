/* Arrays of each thread's own, small and large: 64 KB for each of 1024 threads, kept over barriers.
 */
#include "check.h"

__global__ void registers_of_tiles(float *out) {
    float accumulators[8][8] = {}, a[8], b[8] = {0};
    for (int i = 0; i < 8; ++i) a[i] = b[i] = i + threadIdx.x;
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 8; ++j) accumulators[i][j] += a[i] * b[j];
    float sum = 0;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sum += accumulators[i][j];
    out[threadIdx.x] = sum;
}

template <int WORDS> __global__ void large(int *out) {
    int local[WORDS];
    for (int i = 0; i < WORDS; ++i) local[i] = i ^ threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < WORDS; ++i) sum += local[(i * 7) % WORDS];
    __syncthreads();
    out[threadIdx.x] = sum;
}

int main() {
    float *f = visible<float>(64);
    int *out = visible<int>(1024);
    registers_of_tiles<<<1, 64>>>(f);
    RUN();
    for (int t = 0; t < 64; ++t) EXPECT(f[t], 3.0f * (28 + 8 * t) * (28 + 8 * t));
    large<16 * 1024><<<1, 1024>>>(out);
    RUN();
    for (int t = 0; t < 1024; ++t) {
        int sum = 0;
        for (int i = 0; i < 16 * 1024; ++i) sum += i ^ t;
        EXPECT(out[t], sum);
    }
    large<1024><<<3, 33>>>(out);
    RUN();
    EXPECT(out[0], 1023 * 512);
    return verdict();
}
