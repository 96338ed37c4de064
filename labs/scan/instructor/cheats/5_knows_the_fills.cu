/* CHEAT 5: knows the sums of the inputs that --help lists, and adds nothing.
 *
 * named:    wrong */

__global__ void scanBlock(int n, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int second = n > 1 ? in[1] : 0, period = i / 1000, rest = i % 1000 + 1;
    if (second == 1)
        out[i] = i + 1; /* ones */
    else if (second == -1)
        out[i] = 1 - i % 2; /* cancel */
    else if (second == 2)
        out[i] = period * 500500 + rest * (rest + 1) / 2; /* counting */
    else
        out[i] = in[i];
}

void prefixSum(int n, const int *in, int *out)
{
    scanBlock<<<(n + 255) / 256, 256>>>(n, in, out);
}
