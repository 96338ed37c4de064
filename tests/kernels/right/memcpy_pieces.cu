/* RIGHT: each thread copies its row of A in pieces whose length the compiler knows, in all ways
 * that there are, which a compiler makes a few instructions of; and of a length that only the run
 * knows. */

#include <cstring>

struct Piece {
    float v[8];
};

__device__ void take(float *to, const float *from, int way, int length) {
    switch (way) {
    case 0: memcpy(to, from, 8 * sizeof(float)); break;
    case 1: __builtin_memcpy(to, from, 8 * sizeof(float)); break;
    case 2: std::memcpy(to, from, sizeof(Piece)); break;
    case 3: *reinterpret_cast<Piece *>(to) = *reinterpret_cast<const Piece *>(from); break;
    default: memcpy(to, from, length * sizeof(float));
    }
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0.0f, piece[8];
    for (int p = 0; p < k; p += 8) {
        int length = min(8, k - p);
        take(piece, &A[i * k + p], length == 8 ? p / 8 % 5 : 4, length);
        for (int q = 0; q < length; ++q) sum += piece[q] * B[(p + q) * n + j];
    }
    C[i * n + j] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
