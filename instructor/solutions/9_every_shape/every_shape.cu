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
typedef Shape<128, 256, 16,  64,  64, 16,  8, 1, 4, 1, true, false, false> Wide128x256;
typedef Shape<128, 128,  8,  64,  64, 16,  8, 1, 4, 2, true, true, false> Flat128x128;
typedef Shape<112, 128,  8, 112,  32, 28,  4, 1, 4, 2, true, true, false> Flat112x128;
typedef Shape<256,  64,  8,  64,  64, 16,  8, 1, 4, 2, true, false, false> Flat256x64;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 1, 4, 4, true, false, false> Flat64x128;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 4, 6, 1, false, true, false> Sliced64x128;
typedef Shape< 48, 128,  8,  48,  64, 12,  8, 1, 4, 4, true, false, false> Flat48x128;
typedef Shape< 64,  64,  8,  32,  32,  8,  4, 1, 4, 4, true, true, false> Flat64x64;
typedef Shape< 64,  64,  8,  64,  32,  8,  8, 4, 4, 1, true, false, false> Sliced64x64;
typedef Shape<128,  40,  8,  64,  40,  4, 20, 1, 4, 4, true, false, false> Flat128x40;
typedef Shape< 64,  40,  8,  64,  40,  4, 20, 4, 4, 2, true, false, false> Sliced64x40;
typedef Shape< 40,  64,  8,  40,  64, 20,  4, 4, 4, 2, true, true, false> Sliced40x64;
typedef Shape< 32,  64,  8,  32,  64,  8,  8, 4, 4, 2, true, true, false> Sliced32x64;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 2, 4, 4, true, true, false> Flat32x64;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 1, 4, 8, true, false, false> Light32x64;
typedef Shape< 64,  32,  8,  32,  32,  8,  4, 1, 4, 8, true, true, false> Light64x32;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 8, 4, 1, true, true, false> Sliced32x32;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 4, 4, 2, true, true, false> LightSliced32x32;
typedef Shape< 64,  16,  8,  64,  16,  8,  4, 4, 4, 4, true, false, false> Sliced64x16;
typedef Shape<128,  16,  8, 128,  16, 16,  4, 1, 4, 8, true, false, false> Flat128x16;

