/* A kernel over arrays of several element types: cube[i] = x[i] where flags[i], by way of a shared
 * array of doubles. The i-th thread; the last one stores one element too far if it is told to. */
__global__ void select(int n, const double *x, const unsigned char *flags, int *cube, int too_far) {
    __shared__ double x_s[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x_s[threadIdx.x] = i < n ? x[i] : 0.0;
    __syncthreads();
    if (i < n) cube[i + (i == n - 1 ? too_far : 0)] = flags[i] ? (int)x_s[15 - threadIdx.x] : -1;
}

extern "C" void run(int n, const double *x, const unsigned char *flags, int *cube, int too_far) {
    select<<<(n + 15) / 16, 16>>>(n, x, flags, cube, too_far);
}
