/* Fused and unfused arithmetic: fmaf rounds once, __fmul_rn followed by __fadd_rn twice, whatever
 * the compiler may contract. */
#include "check.h"
#include <math.h>

__global__ void round_each(float *out, float a, float b, float c) {
    out[0] = fmaf(a, b, c);
    out[1] = __fmaf_rn(a, b, c);
    out[2] = __fadd_rn(__fmul_rn(a, b), c);
    out[3] = __fmul_rn(a, b) + c;
    out[4] = __fsub_rn(__fmul_rn(a, b), -c);
    out[5] = __fdiv_rn(a, 3.0f);
    out[6] = __fsqrt_rn(a * 2);
    out[7] = __frcp_rn(a * 3);
    out[8] = fma(a, b, c);
}

__global__ void doubles(double *out, double a, double b, double c) {
    out[0] = fma(a, b, c);
    out[1] = __fma_rn(a, b, c);
    out[2] = __dadd_rn(__dmul_rn(a, b), c);
}

int main() {
    float *out = visible<float>(16);
    double *wide = visible<double>(4);
    /* (1+e)(1-e) - 1 = -e^2, which a separate product rounds away. */
    const float e = ldexpf(1, -13);
    round_each<<<1, 1>>>(out, 1 + e, 1 - e, -1);
    const double d = ldexp(1, -28);
    doubles<<<1, 1>>>(wide, 1 + d, 1 - d, -1);
    RUN();
    EXPECT(out[0], -e * e);
    EXPECT(out[1], -e * e);
    EXPECT(out[2], 0.0f);
    EXPECT(out[3], 0.0f);
    EXPECT(out[4], 0.0f);
    EXPECT(out[5], (1 + e) / 3.0f);
    EXPECT(out[6], sqrtf((1 + e) * 2));
    EXPECT(out[7], 1 / ((1 + e) * 3));
    EXPECT(out[8], -e * e);
    EXPECT(wide[0], -d * d);
    EXPECT(wide[1], -d * d);
    EXPECT(wide[2], 0.0);
    return verdict();
}
