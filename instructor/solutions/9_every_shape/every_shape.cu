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
 *     shared_row.cuh       the same, by blocks that share k
 *     column.cuh           a matrix times a column, the same
 *     short_k.cuh          k of a few and a small C
 *     small.cuh            what else takes no longer than a launch
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
#include "shared_row.cuh"
#include "short_k.cuh"
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
typedef Shape<128,  80,  8,  64,  40,  4, 20, 1, 4, 2, true, false, false> Flat128x80;
typedef Shape< 64,  64,  8,  32,  32,  8,  4, 2, 4, 2, true, true, false> TwoSliced64x64;
typedef Shape< 48,  64,  8,  48,  64, 12,  8, 4, 4, 3, true, false, false> Sliced48x64;
typedef Shape< 16,  64,  8,  16,  64,  4,  8, 8, 4, 2, true, false, false> Sliced16x64;
typedef Shape< 24,  64,  8,  24,  64, 12,  4, 8, 4, 2, true, false, false> Sliced24x64;
typedef Shape< 32, 128,  8,  32,  64,  8,  8, 1, 4, 6, true, false, false> Flat32x128;
typedef Shape<128,  32,  8,  64,  32,  8,  8, 1, 4, 6, true, false, false> Flat128x32;

/* `true`: with vectors of 4, for rows of B and C that are whole ones. */
/*   rest, wave, chunk, busy, sum, part, megabyte */
static const Kernel kernels[] = {
    tiles<Large, true>({7, 7.72, 2.77, 1.17, 35.7, 1.71, 0.152}),
    tiles<Large, false>({7, 14, 0.0823, 3.25, 45, 0.036, 0.0542}),
    tiles<Wide128x256, true>({2.56, 5.99, 0.167, 2.64, 11.6, 0.0001, 0.238}),
    tiles<Flat128x128, true>({2.66, 4.88, 0.437, 0.768, 7.54, 0.0001, 0.159}),
    tiles<Flat112x128, true>({2.19, 4.34, 0.541, 0.74, 6.42, 0.00127, 0.119}),
    tiles<Flat112x128, false>({1.99, 6.78, 0.635, 0.776, 12, 0.0001, 0.0704}),
    tiles<Flat256x64, true>({2.92, 4.39, 0.884, 0.869, 6.45, 0.0001, 0.176}),
    tiles<Flat64x128, true>({3.82, 4.46, 0.659, 0.394, 7.9, 0.0001, 0.175}),
    tiles<Sliced64x128, true>({3.57, 4.57, 1.38, 0.563, 4.75, 0.326, 0.174}),
    tiles<Sliced64x128, false>({2.7, 4.51, 1.66, 0.105, 21.9, 0.379, 0.0745}),
    tiles<Flat48x128, true>({3.82, 2.96, 0.581, 0.288, 8.42, 0.000155, 0.281}),
    tiles<Flat64x64, true>({2.99, 2.71, 0.261, 0.307, 4.16, 0.00862, 0.0722}),
    tiles<Flat64x64, false>({3.24, 2.35, 0.252, 0.247, 7.93, 0.0104, 0.21}),
    tiles<Flat128x40, false>({1.5, 10.9, 0.604, 0.413, 4.65, 0.00307, 0.236}),
    tiles<Sliced64x64, true>({2.61, 3.38, 0.798, 0.438, 3.13, 0.0244, 0.181}),
    tiles<Sliced64x40, false>({2.29, 5.22, 0.633, 0.601, 5.23, 0.0177, 0.684}),
    tiles<Sliced40x64, true>({3.03, 2.46, 0.421, 0.549, 3.92, 0.0217, 0.433}),
    tiles<Sliced40x64, false>({1.78, 3.95, 0.212, 0.596, 11.2, 0.0202, 0.663}),
    tiles<Sliced32x64, false>({2.53, 2.97, 0.509, 0.523, 6.71, 0.0201, 0.461}),
    tiles<Flat32x64, true>({4, 2.08, 0.271, 0.229, 3.57, 0.017, 0.248}),
    tiles<Light32x64, true>({3.9, 1.2, 0.19, 0.124, 4.35, 0.0103, 0.346}),
    tiles<Light64x32, false>({4.37, 1.03, 0.261, 0.159, 7.36, 0.00922, 0.447}),
    tiles<Sliced32x32, true>({2.6, 2.09, 0.625, 0.494, 2.02, 0.0259, 1.09}),
    tiles<Sliced32x32, false>({3.17, 1.82, 0.205, 0.576, 3.32, 0.0475, 0.566}),
    tiles<LightSliced32x32, false>({3.19, 2.07, 0.326, 0.295, 4.16, 0.0219, 0.584}),
    tiles<Sliced64x16, false>({2.87, 1.89, 0.0421, 0.557, 4.66, 0.0645, 0.453}),
    tiles<Flat128x128, false>({2.12, 7.73, 0.431, 0.901, 16.9, 0.000108, 0.143}),
    tiles<Sliced64x64, false>({2.76, 3.2, 0.901, 0.731, 8.4, 0.0211, 0.154}),
    tiles<Flat32x64, false>({3.24, 2.09, 0.285, 0.264, 6.54, 0.0182, 1.11}),
    tiles<Light32x64, false>({3.77, 1.32, 0.216, 0.144, 7.93, 0.00697, 0.316}),
    tiles<Sliced32x64, true>({2.69, 2.43, 0.32, 0.504, 3.5, 0.0245, 0.43}),
    tiles<TwoSliced64x64, false>({2.74, 2.77, 0.391, 0.506, 6.88, 0.0157, 0.231}),
    tiles<Sliced48x64, true>({3.6, 3.22, 0.262, 0.609, 3.85, 0.0171, 0.192}),
    tiles<Sliced16x64, true>({2.9, 1.93, 0.183, 0.673, 2.75, 0.0338, 0.451}),
    tiles<Sliced16x64, false>({3.29, 1.81, 0.528, 0.598, 3.96, 0.0428, 0.377}),
    tiles<Sliced24x64, false>({3.03, 2.31, 0.706, 0.827, 4.61, 0.0379, 0.428}),
    tiles<Flat32x128, true>({3.55, 2.11, 0.492, 0.23, 5.74, 0.00445, 0.188}),
    tiles<Flat128x32, false>({2.2, 3.48, 0.626, 0.3, 11.6, 0.000654, 0.356}),
    tiles<Flat128x80, false>({2.31, 12.1, 0.537, 0.595, 6.24, 0.0001, 0.0995}),
    along_k<1, 1, 256, 16, false>({4, 0.817, 0.0339, 0.0894, 3.87, 0.0001, 0.372}),
    along_k<4, 1, 256, 5, false, false>({3.3, 0.9, 0.889, 0.29, 3.31, 0.00759, 0.33}),
    along_k<1, 2, 256, 8, false>({3.4, 0.617, 0.621, 0.166, 2.79, 0.0224, 0.416}),
    along_k<1, 1, 8, 8, false>({3.42, 0.317, 0.674, 0.399, 2.25, 0.00522, 0.432}),
    along_k<4, 1, 256, 4, false>({4.02, 0.131, 0.848, 0.278, 2.4, 0.0001, 0.393}),
    along_k<4, 2, 256, 4, false>({4.15, 0.255, 0.876, 0.246, 2.04, 0.0103, 0.298}),
    along_k<4, 4, 256, 4, true>({3.5, 0.001, 1.46, 0.932, 2.53, 0.00084, 0.611}),
    along_k<4, 4, 256, 4, false>({4.87, 0.939, 1.93, 0.0582, 2.37, 0.0204, 0.544}),
    along_k<8, 4, 256, 2, false>({3.29, 0.4, 0.971, 0.746, 3.1, 0.00897, 0.47}),
    along_k<8, 8, 32, 2, true>({1.5, 2.73, 0.259, 0.978, 2.6, 0.0598, 0.775}),
    along_k<8, 8, 32, 2, false>({1.5, 2.7, 0.182, 1.11, 3.12, 0.0473, 0.522}),
    along_k<8, 8, 256, 1, true>({1.62, 2.27, 0.678, 0.481, 2.21, 0.0243, 0.55}),
    along_k<8, 8, 256, 1, false>({2.03, 2.29, 0.89, 0.517, 2.6, 0.012, 0.55}),
    along_columns<4, 8, 4, 4, true>({3.39, 0.00207, 1.22, 0.87, 2.69, 0.0109, 0.446}),
    along_columns<4, 16, 4, 4, false>({2, 2.01, 0.617, 0.362, 3.22, 0.0159, 0.6}),
    along_columns<2, 64, 4, 8, true>({3.75, 0.784, 0.917, 0.384, 4.37, 0.0234, 0.359}),
    along_columns<8, 32, 2, 8, false>({1.96, 1.77, 1.04, 0.664, 3.21, 0.0485, 0.414}),
    along_columns<8, 64, 4, 4, true>({4.06, 0.946, 0.774, 0.369, 4.96, 0.039, 0.382}),
    along_columns<16, 128, 2, 8, true>({1.5, 4.48, 0.975, 0.816, 5.42, 0.0636, 0.0857}),
    row<1, 256, 8>({3.12, 0.54, 1.13, 0.531, 1.78, 0.0204, 0.552}),
    row<1, 512, 8>({4.93, 0.00124, 0.268, 0.752, 2.04, 0.0074, 0.455}),
    row<2, 512, 8>({4.09, 0.188, 0.837, 0.716, 1.66, 0.0174, 0.325}),
    row<3, 256, 8>({3.76, 0.0625, 0.652, 0.492, 1.47, 0.0324, 0.434}),
    row<3, 512, 8>({4.31, 0.0527, 0.23, 0.829, 1.1, 0.0177, 0.27}),
    row<4, 256, 8>({3.45, 0.613, 0.658, 0.492, 1.77, 0.062, 0.38}),
    row<5, 256, 8>({3.56, 0.181, 0.628, 0.672, 1.93, 0.144, 0.368}),
    row<6, 256, 8>({3.91, 0.927, 0.784, 0.313, 1.73, 0.337, 0.248}),
    shared_row<16, 256, 16>({3.98, 0.277, 0.325, 1.29, 0.371, 0.00081, 0.0651}),
    shared_row<64, 256, 16>({3.88, 0.694, 0.875, 0.282, 0.457, 0.000485, 0.107}),
    column<8, 16, 1>({2.98, 0.723, 0.668, 0.16, 2.47, 0.00941, 0.405}),
    column<4, 32, 2>({3.9, 0.168, 0.672, 0.464, 2.34, 0.00502, 0.372}),
    column<4, 256, 2>({3.96, 0.001, 0.43, 0.249, 1.83, 0.0001, 0.37}),
    column<1, 256, 8>({3.66, 0.354, 0.0844, 0.291, 3.67, 0.0001, 0.362}),
    column<1, 1024, 8>({3.17, 0.678, 1.19, 0.00206, 10, 0.00264, 0.369}),
    outer<2, 4, 32, 16>({3.78, 0.242, 0.0906, 0.216, 0.825, 0.125, 0.263}),
    outer<2, 4, 32, 64>({3.49, 0.752, 0.001, 0.000492, 0.905, 0.0219, 0.308}),
    outer<2, 4, 32, 32>({3.72, 0.468, 0.001, 0.000298, 0.462, 0.044, 0.286}),
    outer<8, 4, 32, 16>({3.9, 0.0503, 0.0415, 0.457, 11.1, 0.0111, 0.461}),
    outer<8, 4, 32, 64>({6.11, 0.168, 0.001, 0.000795, 14.1, 0.00837, 0.306}),
    outer<16, 2, 32, 32>({4.36, 0.222, 0.001, 0.000855, 9.58, 0.00589, 0.589}),
    outer<16, 4, 32, 64>({4.54, 0.818, 0.001, 0.00057, 66.9, 0.00877, 0.378}),
    outer<16, 4, 128, 16>({3.9, 1.14, 0.001, 0.000451, 0.365, 0.00181, 0.346}),
    outer<8, 4, 256, 16>({4.04, 0.614, 0.0473, 0.574, 15, 0.0253, 0.331}),
    outer<8, 1, 0, 64>({4.29, 0.547, 0.001, 0.000578, 1.56, 0.0255, 0.406}),
    outer<36, 1, 0, 64>({5.06, 0.835, 0.001, 0.000687, 8.56, 0.00549, 0.632}),
    small<1, 1, 4, 0, 5>({3.64, 0.0571, 0.385, 0.196, 5.89, 0.0498, 1.15}),
    small<1, 1, 4, 0, 0>({3.75, 0.001, 0.338, 0.247, 4.34, 0.603, 0.84}),
    small<1, 1, 4, 2, 4>({3.72, 0.049, 0.465, 0.162, 29.7, 0.0582, 0.0872}),
    small<1, 1, 4, 3, 2>({3.71, 0.0574, 0.483, 0.163, 82.7, 0.354, 0.0645}),
    small<1, 1, 4, 5, 0>({3.73, 0.0223, 0.567, 0.24, 1.86, 0.0291, 0.118}),
    small<2, 4, 2, 2, 3>({3.98, 0.0884, 0.518, 0.221, 0.874, 0.0269, 1.13}),
    small<2, 4, 2, 3, 2>({3.43, 0.569, 0.559, 0.329, 12.4, 0.0461, 0.194}),
    small<2, 4, 2, 5, 0>({3.42, 0.98, 0.637, 0.306, 10.5, 0.0136, 0.219}),
    short_k<1, 2>({3.72, 0.0138, 0.0821, 0.0884, 7.15, 0.278, 0.749}),
    short_k<4, 2>({3.74, 0.001, 0.174, 0.208, 1.57, 0.778, 0.245}),
    short_k<1, 8>({4.01, 0.00356, 0.242, 0.142, 1.95, 0.444, 1.15}),
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
