/* Headers that a template left behind and nobody uses. */
#include <builtin_types.h>
#include <channel_descriptor.h>
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <curand.h>
#include <curand_kernel.h>
#include <device_launch_parameters.h>
#include <device_types.h>
#include <host_defines.h>
#include <math_constants.h>
#include <mma.h>
#include <sm_60_atomic_functions.h>
#include <surface_types.h>
#include <vector_types.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "check.h"

/* This directive comes with such templates, too. */
using namespace std;

/* host_defines.h of CUDA's own would make an ordinary variable of it. */
__global__ void shares(float *x) {
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = min(tile[31 - threadIdx.x], CUDART_INF_F);
}

__global__ void works(float *x) { x[threadIdx.x] = max(ceil(1.5f), (float)min(3, 4)); }

int main() {
    float *x = visible<float>(32);
    RUN(works<<<1, 32>>>(x));
    EXPECT(x[31], 3.0f);
    x[31] = 5.0f;
    OK(cudaProfilerStart());
    RUN(shares<<<1, 32>>>(x));
    EXPECT(x[0], 5.0f);
    vector<int> v(3, max(1, 2));
    EXPECT(v[2], 2);
    EXPECT(ceil(0.5), 1.0);
    return verdict();
}
