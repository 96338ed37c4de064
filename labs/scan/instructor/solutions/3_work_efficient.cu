/* Work-efficient prefix sums: a block scans its elements as a tree in shared memory, the sums of the
 * blocks are scanned in the same way, and each block's elements get what lies before it.
 *
 * The tree takes about two additions an element, instead of log2 of the block's elements (Hillis and
 * Steele). On the way up, tree[i] gets the sum of a power of two of elements that end with i; on the
 * way down, the sums in between are completed. Global memory: each element is loaded and stored twice,
 * and once in so many there is a block's sum.
 *
 * loses:    nothing */

#define THREADS 256
#define ELEMENTS (2 * THREADS)

__global__ void scanBlock(int n, const int *in, int *out, int *sums)
{
    __shared__ int tree[ELEMENTS];

    int t = threadIdx.x;
    int first = blockIdx.x * ELEMENTS + t, second = first + THREADS;

    tree[t] = first < n ? in[first] : 0;
    tree[t + THREADS] = second < n ? in[second] : 0;

    for (int stride = 1; stride < ELEMENTS; stride *= 2) {
        __syncthreads();
        int i = (t + 1) * 2 * stride - 1;
        if (i < ELEMENTS)
            tree[i] += tree[i - stride];
    }
    for (int stride = ELEMENTS / 4; stride > 0; stride /= 2) {
        __syncthreads();
        int i = (t + 1) * 2 * stride - 1;
        if (i + stride < ELEMENTS)
            tree[i + stride] += tree[i];
    }
    __syncthreads();

    if (first < n)
        out[first] = tree[t];
    if (second < n)
        out[second] = tree[t + THREADS];
    if (t == 0)
        sums[blockIdx.x] = tree[ELEMENTS - 1];
}

/* Block 0 has nothing before it: the first one here is block 1 of scanBlock. */
__global__ void addSums(int n, const int *sums, int *out)
{
    __shared__ int before;

    int first = (blockIdx.x + 1) * ELEMENTS + threadIdx.x, second = first + THREADS;

    if (threadIdx.x == 0)
        before = sums[blockIdx.x];
    __syncthreads();

    if (first < n)
        out[first] += before;
    if (second < n)
        out[second] += before;
}

void prefixSum(int n, const int *in, int *out)
{
    int blocks = (n + ELEMENTS - 1) / ELEMENTS;
    int *sums;

    cudaMalloc(&sums, blocks * sizeof(int));
    scanBlock<<<blocks, THREADS>>>(n, in, out, sums);
    if (blocks > 1) {
        prefixSum(blocks, sums, sums); /* a block has loaded its part before it stores any of it */
        addSums<<<blocks - 1, THREADS>>>(n, sums, out);
    }
    cudaFree(sums);
}
