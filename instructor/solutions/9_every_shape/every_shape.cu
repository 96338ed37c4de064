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
 *     small.cuh            what takes no longer than a launch
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
#include "small.cuh"
#include "tiles.cuh"

/* Flat and light: several blocks on a multiprocessor, so that one loads and stores while others
 * compute. Sliced: one or two blocks, whose warps share k. */
/*            BM   BN  BK   WM   WN  TM  TN  SLICES STAGES RESIDENT CLAMPS RIMS STREAMS */
typedef Shape<128, 256, 16,  64,  64, 16,  8, 1, 4, 1, false, true, true> Large;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 1, 4, 4, true, false, false> Flat64x128;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 4, 6, 1, false, true, false> Sliced64x128;
typedef Shape< 48, 128,  8,  48,  64, 12,  8, 1, 4, 4, true, false, false> Flat48x128;
typedef Shape< 64,  64,  8,  32,  32,  8,  4, 1, 4, 4, true, true, false> Flat64x64;
typedef Shape< 64,  64,  8,  64,  32,  8,  8, 4, 4, 1, true, false, false> Sliced64x64;
typedef Shape< 64,  40,  8,  64,  40,  4, 20, 4, 4, 2, true, false, false> Sliced64x40;
typedef Shape< 40,  64,  8,  40,  64, 20,  4, 4, 4, 2, true, false, false> Sliced40x64;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 2, 4, 4, true, true, false> Flat32x64;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 1, 4, 8, true, false, false> Light32x64;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 8, 4, 1, true, true, false> Sliced32x32;
typedef Shape< 64,  16,  8,  64,  16,  8,  4, 4, 4, 4, true, false, false> Sliced64x16;

