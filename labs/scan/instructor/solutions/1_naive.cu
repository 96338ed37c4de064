/* Naive prefix sums: one thread adds up all that its element needs.
 *
 * n (n + 1) / 2 loads in all: twice the elements take four times as long, and the last thread is the
 * slowest by far.
 *
 * loses:    work */

#define THREADS 256

__global__ void scanBlock(int n, const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        int sum = 0;
        for (int j = 0; j <= i; ++j)
            sum += in[j];
        out[i] = sum;
    }
}

void prefixSum(int n, const int *in, int *out)
{
    scanBlock<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, in, out);
}