/* `true`: with vectors of 4, for rows of B and C that are whole ones. */
/*   rest, wave, chunk, busy, sum, part, megabyte */
static const Kernel kernels[] = {
    tiles<Large, true>({6.91, 8.92, 2.7, 1.15, 41.4, 1.5, 0.15}),
    tiles<Large, false>({7, 13.6, 0.0594, 3.15, 100, 0.0352, 0.0506}),
    tiles<Wide128x256, true>({2.72, 5.95, 0.0309, 2.67, 13.8, 0.0399, 0.153}),
    tiles<Flat128x128, true>({2.83, 5.22, 0.731, 0.695, 18, 0.0275, 0.0547}),
    tiles<Flat112x128, true>({2.64, 4.15, 0.729, 0.673, 8.2, 0.0295, 0.0943}),
    tiles<Flat112x128, false>({2.03, 7.06, 0.748, 0.732, 14.9, 0.0001, 0.0856}),
    tiles<Flat256x64, true>({2.85, 4.85, 0.84, 0.805, 7.83, 0.0022, 0.109}),
    tiles<Flat64x128, true>({3.87, 4.22, 0.724, 0.364, 9.22, 0.000872, 0.11}),
    tiles<Sliced64x128, true>({2.86, 7.1, 1.37, 0.4, 4, 0.166, 0.109}),
    tiles<Sliced64x128, false>({2.98, 4.92, 1.62, 0.177, 20.8, 0.329, 0.0675}),
    tiles<Flat48x128, true>({6.07, 2.11, 0.575, 0.289, 7.58, 0.00494, 0.136}),
    tiles<Flat64x64, true>({3.24, 2.3, 0.258, 0.217, 4.1, 0.028, 0.108}),
    tiles<Flat64x64, false>({3.78, 1.92, 0.286, 0.25, 8.41, 0.0148, 0.0768}),
    tiles<Flat128x40, false>({1.55, 7.34, 0.618, 0.362, 6.17, 0.00661, 0.0972}),
    tiles<Sliced64x64, true>({2.82, 2.76, 0.779, 0.568, 2.96, 0.0424, 0.24}),
    tiles<Sliced64x40, false>({2.22, 6.54, 0.771, 0.687, 5.27, 0.0256, 0.608}),
    tiles<Sliced40x64, true>({3.74, 1.8, 0.496, 0.491, 3.9, 0.043, 0.463}),
    tiles<Sliced40x64, false>({2.88, 5.49, 0.178, 0.57, 5.8, 0.0411, 0.61}),
    tiles<Sliced32x64, false>({2.87, 2.8, 0.621, 0.485, 6.11, 0.0428, 0.474}),
    tiles<Flat32x64, true>({3.26, 1.92, 0.258, 0.23, 3.51, 0.0281, 0.24}),
    tiles<Light32x64, true>({3.51, 1.49, 0.191, 0.119, 4.13, 0.0169, 0.272}),
    tiles<Light64x32, false>({3.78, 2.15, 0.254, 0.201, 8.58, 0.00675, 0.186}),
    tiles<Sliced32x32, true>({3.43, 1.18, 0.59, 0.592, 2.12, 0.0332, 0.658}),
    tiles<Sliced32x32, false>({2.74, 2.16, 0.235, 0.573, 3.78, 0.0346, 0.634}),
    tiles<LightSliced32x32, false>({2.49, 2.32, 0.369, 0.286, 3.69, 0.0285, 0.529}),
    tiles<Sliced64x16, false>({2.3, 2.15, 0.0519, 0.545, 3.75, 0.0596, 0.519}),
    tiles<Flat128x16, false>({6.66, 0.837, 0.0803, 0.277, 9.27, 0.0001, 0.528}),
    along_k<1, 1, 256, 16, false>({2.98, 0.57, 0.906, 0.302, 4.9, 0.0001, 0.372}),
    along_k<1, 2, 256, 8, false>({3.59, 0.242, 0.663, 0.461, 3.22, 0.0001, 0.423}),
    along_k<1, 1, 8, 8, false>({3.91, 0.323, 0.71, 0.404, 2.5, 0.00318, 0.431}),
    along_k<4, 1, 256, 4, false>({4.16, 0.00101, 0.542, 0.277, 2.93, 0.00252, 0.405}),
    along_k<4, 2, 256, 4, false>({3.45, 0.001, 1.22, 0.369, 2.29, 0.00694, 0.399}),
    along_k<4, 4, 256, 4, true>({3.18, 0.001, 1.66, 0.825, 3.09, 0.000299, 0.645}),
    along_k<4, 4, 256, 4, false>({3.16, 0.493, 2.91, 0.0596, 3.02, 0.0207, 0.508}),
    along_k<8, 4, 256, 2, false>({3.18, 0.386, 1.11, 0.731, 3.14, 0.00796, 0.398}),
    along_k<8, 8, 8, 2, false>({1.87, 3.36, 0.194, 1.19, 3.13, 0.0291, 0.577}),
    along_k<8, 8, 32, 2, true>({1.5, 2.65, 0.189, 0.708, 2.59, 0.0621, 0.346}),
    along_k<8, 8, 32, 2, false>({1.5, 2.65, 0.272, 1.02, 3.47, 0.038, 0.517}),
    along_k<8, 8, 256, 1, true>({1.56, 2, 0.727, 0.414, 2.11, 0.0307, 0.516}),
    along_k<8, 8, 256, 1, false>({1.68, 2.49, 0.772, 0.463, 2.79, 0.0174, 0.518}),
    along_columns<4, 8, 4, 4, true>({2.94, 0.354, 0.949, 0.697, 2.22, 0.0127, 0.361}),
    along_columns<4, 16, 4, 4, false>({1.69, 2.69, 1.35, 0.498, 3.2, 0.0191, 0.357}),
    along_columns<2, 64, 4, 8, true>({3.03, 1.19, 1.21, 0.961, 3.93, 0.0218, 0.282}),
    along_columns<8, 32, 2, 8, false>({1.5, 2.4, 1.24, 0.511, 2.08, 0.0281, 0.362}),
    along_columns<8, 64, 4, 4, true>({3.87, 2.36, 1.23, 0.241, 5.65, 0.0397, 0.292}),
    along_columns<16, 32, 2, 8, true>({1.7, 2.71, 1.34, 0.887, 4.51, 0.0127, 0.106}),
    along_columns<16, 128, 2, 8, true>({1.5, 4.36, 0.999, 0.797, 6.09, 0.0938, 0.0701}),
    row<1, 256, 8>({3.45, 0.455, 0.935, 0.391, 1.78, 0.0147, 0.538}),
    row<1, 512, 8>({4.34, 0.001, 1.08, 0.722, 2.21, 0.0001, 0.576}),
    row<2, 512, 8>({3.65, 0.161, 1.06, 0.686, 1.76, 0.0141, 0.374}),
    row<3, 256, 8>({3.49, 0.117, 0.612, 0.497, 1.82, 0.0385, 0.334}),
    row<3, 512, 8>({3.78, 0.001, 0.266, 0.911, 1.57, 0.0218, 0.294}),
    row<4, 256, 8>({2.89, 0.507, 0.881, 0.322, 1.97, 0.0679, 0.28}),
    row<5, 256, 8>({3.31, 0.251, 0.661, 0.483, 2.3, 0.144, 0.327}),
    row<5, 512, 12>({3.38, 0.733, 0.888, 0.822, 1.98, 0.0597, 0.355}),
    row<6, 256, 8>({3.18, 0.613, 1.14, 0.849, 2.08, 0.32, 0.268}),
    column<8, 16, 1>({3.21, 0.637, 0.67, 0.143, 2.55, 0.00872, 0.387}),
    column<4, 32, 2>({3.86, 0.168, 0.672, 0.457, 2.45, 0.00516, 0.361}),
    column<4, 256, 2>({3.57, 0.001, 0.603, 0.252, 1.67, 0.0001, 0.361}),
    column<1, 256, 8>({3.34, 0.53, 0.544, 0.499, 3.97, 0.0392, 0.335}),
    column<1, 1024, 8>({3.2, 0.626, 1.1, 0.000473, 10.9, 0.0001, 0.337}),
    outer<2, 4, 32, 16>({3.83, 0.201, 0.105, 0.151, 0.835, 0.107, 0.194}),
    outer<2, 4, 32, 64>({3.22, 0.854, 0.001, 0.000552, 0.77, 0.0239, 0.237}),
    outer<2, 4, 32, 32>({3.39, 0.632, 0.001, 0.000653, 0.606, 0.0306, 0.249}),
    outer<8, 4, 32, 16>({3.87, 0.0557, 0.117, 0.401, 9.17, 0.0103, 0.392}),
    outer<8, 4, 32, 64>({4.72, 0.0892, 0.0708, 0.525, 10.1, 0.0169, 0.308}),
    outer<16, 2, 32, 32>({4.01, 0.396, 0.0316, 0.274, 6.52, 0.00441, 0.472}),
    outer<16, 4, 32, 64>({4.08, 0.972, 0.001, 0.000302, 99, 0.00739, 0.294}),
    outer<16, 4, 128, 16>({3.85, 0.903, 0.001, 0.000397, 0.554, 0.00384, 0.293}),
    outer<8, 4, 256, 16>({3.06, 1.24, 0.0465, 0.407, 34.7, 0.0098, 0.246}),
    outer<8, 1, 0, 64>({3.28, 1.27, 0.001, 0.000807, 2.7, 0.0191, 0.31}),
    outer<16, 1, 0, 64>({3.6, 1.19, 0.001, 0.000863, 2.44, 0.0183, 0.296}),
    outer<36, 1, 0, 64>({4.22, 2.16, 0.00112, 0.000681, 4.44, 0.00254, 0.386}),
    small<1, 1, 4, 0, 5>({3.59, 0.051, 0.382, 0.125, 6.23, 0.0735, 1.69}),
    small<1, 1, 4, 0, 0>({3.61, 0.001, 0.359, 0.243, 2.96, 0.535, 0.927}),
    small<1, 1, 4, 2, 4>({3.51, 0.117, 0.466, 0.163, 22.6, 0.0423, 0.0774}),
    small<1, 1, 4, 3, 2>({3.54, 0.0483, 0.501, 0.343, 94.2, 0.53, 0.129}),
    small<1, 1, 4, 5, 0>({3.59, 0.0546, 0.447, 0.317, 1.95, 0.0485, 0.114}),
    small<2, 4, 2, 2, 3>({3.62, 0.146, 0.511, 0.287, 0.976, 0.0212, 1.55}),
    small<2, 4, 2, 3, 2>({3.67, 0.327, 0.68, 0.297, 15.3, 0.0531, 0.145}),
    small<2, 4, 2, 5, 0>({3.36, 1.16, 0.422, 0.221, 8.23, 0.011, 0.104}),
};

