/* Your code: fill in both functions.
 *
 *     sum[0] = in[0] + in[1] + ... + in[n - 1]
 *
 * Build and run:   make && ./reduction 1000 */

__global__ void sumBlock(int n, const float *in, float *sum)
{
    /* INSERT KERNEL CODE HERE */
}

/* in and sum are in device memory; in is filled, and sum is one element. */
void sumAll(int n, const float *in, float *sum)
{
    /* INSERT CODE HERE: launch sumBlock, as often as it takes */
}
