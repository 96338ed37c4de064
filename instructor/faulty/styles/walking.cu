/* STYLE: pointers that walk: A one tile to the right, B one tile down in each phase. */

#define TS 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float At[TS][TS];
    __shared__ float Bt[TS][TS];

    const int y = threadIdx.y, x = threadIdx.x;
    const int rows = m - blockIdx.y * TS; // that are left from this block's first one on
    const int cols = n - blockIdx.x * TS;
    A += blockIdx.y * TS * k;
    B += blockIdx.x * TS;
    C += blockIdx.y * TS * n + blockIdx.x * TS;

    float tmp = 0.0f;
    for (int left = k; left > 0; left -= TS) {
        At[y][x] = y < rows && x < left ? A[y * k + x] : 0.0f; // load A
        Bt[y][x] = y < left && x < cols ? B[y * n + x] : 0.0f; // load B
        __syncthreads(); // first barrier
        A += TS;
        B += TS * n;
        for (int i = 0; i < TS; ++i)
            tmp += At[y][i] * Bt[i][x]; // multiply
        __syncthreads(); // second barrier
    }
    if (y < rows && x < cols)
        C[y * n + x] = tmp; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TS, TS);
    dim3 grid((n + TS - 1) / TS, (m + TS - 1) / TS);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C); // launch
}