/* Blocks a tile; 0: they stream. */
static const int shares[] = {0, FILLING, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256};

static bool can_share(const Kernel &kernel, int share)
{
    return share == 0 ? kernel.streams : share == 1 || kernel.splits;
}

/* How the kernel would do the problem: false if not with so many blocks a tile. */
static bool make_plan(Plan &made, const Kernel &kernel, const Problem &p, int processors, int share)
{
    if (!can_share(kernel, share))
        return false;
    made = plan(kernel, p, processors, share);
    return made.cost < INFINITY && (share == FILLING ? made.share > 1 : made.share == share);
}

struct Choice {
    const Kernel *kernel;
    Plan plan;
};

static void consider(Choice &best, const Kernel &kernel, const Problem &p, int processors)
{
    for (int share : shares) {
        Plan made;
        if (share > ceiling(p.k, kernel.depth))
            break; /* each has a chunk already */
        if (make_plan(made, kernel, p, processors, share) && made.cost < best.plan.cost)
            best = {&kernel, made};
    }
}

/* Begins with the kernel that may take the least: then few others need a plan. */
static Choice choose(const Problem &p, int processors, int shared_bytes)
{
    constexpr int COUNT = sizeof kernels / sizeof *kernels;
    double least[COUNT];
    int first = 0;
    Choice best = {};
    best.plan.cost = INFINITY;
    for (int i = 0; i < COUNT; ++i) {
        const bool possible = fits(kernels[i], p) && kernels[i].shared_bytes <= shared_bytes;
        least[i] = possible ? least_of(kernels[i], p, processors) : INFINITY;
        if (least[i] < least[first])
            first = i;
    }
    consider(best, kernels[first], p, processors);
    for (int i = 0; i < COUNT; ++i)
        if (i != first && least[i] < best.plan.cost)
            consider(best, kernels[i], p, processors);
    return best;
}

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    /* No grid has more rows of blocks than 65,535. */
    for (int row = MOST_ROWS; row < m; row += MOST_ROWS)
        sgemm(min(MOST_ROWS, m - row), n, k, alpha, A + (size_t)row * k, B, beta,
              C + (size_t)row * n);
    const Problem p = {A, B, C, min(m, MOST_ROWS), n, k, alpha, beta};
    int device = 0, processors = 0, shared_bytes = 0;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const Choice chosen = choose(p, processors, shared_bytes);
    chosen.kernel->launch(*chosen.kernel, p, chosen.plan);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
