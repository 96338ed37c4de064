/* Your code: fill in the two functions below. Leave all other files as they are.
 *
 *     out[i] = in[0] + in[1] + ... + in[i]        for all i from 0 to n - 1
 *
 * Build and run:   make && ./scan 1000
 * What to do, and why it works: handout.md */

/* Runs on the GPU, once for every thread of the grid: each block scans its part of in.
 *
 * What it is given is up to you: add parameters, and further kernels beside it. */
__global__ void scanBlock(int n, const int *in, int *out)
{
    /* INSERT KERNEL CODE HERE */
}

/* Runs on the CPU: launches scanBlock, and whatever else it takes.
 *
 * n        elements of in and of out, any number from 1 upwards
 * in, out  in device memory, allocated; in is filled, and read only */
void prefixSum(int n, const int *in, int *out)
{
    /* INSERT CODE HERE: how many threads in a block, how many blocks in the grid? */

    /* INSERT CODE HERE: launch scanBlock */
}
