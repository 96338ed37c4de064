/* Every shape: a kernel for each kind of product, and a choice between them by a model of time.
 *
 * 8_even_shares.cu is for products with many large tiles. Of two hundred shapes drawn at random
 * most are others: products so small that the launch and one answer of memory are all of their
 * time, vectors, thin matrices, a long k, a k of 1 or 2. Each of these is limited by something
 * else, and has a file of its own here:
 *
 *     along_k.cuh          C of few elements beside its k: threads lie along k
 *     along_columns.cuh    C of few rows: threads lie along B's rows, each element is read once
 *     outer.cuh            k of a few: outer products; the kernel writes C
 *     tiles.cuh            all others: tiles of many shapes (tile_shape.cuh), the loop of rung 8
 *                          (tile_loop.cuh), whose warps and blocks share k
 *     sharing.cuh          how blocks share k
 *     model.cuh            what a kernel would take, and so which one is taken
 *
 * A submission is one file, so `make build/9_every_shape.cu` puts these together. What limits the
 * kernels is in their files; all together, that the choice is a guess: the fastest of them would be
 * some percent faster (docs/ladder.md).
 *
 * intensity: 42.67 FLOP/byte
 * loses:    nothing */
#include "along_columns.cuh"
#include "along_k.cuh"
#include "model.cuh"
#include "outer.cuh"
#include "tiles.cuh"

/* Flat and light: several blocks on a multiprocessor, so that one loads and stores while others
 * compute. Sliced: one or two blocks, whose warps share k. */
/*            BM   BN  BK   WM   WN  TM  TN  SLICES STAGES RESIDENT CLAMPS STREAMS */
typedef Shape<128, 256, 16,  64,  64, 16,  8, 1, 4, 1, false, true> Large;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 1, 4, 4, true, false> Flat64x128;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 4, 6, 1, false, false> Sliced64x128;
typedef Shape< 48, 128,  8,  48,  64, 12,  8, 1, 4, 4, true, false> Flat48x128;
typedef Shape< 64,  64,  8,  32,  32,  8,  4, 1, 4, 4, true, false> Flat64x64;
typedef Shape< 64,  64,  8,  64,  32,  8,  8, 4, 4, 1, true, false> Sliced64x64;
typedef Shape< 64,  48,  8,  64,  48,  8, 12, 8, 4, 1, true, false> Sliced64x48;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 2, 4, 4, true, false> Flat32x64;
typedef Shape< 64,  32,  8,  32,  32,  8,  4, 2, 4, 4, true, false> Flat64x32;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 1, 4, 8, true, false> Light32x64;
typedef Shape< 64,  32,  8,  64,  32,  8,  8, 4, 4, 2, true, false> Sliced64x32;
typedef Shape<128,  16,  8,  64,  16,  8,  4, 2, 4, 4, true, false> Flat128x16;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 8, 4, 1, true, false> Sliced32x32;
typedef Shape< 64,  16,  8,  64,  16,  8,  4, 4, 4, 4, true, false> Sliced64x16;

