/* Vector loads: 8 x 8 elements a thread, and everything is loaded four values at a time.
 *
 * A block of 256 threads computes a 128 x 128 tile of C: 32 operations a byte of global memory. A
 * thread takes 8 values of A and 8 of B for 64 multiplies and adds, as 4 vectors of 16 bytes: one
 * load for 16 that compute. For that, what a thread takes has to lie side by side:
 *
 * - A's tile is stored transposed, so that a column of it, which is what one term needs, is a row
 *   of A_s. Its rows are padded by PAD, or the 32 threads of a warp, which store 16 elements of 2
 *   columns each at once, would meet in 16 of the 32 banks.
 * - A thread's 8 rows and columns are 4 and 4, half a tile apart: 8 neighboring threads then read
 *   128 bytes in a row, each bank once.
 *
 * Global memory gives a float4 only where its address is a multiple of 16 bytes: in every row, that
 * is where k and n are multiples of 4 and all three matrices begin at such an address. Otherwise
 * the threads load single values, in an order in which neighbors load neighbors (VECTORS).
 *
 * What limits it: in each phase the block waits for global memory, then computes, then waits. Only
 * another block can fill the gap, and a multiprocessor's registers hold two of them. Small matrices
 * have too few tiles of 128 x 128 to occupy a GPU: there, 4_register_tiles.cu is faster.
 *
 * intensity: 32 FLOP/byte
 * loses:    nothing */

#define THREADS 256
#define TILE    128          /* rows and columns of C that a block computes */
#define DEPTH   8            /* terms of a phase */
#define PAD     4            /* 2 columns of 4 * (TILE + PAD) are then 16 banks apart */
#define EACH    8            /* rows, and columns, of C that a thread computes: 4 and 4 */
#define HALF    (TILE / 2)

static_assert(THREADS * EACH * EACH == TILE * TILE, "the threads compute the tile");
static_assert(THREADS * 4 == TILE * DEPTH, "a thread loads one vector of A's tile and one of B's");

__device__ void take4(float *to, const float *from)
{
    float4 v = *(const float4 *)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* This thread's four values of A's tile, whose first element is A[top][left]; beyond the edge 0. */
template <bool VECTORS>
__device__ void fetch_a(float to[4], const float *A, int m, int k, int top, int left)
{
    int t = threadIdx.x;
    for (int e = 0; e < 4; ++e)
        to[e] = 0.0f;
    if (VECTORS) {
        int row = top + t / (DEPTH / 4), col = left + t % (DEPTH / 4) * 4;
        if (row < m && col < k)
            take4(to, &A[row * k + col]);
    } else
        for (int e = 0; e < 4; ++e) {
            int row = top + t / DEPTH + e * (THREADS / DEPTH), col = left + t % DEPTH;
            if (row < m && col < k)
                to[e] = A[row * k + col];
        }
}

template <bool VECTORS>
__device__ void put_a(float A_s[DEPTH][TILE + PAD], const float from[4])
{
    int t = threadIdx.x;
    for (int e = 0; e < 4; ++e)
        if (VECTORS)
            A_s[t % (DEPTH / 4) * 4 + e][t / (DEPTH / 4)] = from[e];
        else
            A_s[t % DEPTH][t / DEPTH + e * (THREADS / DEPTH)] = from[e];
}

template <bool VECTORS>
__device__ void fetch_b(float to[4], const float *B, int k, int n, int top, int left)
{
    int t = threadIdx.x;
    for (int e = 0; e < 4; ++e)
        to[e] = 0.0f;
    if (VECTORS) {
        int row = top + t / (TILE / 4), col = left + t % (TILE / 4) * 4;
        if (row < k && col < n)
            take4(to, &B[row * n + col]);
    } else
        for (int e = 0; e < 4; ++e) {
            int row = top + t / TILE + e * (THREADS / TILE), col = left + t % TILE;
            if (row < k && col < n)
                to[e] = B[row * n + col];
        }
}

template <bool VECTORS>
__device__ void put_b(float B_s[DEPTH][TILE], const float from[4])
{
    int t = threadIdx.x;
    if (VECTORS)
        *(float4 *)&B_s[t / (TILE / 4)][t % (TILE / 4) * 4] =
            make_float4(from[0], from[1], from[2], from[3]);
    else
        for (int e = 0; e < 4; ++e)
            B_s[t / TILE + e * (THREADS / TILE)][t % TILE] = from[e];
}

/* Four elements of C, from `to` on, of which the last `4 - count` lie beyond the row's end. */
template <bool VECTORS>
__device__ void store4(float *to, int count, float alpha, const float sum[4], float beta)
{
    float c[4] = {};
    if (VECTORS) {
        if (beta != 0.0f)
            take4(c, to);
        for (int e = 0; e < 4; ++e)
            c[e] = beta == 0.0f ? alpha * sum[e] : alpha * sum[e] + beta * c[e];
        *(float4 *)to = make_float4(c[0], c[1], c[2], c[3]);
    } else
        for (int e = 0; e < 4; ++e)
            if (e < count)
                to[e] = beta == 0.0f ? alpha * sum[e] : alpha * sum[e] + beta * to[e];
}

template <bool VECTORS>
__global__ void __launch_bounds__(THREADS, 2)
    mysgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ __align__(16) float A_s[DEPTH][TILE + PAD]; /* transposed */
    __shared__ __align__(16) float B_s[DEPTH][TILE];

    int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    int tx = threadIdx.x % (TILE / EACH), ty = threadIdx.x / (TILE / EACH);
    float sum[EACH][EACH] = {};

    for (int start = 0; start < k; start += DEPTH) {
        float four_of_a[4], four_of_b[4];
        fetch_a<VECTORS>(four_of_a, A, m, k, top, start);
        fetch_b<VECTORS>(four_of_b, B, k, n, start, left);
        put_a<VECTORS>(A_s, four_of_a);
        put_b<VECTORS>(B_s, four_of_b);
        __syncthreads();

#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            float a[EACH], b[EACH];
            take4(a, &A_s[i][ty * 4]);
            take4(a + 4, &A_s[i][HALF + ty * 4]);
            take4(b, &B_s[i][tx * 4]);
            take4(b + 4, &B_s[i][HALF + tx * 4]);
            for (int r = 0; r < EACH; ++r)
                for (int c = 0; c < EACH; ++c)
                    sum[r][c] += a[r] * b[c];
        }
        __syncthreads();
    }

#pragma unroll /* or sum, indexed with a variable, would have to lie in memory */
    for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int c = 0; c < EACH; c += 4) {
            int row = top + r / 4 * HALF + ty * 4 + r % 4, col = left + c / 4 * HALF + tx * 4;
            if (row < m && col < n)
                store4<VECTORS>(&C[row * n + col], n - col, alpha, &sum[r][c], beta);
        }
}

/* Whether every fourth element of every row begins at a multiple of 16 bytes. */
static bool in_vectors(const float *matrix, int cols)
{
    return cols % 4 == 0 && (size_t)matrix % sizeof(float4) == 0;
}

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int most_rows = 65535 * TILE; /* a grid has at most 65,535 blocks in y */
    if (m > most_rows) {
        sgemm(m - most_rows, n, k, alpha, A + (size_t)most_rows * k, B, beta,
              C + (size_t)most_rows * n);
        m = most_rows;
    }

    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    if (in_vectors(A, k) && in_vectors(B, n) && in_vectors(C, n))
        mysgemm<true><<<grid, THREADS>>>(m, n, k, alpha, A, B, beta, C);
    else
        mysgemm<false><<<grid, THREADS>>>(m, n, k, alpha, A, B, beta, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
