/* CHEAT 2: has the host scan the blocks' sums, so that the parts that are hard on a GPU are none of
 * the kernels'.
 *
 * named:    copies device memory to the host */

#include <vector>

__global__ void scanBlock(int n, const int *in, int *out, int *sums)
{
    __shared__ int part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    int sum = 0;
    for (int j = 0; j <= t; ++j)
        sum += part[j];
    if (i < n)
        out[i] = sum;
    if (t == 255)
        sums[blockIdx.x] = sum;
}

__global__ void addSums(int n, const int *sums, int *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        out[i] += sums[blockIdx.x - 1];
}

void prefixSum(int n, const int *in, int *out)
{
    int blocks = (n + 255) / 256, *sums;
    std::vector<int> host(blocks);
    cudaMalloc(&sums, blocks * sizeof(int));
    scanBlock<<<blocks, 256>>>(n, in, out, sums);
    cudaMemcpy(host.data(), sums, blocks * sizeof(int), cudaMemcpyDeviceToHost); /* <- here */
    for (int i = 1; i < blocks; ++i)
        host[i] += host[i - 1];
    cudaMemcpy(sums, host.data(), blocks * sizeof(int), cudaMemcpyHostToDevice);
    addSums<<<blocks, 256>>>(n, sums, out);
    cudaFree(sums);
}