/* `true`: with vectors of 4, for rows of B and C that are whole ones. */
/*   rest, wave, chunk, busy, sum, part, megabyte */
static const Kernel kernels[] = {
    tiles<Large, true>({4.28, 6.23, 2.67, 0.593, 20, 0.975, 0.2}),
    tiles<Large, false>({4.05, 14, 0.102, 2.91, 45.7, 0.029, 0.199}),
    tiles<Flat64x128, true>({3.71, 5.22, 0.633, 0.347, 8.53, 0.229, 0.05}),
    tiles<Sliced64x128, true>({3.79, 3.92, 1.36, 0.481, 3.36, 0.299, 0.108}),
    tiles<Sliced64x128, false>({2.66, 5.17, 1.48, 0.057, 5.44, 0.298, 0.113}),
    tiles<Flat48x128, true>({3.63, 3.62, 0.614, 0.311, 5.84, 0.194, 0.093}),
    tiles<Flat64x64, true>({3.83, 1.5, 0.229, 0.232, 4.32, 0.0817, 0.324}),
    tiles<Flat64x64, false>({3, 3.21, 0.267, 0.263, 5.12, 0.204, 0.185}),
    tiles<Sliced64x64, true>({2.65, 3.58, 0.789, 0.655, 3.33, 0.0556, 0.274}),
    tiles<Sliced64x40, false>({2.81, 2.88, 0.657, 0.644, 3.36, 0.104, 0.455}),
    tiles<Sliced40x64, true>({3.39, 1.99, 0.576, 0.573, 2.9, 0.0656, 0.459}),
    tiles<Flat32x64, true>({2.77, 2.22, 0.3, 0.254, 3.05, 0.0549, 0.559}),
    tiles<Light32x64, true>({3.58, 1.69, 0.228, 0.173, 3.23, 0.0711, 0.319}),
    tiles<Sliced32x32, true>({3.72, 1.05, 0.644, 0.456, 1.37, 0.0806, 0.148}),
    tiles<Sliced32x32, false>({4.35, 0.464, 0.847, 0.627, 1.74, 0.119, 1.08}),
    tiles<Sliced64x16, false>({2.81, 2.28, 0.0327, 0.367, 1.78, 0.132, 0.406}),
    along_k<1, 1, 256, 16, false>({3.97, 0.454, 0.935, 0.323, 3.93, 0.0001, 0.208}),
    along_k<1, 2, 256, 8, false>({3.33, 0.264, 1.13, 0.172, 2.46, 0.102, 0.414}),
    along_k<4, 1, 8, 4, false>({2.48, 0.0698, 2.69, 0.514, 4.86, 0.0128, 0.465}),
    along_k<4, 1, 256, 4, false>({3.65, 0.001, 0.874, 0.292, 2.44, 0.0555, 0.276}),
    along_k<4, 2, 256, 4, false>({3.9, 0.39, 0.913, 0.231, 2.45, 0.0618, 0.292}),
    along_k<4, 4, 256, 4, true>({2.56, 0.411, 1.32, 0.868, 2.39, 0.0218, 0.434}),
    along_k<4, 4, 256, 4, false>({3.31, 0.00139, 1.42, 1.3, 2.64, 0.0303, 0.789}),
    along_k<8, 4, 256, 2, false>({3.86, 0.116, 0.864, 0.642, 3.29, 0.0368, 0.607}),
    along_k<8, 8, 8, 2, false>({1.94, 3.16, 0.0943, 0.725, 2.95, 0.0546, 0.482}),
    along_k<8, 8, 32, 2, true>({2, 2.64, 0.7, 0.505, 2.67, 0.0412, 0.171}),
    along_k<8, 8, 32, 2, false>({1.95, 2.72, 0.996, 0.653, 2.23, 0.0443, 0.402}),
    along_k<8, 8, 256, 1, true>({1.92, 1.88, 0.633, 0.444, 2.36, 0.0433, 0.61}),
    along_k<8, 8, 256, 1, false>({2.15, 1.93, 0.819, 0.613, 2.94, 0.0283, 0.254}),
    along_columns<1, 16, 4, 8, true>({2.1, 1.69, 1.15, 0.0277, 2.64, 0.0161, 0.182}),
    along_columns<1, 16, 4, 8, false>({1.99, 2.32, 1.32, 0.617, 2.63, 0.0144, 0.382}),
    along_columns<4, 8, 4, 4, true>({2.24, 0.945, 1.41, 0.325, 2.29, 0.0151, 0.213}),
    along_columns<4, 16, 4, 4, false>({1.89, 1.97, 1.06, 0.468, 2.42, 0.0148, 0.336}),
    along_columns<8, 64, 4, 4, true>({2.5, 2.52, 1.32, 0.344, 4.49, 0.0437, 0.313}),
    along_columns<16, 32, 2, 8, true>({1.67, 3.98, 1.38, 0.595, 2.26, 0.0148, 0.324}),
    outer<2, 32, 16>({3.75, 0.305, 0.0872, 0.0988, 0.427, 0.121, 0.251}),
    outer<2, 32, 64>({3.29, 1.02, 0.001, 0.000422, 0.734, 0.125, 0.272}),
    outer<8, 32, 16>({3.72, 0.298, 0.159, 0.498, 9.05, 0.00821, 0.35}),
    outer<8, 256, 16>({3.88, 0.573, 0.126, 1.05, 4.23, 0.0284, 0.347}),
    small<1, 1, 4, 0, 5>({3.81, 0.0604, 0.272, 0.167, 33.6, 0.0803, 2.06}),
    small<1, 1, 4, 0, 0>({3.84, 0.001, 0.325, 0.235, 1.68, 0.679, 0.667}),
    small<1, 1, 4, 2, 4>({3.5, 0.0988, 0.573, 0.194, 5.48, 0.0294, 0.241}),
    small<1, 1, 4, 3, 2>({3.68, 0.00584, 0.476, 0.303, 55.6, 1.85, 0.0926}),
    small<1, 1, 4, 5, 0>({3.65, 0.0859, 0.491, 0.279, 1.57, 0.108, 0.222}),
    small<2, 4, 2, 2, 3>({3.47, 0.376, 0.526, 0.33, 1.5, 0.0313, 2.31}),
    small<2, 4, 2, 3, 2>({4.17, 0.256, 0.492, 0.248, 6.11, 0.0867, 0.173}),
    small<2, 4, 2, 5, 0>({3.84, 0.967, 0.642, 0.215, 10.9, 0.00876, 0.217}),
};

/* Blocks a tile; 0: they stream. */
static const int shares[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256};

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
    chosen->launch(*chosen, p, best);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
