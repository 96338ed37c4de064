/* CHEAT 3: adds up on the host in memory that both have.
 *
 * named:    calls cudaMallocManaged */

__global__ void scanBlock(int n, const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

void prefixSum(int n, const int *in, int *out)
{
    int *sums;
    cudaMallocManaged(&sums, n * sizeof(int)); /* <- here */
    scanBlock<<<(n + 255) / 256, 256>>>(n, in, sums);
    cudaDeviceSynchronize();
    for (int i = 1; i < n; ++i)
        sums[i] += sums[i - 1];
    scanBlock<<<(n + 255) / 256, 256>>>(n, sums, out);
    cudaDeviceSynchronize();
    cudaFree(sums);
}
