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
typedef Shape<128,  16,  8,  64,  16,  8,  4, 2, 4, 4, true, false> Flat128x16;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 8, 4, 1, true, false> Sliced32x32;
typedef Shape< 64,  16,  8,  64,  16,  8,  4, 4, 4, 4, true, false> Sliced64x16;

/*   rest, wave, chunk, busy, sum, part, odd, megabyte */
static const Kernel kernels[] = {
    tiles<Large>({5.33, 10.3, 2.5, 0.0374, 44, 0.057, 1.26, 1.46}),
    tiles<Flat64x128>({3.91, 6.06, 1.32, 0.224, 23.4, 1.31, 2.48, 0.13}),
    tiles<Sliced64x128>({2.35, 11.4, 1.4, 1.14, 0.385, 0.754, 1.23, 0.176}),
    tiles<Flat48x128>({2.46, 6.85, 0.552, 0.32, 3.83, 0.616, 2.52, 0.195}),
    tiles<Flat64x64>({3.53, 3.17, 0.0314, 0.239, 13.2, 0.555, 1.25, 0.209}),
    tiles<Sliced64x64>({5.01, 4.82, 0.793, 0.598, 2.58, 0.118, 2.13, 0.275}),
    tiles<Sliced64x48>({4.82, 3.27, 0.434, 1.39, 5.11, 0.0135, 1.39, 0.887}),
    tiles<Flat32x64>({4.14, 2.68, 0.324, 0.257, 1.78, 0.8, 1.63, 0.852}),
    tiles<Flat64x32>({4.1, 1.97, 0.226, 0.416, 6.07, 0.0467, 2.37, 0.796}),
    tiles<Light32x64>({5.91, 0.903, 0.102, 0.187, 1.78, 0.297, 2.23, 0.332}),
    tiles<Flat128x16>({6.5, 0.46, 3.06, 0.661, 0.743, 0.0853, 2.79, 0.46}),
    tiles<Sliced32x32>({4.33, 1.42, 0.666, 0.00535, 3.23, 0.0862, 2.27, 1.1}),
    tiles<Sliced64x16>({1.69, 3.68, 0.02, 0.602, 2.88, 0.151, 0.852, 0.638}),
    along_k<1, 1, 32, 8>({2.06, 0.415, 1.13, 0.364, 2.22, 0.00617, 1.1, 0.298}),
    along_k<1, 1, 256, 16>({2.9, 0.303, 0.563, 0.371, 1.16, 0.00645, 1.12, 0.251}),
    along_k<1, 2, 256, 8>({1.72, 1.93, 0.359, 0.199, 1.06, 0.0866, 1.84, 0.195}),
    along_k<1, 8, 256, 4>({1.5, 1.13, 1.84, 1.25, 3.44, 0.021, 1.52, 0.53}),
    along_k<2, 4, 8, 2>({2.27, 0.202, 0.163, 1.61, 2.22, 0.0035, 0.801, 0.911}),
    along_k<4, 1, 8, 4>({1.79, 0.0693, 1.82, 0.516, 4.81, 0.0128, 2.41, 0.467}),
    along_k<4, 1, 256, 4>({2.4, 0.518, 0.547, 0.298, 5.03, 0.00682, 1.8, 0.242}),
    along_k<4, 2, 256, 4>({2.85, 0.437, 0.68, 0.373, 4.88, 0.0431, 1.51, 0.196}),
    along_k<4, 4, 8, 2>({2.14, 2.68, 0.0683, 0.738, 0.597, 0.364, 1.11, 0.429}),
    along_k<4, 4, 32, 2>({1.76, 2.7, 1.74, 0.508, 2.47, 0.222, 0.956, 0.238}),
    along_k<4, 4, 64, 4>({3.39, 0.923, 1.66, 0.569, 2.96, 0.101, 1.11, 0.489}),
    along_k<4, 4, 256, 2>({1.61, 0.0571, 1.55, 1.08, 3.3, 0.00722, 1.07, 0.246}),
    along_k<4, 4, 256, 4>({2.1, 0.253, 0.804, 1.3, 2.88, 0.0125, 1.54, 0.169}),
    along_k<8, 4, 256, 2>({3.46, 0.759, 1.31, 0.802, 2.1, 0.0348, 1.1, 0.209}),
    along_k<8, 8, 8, 2>({1.5, 4.43, 3.18, 0.411, 9.58, 0.206, 1.02, 0.742}),
    along_k<8, 8, 32, 2>({2.45, 4.88, 1.19, 0.811, 3.06, 0.0658, 1.08, 0.421}),
    along_k<8, 8, 256, 1>({3.02, 1.3, 1.02, 0.718, 1.74, 0.0823, 1.04, 0.191}),
    along_columns<1, 16, 4, 8>({4.12, 0.858, 0.696, 0.304, 2.8, 0.0308, 1.65, 0.0876}),
    along_columns<2, 8, 4, 4>({3.34, 0.0902, 1.35, 0.431, 3.45, 0.0353, 1.26, 0.256}),
    along_columns<4, 16, 4, 4>({3.63, 1.78, 0.398, 0.195, 3.79, 0.0464, 1.51, 0.0924}),
    along_columns<8, 4, 4, 4>({4.53, 1.55, 0.994, 0.497, 2.83, 0.104, 1.37, 0.184}),
    along_columns<8, 16, 4, 4>({3.75, 1.5, 0.94, 0.0324, 3.76, 0.0198, 1.06, 0.262}),
    along_columns<16, 8, 2, 8>({7, 0.453, 1.2, 0.907, 1.6, 0.0532, 0.888, 0.109}),
    outer<2, 32, 16>({3.08, 0.798, 0.00381, 0.0545, 0.49, 0.0153, 0.803, 0.109}),
    outer<2, 32, 64>({1.57, 0.202, 2.34, 0.0771, 4.61, 1.07, 1.85, 0.364}),
    outer<4, 32, 16>({1.96, 0.733, 0.471, 0.4, 4.31, 0.226, 3, 2.47}),
    outer<8, 32, 16>({2.97, 1.07, 0.00341, 0.00297, 6.28, 0.694, 2.6, 0.524}),
    outer<8, 256, 16>({3.29, 1.42, 0.0319, 0.191, 1.86, 0.0148, 0.806, 0.285}),
    outer<16, 32, 16>({2.31, 0.312, 0.139, 3.3, 0.44, 0.194, 0.808, 0.466}),
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
