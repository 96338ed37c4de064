/* CHEAT 6: one thread adds up all elements: no scan takes fewer loads and stores, and none less of a
 * GPU.
 *
 * loses:    work
 * named:    did the work */

__global__ void scanBlock(int n, const int *in, int *out)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += in[i];
        out[i] = sum;
    }
}

void prefixSum(int n, const int *in, int *out)
{
    scanBlock<<<1, 1>>>(n, in, out);
}
