/* RIGHT: as in the threadFenceReduction sample of the CUDA toolkit: a counter behind a fence tells
 * which block is the last; it reads what the others left, through a volatile pointer, and sets the
 * counter back. */

#define THREADS 64

__device__ unsigned int count = 0;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.x;
    for (int col = threadIdx.x; col < n; col += blockDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = -sum;
    }
}

__global__ void negate(int m, int n, float *C) {
    __shared__ bool last;
    volatile float *result = C;
    for (int col = threadIdx.x; col < n; col += blockDim.x)
        result[blockIdx.x * n + col] = -result[blockIdx.x * n + col] / 2;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned int ticket = atomicInc(&count, gridDim.x);
        last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        for (int i = threadIdx.x; i < m * n; i += blockDim.x) result[i] = 2 * result[i];
        if (threadIdx.x == 0) count = 0;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<m, THREADS>>>(m, n, k, A, B, C);
    negate<<<m, THREADS>>>(m, n, C);
}
