// SGEMM: the call of a submission's wrapper.
#include "../engine/lab.h"

// In kernel.cu. A, B and C are device pointers, row-major: A is m x k, B is k x n, C is m x n.
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

LAB_CALL(basicSgemm, (int)p[0], (int)p[1], (int)p[2], (const float *)a[0], (const float *)a[1],
         (float *)a[2])
