/* RIGHT: several stages of asynchronous copies in dynamic shared memory, one barrier a phase; A's
 * tile transposed, word by word, B's in vectors where n allows it; tile shapes by template, chosen
 * by the wrapper. */

#include <cuda_pipeline.h>

template <int ROWS, int COLS, int DEPTH, int STAGES>
constexpr int stage_bytes = STAGES *DEPTH *(ROWS + 4 + COLS) * (int)sizeof(float);

template <int ROWS, int COLS, int DEPTH, int STAGES, bool VECTORS>
__global__ void __launch_bounds__(128, 2)
    mysgemm(int m, int n, int k, const float *__restrict__ A, const float *__restrict__ B,
            float *__restrict__ C) {
    static_assert(ROWS % 8 == 0 && COLS == 16 * 4 && DEPTH * COLS % (128 * 4) == 0, "");
    extern __shared__ __align__(16) float stages[];
    float(*A_s)[DEPTH][ROWS + 4] = reinterpret_cast<float(*)[DEPTH][ROWS + 4]>(stages);
    float(*B_s)[DEPTH][COLS] = reinterpret_cast<float(*)[DEPTH][COLS]>(A_s + STAGES);

    const int t = threadIdx.x, top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    const int phases = (k + DEPTH - 1) / DEPTH;
    float sum[ROWS / 8][4] = {};

    auto fetch = [&](int phase) {
        const int stage = phase % STAGES, start = phase * DEPTH;
        for (int i = t; i < ROWS * DEPTH; i += 128) {
            const int row = i / DEPTH, col = i % DEPTH;
            const bool inside = top + row < m && start + col < k;
            __pipeline_memcpy_async(&A_s[stage][col][row],
                                    inside ? &A[(top + row) * k + start + col] : A, 4,
                                    inside ? 0 : 4);
        }
        const int width = VECTORS ? 4 : 1;
        for (int i = t * width; i < DEPTH * COLS; i += 128 * width) {
            const int row = i / COLS, col = i % COLS;
            const bool inside = start + row < k && left + col < n;
            __pipeline_memcpy_async(&B_s[stage][row][col],
                                    inside ? &B[(start + row) * n + left + col] : B, 4 * width,
                                    inside ? 0 : 4 * width);
        }
    };

    for (int phase = 0; phase < STAGES - 1; ++phase) {
        if (phase < phases) fetch(phase);
        __pipeline_commit();
    }
    for (int phase = 0; phase < phases; ++phase) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (phase + STAGES - 1 < phases) fetch(phase + STAGES - 1);
        __pipeline_commit();

        const int stage = phase % STAGES;
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            const float4 b = *reinterpret_cast<const float4 *>(&B_s[stage][i][t % 16 * 4]);
            for (int r = 0; r < ROWS / 8; ++r) {
                const float a = A_s[stage][i][t / 16 + 8 * r];
                sum[r][0] += a * b.x, sum[r][1] += a * b.y;
                sum[r][2] += a * b.z, sum[r][3] += a * b.w;
            }
        }
    }

    for (int r = 0; r < ROWS / 8; ++r)
        for (int c = 0; c < 4; ++c) {
            const int row = top + t / 16 + 8 * r, col = left + t % 16 * 4 + c;
            if (row < m && col < n) C[row * n + col] = sum[r][c];
        }
}

template <int ROWS, int COLS, int DEPTH, int STAGES>
void launch(int m, int n, int k, const float *A, const float *B, float *C) {
    const int bytes = stage_bytes<ROWS, COLS, DEPTH, STAGES>;
    const bool vectors = n % 4 == 0 && (size_t)B % 16 == 0;
    auto kernel = vectors ? mysgemm<ROWS, COLS, DEPTH, STAGES, true>
                          : mysgemm<ROWS, COLS, DEPTH, STAGES, false>;
    if constexpr (bytes > 48 * 1024)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<dim3((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS), 128, bytes>>>(m, n, k, A, B, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    if (m > 32)
        launch<64, 64, 32, 4>(m, n, k, A, B, C);
    else
        launch<32, 64, 16, 3>(m, n, k, A, B, C);
}
