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
 *     row.cuh              a row times a matrix, of which each element is read once
 *     column.cuh           a matrix times a column, the same
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
#include "column.cuh"
#include "model.cuh"
#include "outer.cuh"
#include "row.cuh"
#include "small.cuh"
#include "tiles.cuh"

/* Flat and light: several blocks on a multiprocessor, so that one loads and stores while others
 * compute. Sliced: one or two blocks, whose warps share k. */
/*            BM   BN  BK   WM   WN  TM  TN  SLICES STAGES RESIDENT CLAMPS RIMS STREAMS */
typedef Shape<128, 256, 16,  64,  64, 16,  8, 1, 4, 1, false, true, true> Large;
typedef Shape<128, 128,  8,  64,  64, 16,  8, 1, 4, 2, true, true, false> Flat128x128;
typedef Shape<112, 128,  8, 112,  32, 28,  4, 1, 4, 2, true, false, false> Flat112x128;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 1, 4, 4, true, false, false> Flat64x128;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 4, 6, 1, false, true, false> Sliced64x128;
typedef Shape< 48, 128,  8,  48,  64, 12,  8, 1, 4, 4, true, false, false> Flat48x128;
typedef Shape< 64,  64,  8,  32,  32,  8,  4, 1, 4, 4, true, true, false> Flat64x64;
typedef Shape< 64,  64,  8,  64,  32,  8,  8, 4, 4, 1, true, false, false> Sliced64x64;
typedef Shape< 64,  40,  8,  64,  40,  4, 20, 1, 4, 8, true, false, false> Flat64x40;
typedef Shape< 64,  40,  8,  64,  40,  4, 20, 4, 4, 2, true, false, false> Sliced64x40;
typedef Shape< 40,  64,  8,  40,  64, 20,  4, 4, 4, 2, true, false, false> Sliced40x64;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 2, 4, 4, true, true, false> Flat32x64;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 1, 4, 8, true, false, false> Light32x64;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 8, 4, 1, true, true, false> Sliced32x32;
typedef Shape< 64,  16,  8,  64,  16,  8,  4, 4, 4, 4, true, false, false> Sliced64x16;

