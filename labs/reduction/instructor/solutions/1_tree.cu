/* Each block adds up its elements as a tree in shared memory; the sums of the blocks are added up in
 * the same way, until one is left.
 *
 * loses: nothing */

#define THREADS 256

__global__ void sumBlock(int n, const float *in, float *sum)
{
    __shared__ float part[THREADS];

    int t = threadIdx.x, i = blockIdx.x * THREADS + t;

    part[t] = i < n ? in[i] : 0.0f;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t == 0)
        sum[blockIdx.x] = part[0];
}

void sumAll(int n, const float *in, float *sum)
{
    int blocks = (n + THREADS - 1) / THREADS;
    float *sums = sum;

    if (blocks > 1)
        cudaMalloc(&sums, blocks * sizeof(float));
    sumBlock<<<blocks, THREADS>>>(n, in, sums);
    if (blocks > 1) {
        sumAll(blocks, sums, sum);
        cudaFree(sums);
    }
}