/*   rest, wave, chunk, busy, sum, part, odd, megabyte */
static const Kernel kernels[] = {
    tiles<Large>({6.21, 9.53, 2.52, 0.104, 37, 0.056, 1.35, 0.209}),
    tiles<Flat64x128>({3.21, 6.14, 0.56, 0.376, 5.7, 0.48, 2.24, 0.202}),
    tiles<Sliced64x128>({3.61, 4.46, 1.43, 0.997, 2.57, 0.276, 1.35, 0.169}),
    tiles<Flat48x128>({3.68, 5.37, 0.568, 0.282, 5.85, 0.38, 1.92, 0.194}),
    tiles<Flat64x64>({2.52, 3.31, 0.26, 0.235, 4.98, 0.159, 1.31, 0.213}),
    tiles<Sliced64x64>({2.71, 4.5, 0.786, 0.571, 1.35, 0.115, 2.64, 0.329}),
    tiles<Sliced64x48>({6.61, 3.76, 0.306, 1.56, 5.72, 0.095, 0.952, 0.701}),
    tiles<Flat32x64>({3.26, 2, 0.254, 0.255, 3.26, 0.0797, 2.44, 1.41}),
    tiles<Flat64x32>({1.82, 3.12, 0.318, 0.376, 2.45, 0.0704, 1.8, 0.889}),
    tiles<Light32x64>({5.9, 1.19, 0.206, 0.148, 2.94, 0.234, 1.31, 0.35}),
    tiles<Sliced64x32>({4.84, 1.42, 0.0447, 0.486, 1.82, 0.0884, 1.71, 0.686}),
    tiles<Flat128x16>({3.72, 1.58, 0.487, 0.56, 1.94, 0.115, 1.41, 0.488}),
    tiles<Sliced32x32>({2.9, 1.34, 0.546, 0.113, 3.6, 0.0728, 1.2, 0.915}),
    tiles<Sliced64x16>({3.47, 1.87, 0.112, 0.522, 3.03, 0.0785, 0.8, 0.474}),
    along_k<1, 1, 256, 16>({1.65, 1.23, 0.785, 0.253, 2.77, 0.00234, 1.37, 0.198}),
    along_k<1, 2, 256, 8>({2.54, 0.826, 0.837, 0.126, 2.67, 0.061, 0.947, 0.441}),
    along_k<1, 8, 256, 4>({1.64, 0.629, 2.58, 0.395, 2.78, 0.0533, 1.37, 0.6}),
    along_k<2, 4, 8, 2>({3.06, 0.564, 0.399, 0.469, 1.79, 0.0667, 0.935, 0.585}),
    along_k<4, 1, 8, 4>({2.38, 0.842, 0.236, 0.659, 1.87, 0.0494, 1.23, 0.496}),
    along_k<4, 1, 256, 4>({3.3, 0.679, 0.524, 0.207, 2.71, 0.0292, 0.8, 0.205}),
    along_k<4, 2, 256, 4>({3.42, 0.69, 0.787, 0.22, 3.44, 0.0301, 0.986, 0.237}),
    along_k<4, 4, 8, 2>({3.52, 1.14, 0.56, 0.39, 1.67, 0.0563, 1.17, 0.518}),
    along_k<4, 4, 32, 2>({2.21, 1.15, 0.834, 0.484, 2.26, 0.0502, 1.43, 0.353}),
    along_k<4, 4, 64, 4>({2.17, 1.1, 1.62, 0.572, 3.39, 0.0316, 1.08, 0.326}),
    along_k<4, 4, 256, 2>({1.56, 0.413, 1.03, 0.663, 2.92, 0.0284, 1.57, 1.96}),
    along_k<4, 4, 256, 4>({1.79, 0.44, 1.32, 1.18, 2.55, 0.0337, 1.51, 0.504}),
    along_k<8, 4, 256, 2>({2.41, 0.748, 1.24, 0.8, 2.45, 0.0263, 0.968, 0.401}),
    along_k<8, 8, 8, 2>({2.3, 2.85, 0.836, 0.63, 2.3, 0.0891, 1.39, 0.539}),
    along_k<8, 8, 32, 2>({2.35, 4.19, 0.706, 0.607, 2.17, 0.1, 1.24, 0.277}),
    along_k<8, 8, 256, 1>({1.88, 1.76, 0.79, 0.591, 2.39, 0.0335, 1.1, 0.637}),
    along_columns<2, 8, 4, 4>({2.66, 1.1, 0.715, 0.638, 2.3, 0.0219, 1.16, 0.271}),
    along_columns<4, 16, 4, 4>({3.87, 1.81, 1.28, 0.517, 3.58, 0.0475, 0.8, 0.297}),
    along_columns<8, 4, 4, 4>({4.58, 1.34, 0.83, 0.665, 3.11, 0.0866, 1.2, 0.384}),
    along_columns<8, 16, 4, 4>({1.95, 3.3, 1.5, 0.0421, 2.58, 0.037, 1.07, 0.43}),
    along_columns<16, 8, 2, 8>({3.23, 2.38, 1.32, 0.997, 2.92, 0.0446, 0.936, 0.426}),
    outer<2, 32, 16>({3.29, 0.764, 0.00106, 0.0014, 1.35, 0.0239, 2.21, 0.0822}),
    outer<2, 32, 64>({2.2, 0.653, 1.36, 0.313, 0.575, 0.319, 1.7, 0.297}),
    outer<4, 32, 16>({3.46, 0.58, 0.0973, 0.104, 22, 0.106, 0.895, 0.215}),
    outer<8, 32, 16>({3.36, 0.683, 0.00126, 0.00106, 11.1, 0.103, 0.97, 0.492}),
    outer<8, 256, 16>({3.87, 0.642, 0.0839, 0.349, 1.56, 0.0323, 0.858, 0.319}),
    outer<16, 32, 16>({3.29, 1, 0.116, 1.21, 0.429, 0.145, 0.88, 0.687}),
};

/* Blocks a tile; 0: they stream. */
static const int shares[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128};

static bool can_share(const Kernel &kernel, int share)
{
    return share == 0 ? kernel.streams : share == 1 || kernel.splits;
}

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    /* No grid has more rows of blocks than 65,535. */
    for (int row = MOST_ROWS; row < m; row += MOST_ROWS)
        sgemm(min(MOST_ROWS, m - row), n, k, alpha, A + (size_t)row * k, B, beta,
              C + (size_t)row * n);
    const Problem p = {A, B, C, min(m, MOST_ROWS), n, k, alpha, beta};
    int device = 0, processors = 0, shared_bytes = 0;
    Plan best = {};
    const Kernel *chosen = NULL;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    for (const Kernel &kernel : kernels)
        for (int share : shares) {
            if (!fits(kernel, p) || kernel.shared_bytes > shared_bytes || !can_share(kernel, share))
                continue;
            const Plan made = plan(kernel, p, processors, share);
            if (made.cost < (chosen ? best.cost : INFINITY)) {
                best = made;
                chosen = &kernel;
            }
        }
    chosen->launch(p, best, processors);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