/* `true`: with vectors of 4, for rows of B and C that are whole ones. */
/*   rest, wave, chunk, busy, sum, part, megabyte */
static const Kernel kernels[] = {
    tiles<Large, true>({7, 8.75, 2.8, 1.15, 32.7, 1.51, 0.15}),
    tiles<Large, false>({7, 12.7, 0.0596, 3.21, 92.6, 0.0353, 0.0506}),
    tiles<Flat128x128, true>({2.86, 4.88, 0.273, 0.721, 12.8, 0.0135, 0.115}),
    tiles<Flat112x128, true>({2.59, 4.17, 0.744, 0.704, 7.69, 0.0175, 0.053}),
    tiles<Flat64x128, true>({3.72, 4.37, 0.734, 0.364, 8.84, 0.000891, 0.109}),
    tiles<Sliced64x128, true>({3.76, 5.59, 1.41, 0.237, 4.15, 0.193, 0.0517}),
    tiles<Sliced64x128, false>({2.44, 5.95, 1.63, 0.169, 13.7, 0.211, 0.07}),
    tiles<Flat48x128, true>({4.71, 2.76, 0.555, 0.28, 8.66, 0.00498, 0.136}),
    tiles<Flat64x64, true>({3.04, 2.1, 0.228, 0.236, 3.85, 0.0202, 0.162}),
    tiles<Flat64x64, false>({3.11, 2.47, 0.296, 0.272, 7.37, 0.00972, 0.145}),
    tiles<Sliced64x64, true>({2.3, 3.44, 0.784, 0.568, 3.55, 0.0354, 0.24}),
    tiles<Flat64x40, false>({3.6, 6.56, 0.701, 0.17, 5.08, 0.0001, 0.599}),
    tiles<Sliced64x40, false>({1.91, 4.18, 0.559, 0.553, 4.54, 0.0253, 0.604}),
    tiles<Sliced40x64, true>({3.58, 1.85, 0.538, 0.493, 3.86, 0.0317, 0.503}),
    tiles<Flat32x64, true>({2.94, 2.15, 0.279, 0.24, 3.08, 0.0252, 0.115}),
    tiles<Light32x64, true>({3.35, 1.54, 0.186, 0.129, 3.98, 0.0168, 0.219}),
    tiles<Sliced32x32, true>({3.7, 0.899, 0.545, 0.325, 2.63, 0.027, 0.656}),
    tiles<Sliced32x32, false>({2.11, 2.48, 0.214, 0.667, 4.63, 0.042, 0.799}),
    tiles<Sliced64x16, false>({2.64, 2.31, 0.0541, 0.322, 3.6, 0.0537, 0.554}),
    along_k<1, 1, 256, 16, false>({3.3, 0.57, 0.93, 0.303, 4.84, 0.0001, 0.373}),
    along_k<1, 2, 256, 8, false>({3.64, 0.242, 0.665, 0.34, 3.23, 0.0001, 0.423}),
    along_k<4, 1, 8, 4, false>({2.4, 1.04, 1.16, 0.53, 2.52, 0.012, 0.628}),
    along_k<4, 1, 256, 4, false>({4.61, 0.001, 0.551, 0.274, 2.93, 0.00252, 0.4}),
    along_k<4, 2, 256, 4, false>({3.35, 0.001, 1.23, 0.368, 2.29, 0.00693, 0.394}),
    along_k<4, 4, 256, 4, true>({3.18, 0.001, 1.66, 0.825, 2.95, 0.000299, 0.645}),
    along_k<4, 4, 256, 4, false>({3.16, 0.493, 2.91, 0.0595, 3.02, 0.0207, 0.508}),
    along_k<8, 4, 256, 2, false>({3.18, 0.379, 1.03, 0.731, 2.61, 0.00796, 0.393}),
    along_k<8, 8, 8, 2, false>({1.87, 3.36, 0.194, 1.19, 3.13, 0.0291, 0.577}),
    along_k<8, 8, 32, 2, true>({1.5, 2.42, 0.189, 0.88, 2.58, 0.0621, 0.347}),
    along_k<8, 8, 32, 2, false>({1.5, 2.51, 0.272, 0.989, 3.4, 0.0381, 0.508}),
    along_k<8, 8, 256, 1, true>({1.56, 2.01, 0.727, 0.446, 2.26, 0.0195, 0.517}),
    along_k<8, 8, 256, 1, false>({1.52, 2.73, 0.774, 0.436, 2.88, 0.0127, 0.505}),
    along_columns<4, 8, 4, 4, true>({2.94, 0.354, 0.948, 0.697, 2.22, 0.0127, 0.356}),
    along_columns<4, 16, 4, 4, false>({1.64, 2.68, 1.34, 0.615, 3.2, 0.0199, 0.318}),
    along_columns<8, 64, 4, 4, true>({2.85, 2.35, 1.15, 0.242, 5.45, 0.0397, 0.271}),
    along_columns<16, 32, 2, 8, true>({1.5, 2.47, 1.37, 0.979, 3.66, 0.0132, 0.108}),
    row<1, 256>({3.45, 0.455, 0.935, 0.391, 1.78, 0.0147, 0.538}),
    row<1, 512>({4.34, 0.001, 1.08, 0.722, 2.21, 0.0001, 0.576}),
    row<2, 512>({3.65, 0.161, 1.06, 0.686, 1.76, 0.0141, 0.374}),
    row<3, 256>({3.51, 0.117, 0.664, 0.497, 1.8, 0.0373, 0.387}),
    row<3, 512>({3.78, 0.001, 0.266, 0.911, 1.57, 0.0218, 0.294}),
    row<4, 256>({3.04, 0.502, 0.701, 0.316, 1.97, 0.0681, 0.35}),
    row<4, 512>({3.79, 0.309, 0.722, 0.834, 1.89, 0.0358, 0.366}),
    row<5, 256>({3.33, 0.251, 0.661, 0.482, 2.3, 0.144, 0.362}),
    row<5, 512>({3.52, 0.465, 0.88, 0.674, 2, 0.0663, 0.279}),
    row<6, 256>({3.18, 0.613, 1.14, 0.849, 2.08, 0.32, 0.268}),
    column<8, 16, 1>({3.21, 0.637, 0.67, 0.143, 2.55, 0.00872, 0.387}),
    column<4, 32, 2>({3.79, 0.168, 0.672, 0.457, 2.44, 0.00516, 0.362}),
    column<4, 256, 2>({3.76, 0.001, 0.455, 0.239, 1.8, 0.0001, 0.362}),
    column<1, 256, 8>({3.34, 0.53, 0.548, 0.499, 3.97, 0.0388, 0.335}),
    column<1, 1024, 8>({3.2, 0.626, 1.1, 0.000473, 10.9, 0.0001, 0.337}),
    outer<2, 4, 32, 16>({3.65, 0.238, 0.105, 0.152, 0.833, 0.108, 0.202}),
    outer<2, 4, 32, 64>({3.22, 0.854, 0.001, 0.000552, 0.77, 0.0239, 0.237}),
    outer<8, 4, 32, 16>({3.89, 0.0557, 0.117, 0.398, 9.18, 0.0102, 0.392}),
    outer<8, 4, 256, 16>({3.05, 1.25, 0.0464, 0.409, 34.6, 0.00978, 0.257}),
    outer<8, 1, 0, 64>({3.41, 1.46, 0.001, 0.000816, 2.67, 0.0189, 0.324}),
    outer<16, 1, 0, 64>({3.66, 1.41, 0.001, 0.000864, 2.44, 0.0183, 0.349}),
    outer<36, 1, 0, 64>({4.14, 1.43, 0.001, 0.000685, 4.48, 0.00301, 0.687}),
    small<1, 1, 4, 0, 5>({3.59, 0.0501, 0.381, 0.125, 6.23, 0.0734, 1.52}),
    small<1, 1, 4, 0, 0>({3.61, 0.001, 0.359, 0.265, 2.96, 0.535, 0.927}),
    small<1, 1, 4, 2, 4>({3.51, 0.117, 0.466, 0.163, 22.6, 0.0423, 0.0774}),
    small<1, 1, 4, 3, 2>({3.71, 0.0484, 0.501, 0.343, 94.2, 0.53, 0.129}),
    small<1, 1, 4, 5, 0>({3.62, 0.0549, 0.441, 0.285, 1.94, 0.0485, 0.114}),
    small<2, 4, 2, 2, 3>({3.62, 0.146, 0.511, 0.287, 0.976, 0.0212, 1.55}),
    small<2, 4, 2, 3, 2>({3.69, 0.325, 0.665, 0.297, 15.3, 0.053, 0.145}),
    small<2, 4, 2, 5, 0>({3.1, 1.17, 0.688, 0.219, 8.06, 0.0106, 0.105}),
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
    for (const Kernel &kernel : kernels) {
        if (!fits(kernel, p) || kernel.shared_bytes > shared_bytes)
            continue;
        for (int share : shares) {
            if (!can_share(kernel, share))
                continue;
            if (share > ceiling(p.k, kernel.depth))
                break; /* each has a chunk already */
            const Plan made = plan(kernel, p, processors, share);
            if (made.share == share && made.cost < (chosen ? best.cost : INFINITY)) {
                best = made;
                chosen = &kernel;
            }
        }
    }
    chosen->launch(*chosen, p, best);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
