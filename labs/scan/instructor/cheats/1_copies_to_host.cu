/* CHEAT 1: copies the elements to the host, adds them up there, and copies the sums back.
 *
 * named:    copies device memory to the host */

#include <numeric>
#include <vector>

__global__ void scanBlock(int n, const int *in, int *out) {}

void prefixSum(int n, const int *in, int *out)
{
    std::vector<int> sums(n);
    cudaMemcpy(sums.data(), in, n * sizeof(int), cudaMemcpyDeviceToHost); /* <- here */
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    scanBlock<<<1, 1>>>(n, in, out);
    cudaMemcpy(out, sums.data(), n * sizeof(int), cudaMemcpyHostToDevice);
}
