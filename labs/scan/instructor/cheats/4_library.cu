/* CHEAT 4: has a library scan.
 *
 * named:    thrust/scan.h */

#include <thrust/scan.h> /* <- here */
#include <thrust/execution_policy.h>

__global__ void scanBlock(int n, const int *in, int *out) {}

void prefixSum(int n, const int *in, int *out)
{
    scanBlock<<<1, 1>>>(n, in, out);
    thrust::inclusive_scan(thrust::device, in, in + n, out);
}
