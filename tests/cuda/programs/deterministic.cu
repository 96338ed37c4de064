/* The same launch gives the same bits every time, whichever core runs which block. */
#include "check.h"

enum { TILE = 16, N = 100 };

__global__ void product(const float *A, const float *B, float *C) {
    __shared__ float A_s[TILE][TILE], B_s[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int p = 0; p < (N - 1) / TILE + 1; ++p) {
        A_s[ty][tx] = row < N && p * TILE + tx < N ? A[row * N + p * TILE + tx] : 0;
        B_s[ty][tx] = p * TILE + ty < N && col < N ? B[(p * TILE + ty) * N + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
    }
    if (row < N && col < N) C[row * N + col] = sum;
}

int main() {
    const size_t bytes = N * N * sizeof(float);
    float *A = visible<float>(N * N), *B = visible<float>(N * N), *C = visible<float>(N * N);
    for (int i = 0; i < N * N; ++i) {
        A[i] = (i * 7919 % 1000) / 999.0f - 0.5f;
        B[i] = (i * 104729 % 1000) / 999.0f - 0.5f;
    }
    float *first = (float *)malloc(bytes);
    dim3 grid((N - 1) / TILE + 1, (N - 1) / TILE + 1), block(TILE, TILE);
    for (int run = 0; run < 20; ++run) {
        memset(C, 0xFF, bytes);
        product<<<grid, block>>>(A, B, C);
        RUN();
        if (run == 0) memcpy(first, C, bytes);
        CHECK(memcmp(first, C, bytes) == 0);
    }
    for (int i = 0; i < N; ++i) {
        double sum = 0;
        for (int k = 0; k < N; ++k) sum += (double)A[i * N + k] * B[k * N + i];
        CHECK(sum - C[i * N + i] < 1e-4 && C[i * N + i] - sum < 1e-4);
    }
    free(first);
    return verdict();
}
