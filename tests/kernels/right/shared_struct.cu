/* RIGHT: both tiles in one struct in shared memory, with methods; behind the phases the same piece
 * of memory, a union, is C's tile, and a barrier lies between. */

template <int SIZE> struct Tiles {
    float a[SIZE][SIZE + 1], b[SIZE][SIZE];
    int terms;

    __device__ void load(int m, int n, int k, int row, int col, int start, const float *A,
                         const float *B) {
        int x = threadIdx.x, y = threadIdx.y;
        a[y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        if (x == 0 && y == 0) terms = min(SIZE, k - start);
    }

    __device__ float multiply() const {
        float sum = 0.0f;
        for (int i = 0; i < terms; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        return sum;
    }
};

union Room {
    Tiles<16> in;
    double out[16][16];
};

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ Room room;
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += 16) {
        room.in.load(m, n, k, row, col, start, A, B);
        __syncthreads();
        sum += room.in.multiply();
        __syncthreads();
    }
    room.out[x][y] = sum;
    __syncthreads();
    if (row < m && col < n) C[row * n + col] = (float)room.out[x][y];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
