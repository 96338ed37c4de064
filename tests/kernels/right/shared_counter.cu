/* RIGHT: the threads of a block add their parts to one word of shared memory atomically and count
 * themselves in another, with fences for the block and no barrier. The last one stores the sum: in
 * even columns it reads it atomically, in odd ones plainly, and sets the counter back. */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float total;
    __shared__ int done;

    int row = blockIdx.y, col = blockIdx.x;
    if (threadIdx.x == 0) {
        total = 0.0f;
        done = 0;
    }
    __syncthreads();
    float part = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x) part += A[row * k + i] * B[i * n + col];
    atomicAdd(&total, part);
    __threadfence_block();
    if (atomicAdd(&done, 1) < blockDim.x - 1) return;
    if (col % 2 == 0) {
        C[row * n + col] = atomicAdd(&total, 0.0f);
    } else {
        __threadfence_block();
        done = 0;
        C[row * n + col] = total;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3(n, m), 32>>>(m, n, k, A, B, C);
}
