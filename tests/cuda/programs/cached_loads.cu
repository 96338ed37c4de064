/* __ldg and its relatives load what a plain read loads. */
#include "check.h"

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
    float *in = visible<float>(256), *out = visible<float>(256);
    int *ints = visible<int>(64);
    for (int i = 0; i < 256; ++i) in[i] = i;
    for (int i = 0; i < 64; ++i) ints[i] = 1000;
    loads<<<1, 64>>>(in, (const float4 *)in, ints, out);
    RUN();
    for (int i = 0; i < 64; ++i) {
        EXPECT(out[i * 4], i + 1000.0f);
        EXPECT(out[i * 4 + 1], i * 8 + 3.0f);
        EXPECT(out[i * 4 + 2], i * 3.0f);
        EXPECT(out[i * 4 + 3], 6.0f);
    }
    return verdict();
}
