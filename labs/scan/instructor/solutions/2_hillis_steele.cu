/* Hillis and Steele's scan: in each step every element gets the sum that ends `stride` before its own,
 * and the stride doubles. After the step with stride s, each element has the sum of the 2 s elements
 * that end with it.
 *
 * Threads of other blocks would overwrite what is still to be read, and no barrier is for all blocks.
 * So each step is a launch, and reads one buffer while it writes the other. With log2(n) steps, each
 * element is loaded twice and stored once in each of them.
 *
 * loses:    work */

#define THREADS 256

__global__ void scanBlock(int n, int stride, const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        to[i] = i < stride ? from[i] : from[i - stride] + from[i];
}

void prefixSum(int n, const int *in, int *out)
{
    int blocks = (n + THREADS - 1) / THREADS;
    int *buffer[2];
    const int *from = in;

    cudaMalloc(&buffer[0], n * sizeof(int));
    cudaMalloc(&buffer[1], n * sizeof(int));

    int stride = 1, step = 0;
    do {
        int *to = buffer[step % 2];
        scanBlock<<<blocks, THREADS>>>(n, stride, from, to);
        from = to;
        stride *= 2;
        step++;
    } while (stride < n);

    cudaMemcpy(out, from, n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(buffer[0]);
    cudaFree(buffer[1]);
}
