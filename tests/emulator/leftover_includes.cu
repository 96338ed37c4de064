/* Headers that a template left behind and nobody uses. */
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <curand.h>
#include <curand_kernel.h>
#include <device_launch_parameters.h>
#include <mma.h>
#include <vector_types.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "check.h"

/* This directive comes with such templates, too. */
using namespace std;

__global__ void works(float *x) { x[threadIdx.x] = max(ceil(1.5f), (float)min(3, 4)); }

int main() {
    float *x = visible<float>(32);
    works<<<1, 32>>>(x);
    RUN();
    EXPECT(x[31], 3.0f);
    vector<int> v(3, max(1, 2));
    EXPECT(v[2], 2);
    EXPECT(ceil(0.5), 1.0);
    return verdict();
}
