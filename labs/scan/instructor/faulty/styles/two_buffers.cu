/* Hillis and Steele's scan within a block, with two buffers in shared memory; one thread scans the
 * blocks' sums. */

#define BLOCK 256

__global__ void scanBlock(int n, const int *in, int *out, int *sums)
{
    __shared__ int buffer[2][BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    int from = 0;

    buffer[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        int sum = buffer[from][t];
        if (t >= stride)
            sum += buffer[from][t - stride];
        from = 1 - from;
        buffer[from][t] = sum;
        __syncthreads();
    }
    if (i < n)
        out[i] = buffer[from][t];
    if (t == BLOCK - 1)
        sums[blockIdx.x] = buffer[from][t];
}

__global__ void scanSums(int blocks, int *sums)
{
    int sum = 0;
    for (int block = 0; block < blocks; ++block) {
        sum += sums[block];
        sums[block] = sum;
    }
}

__global__ void addSums(int n, const int *sums, int *out)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}

void prefixSum(int n, const int *in, int *out)
{
    int blocks = (n + BLOCK - 1) / BLOCK;
    int *sums;

    cudaMalloc(&sums, blocks * sizeof(int));
    scanBlock<<<blocks, BLOCK>>>(n, in, out, sums);
    scanSums<<<1, 1>>>(blocks, sums);
    addSums<<<blocks, BLOCK>>>(n, sums, out);
    cudaFree(sums);
}
