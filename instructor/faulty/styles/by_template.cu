/* STYLE: the tile's width is a parameter of a template; both tiles are cleared, then filled. */

template <int W>
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[W][W];
    __shared__ float b[W][W];

    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * W + y, j = blockIdx.x * W + x;
    const int phases = (k - 1) / W + 1;
    float c = 0;

    for (int phase = 0; phase < phases; phase++) {
        const int p = phase * W;
        a[y][x] = b[y][x] = 0;
        if (i < m && p + x < k) a[y][x] = A[i * k + (p + x)]; // load A
        if (p + y < k && j < n) b[y][x] = B[(p + y) * n + j]; // load B
        __syncthreads(); // first barrier
        for (int q = 0; q < W; q++)
            c += a[y][q] * b[q][x]; // multiply
        __syncthreads(); // second barrier
    }

    if (i < m && j < n) C[i * n + j] = c; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const int W = 16;
    dim3 threads(W, W), blocks((n - 1) / W + 1, (m - 1) / W + 1);
    mysgemm<W><<<blocks, threads>>>(m, n, k, A, B, C); // launch
}
