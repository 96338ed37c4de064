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
 *     vectors.cuh          a row times a matrix, a matrix times a column: each element is read once
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
#include "vectors.cuh"

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
    tiles<Large, true>({7, 5.84, 2.92, 0.872, 30.6, 0.634, 0.155}),
    tiles<Large, false>({7, 11.8, 0.047, 2.89, 95, 0.0232, 0.05}),
    tiles<Flat128x128, true>({3.16, 4.93, 0.788, 0.737, 9.63, 0.0001, 0.124}),
    tiles<Flat112x128, true>({2.79, 4.78, 0.401, 0.736, 7.99, 0.00973, 0.103}),
    tiles<Flat64x128, true>({4.16, 4.27, 0.626, 0.38, 8.28, 0.0001, 0.12}),
    tiles<Sliced64x128, true>({2.76, 7.15, 1.43, 0.626, 3.94, 0.156, 0.0578}),
    tiles<Sliced64x128, false>({2.31, 6.19, 1.61, 0.239, 7.63, 0.189, 0.215}),
    tiles<Flat48x128, true>({6.2, 2.38, 0.491, 0.29, 6.72, 0.00037, 0.144}),
    tiles<Flat64x64, true>({3.77, 1.44, 0.253, 0.252, 4.44, 0.0199, 0.228}),
    tiles<Flat64x64, false>({3.62, 2.49, 0.301, 0.268, 6.99, 0.00837, 0.068}),
    tiles<Sliced64x64, true>({2.24, 3.58, 0.799, 0.768, 3.46, 0.0333, 0.421}),
    tiles<Flat64x40, false>({3.44, 6.69, 0.737, 0.201, 3.45, 0.0001, 0.614}),
    tiles<Sliced64x40, false>({3.59, 5.16, 0.681, 0.676, 4.28, 0.0246, 0.637}),
    tiles<Sliced40x64, true>({3.19, 2.33, 0.54, 0.539, 3.94, 0.0337, 0.504}),
    tiles<Flat32x64, true>({3.34, 1.67, 0.285, 0.269, 2.9, 0.0249, 0.484}),
    tiles<Light32x64, true>({3.95, 0.917, 0.216, 0.141, 4.15, 0.0157, 0.269}),
    tiles<Sliced32x32, true>({3.71, 1.34, 0.537, 0.0954, 2.45, 0.0239, 0.764}),
    tiles<Sliced32x32, false>({2.4, 2.41, 0.466, 0.916, 4.59, 0.0423, 0.631}),
    tiles<Sliced64x16, false>({2.93, 2.35, 0.0684, 0.41, 3.91, 0.0371, 0.511}),
    along_k<1, 1, 256, 16, false>({3.26, 0.625, 0.87, 0.287, 4.63, 0.0001, 0.371}),
    along_k<1, 2, 256, 8, false>({4.07, 0.259, 0.703, 0.288, 3.52, 0.0001, 0.42}),
    along_k<4, 1, 8, 4, false>({2.46, 1.03, 1.1, 0.569, 2.43, 0.0134, 0.632}),
    along_k<4, 1, 256, 4, false>({4.26, 0.001, 0.529, 0.262, 2.64, 0.0055, 0.383}),
    along_k<4, 2, 256, 4, false>({4.37, 0.001, 0.91, 0.295, 2.99, 0.0072, 0.294}),
    along_k<4, 4, 256, 4, true>({3.08, 0.001, 1.3, 0.921, 2.88, 0.0001, 0.546}),
    along_k<4, 4, 256, 4, false>({6.13, 0.001, 1.55, 0.602, 2.17, 0.0186, 0.506}),
    along_k<8, 4, 256, 2, false>({3.51, 0.0982, 1.06, 0.845, 3.05, 0.00652, 0.362}),
    along_k<8, 8, 8, 2, false>({1.62, 3.25, 0.283, 1.07, 3.09, 0.0245, 0.609}),
    along_k<8, 8, 32, 2, true>({1.76, 2.46, 0.438, 0.954, 2.59, 0.0624, 0.143}),
    along_k<8, 8, 32, 2, false>({1.59, 2.91, 0.32, 1.02, 3.24, 0.0395, 0.49}),
    along_k<8, 8, 256, 1, true>({1.64, 2.59, 0.626, 0.431, 1.46, 0.0189, 0.413}),
    along_k<8, 8, 256, 1, false>({3.03, 1.98, 0.756, 0.456, 2.31, 0.0118, 0.49}),
    along_columns<4, 8, 4, 4, true>({3.04, 0.283, 0.891, 0.645, 2, 0.0124, 0.323}),
    along_columns<4, 16, 4, 4, false>({1.57, 2.68, 1.2, 0.575, 3.18, 0.02, 0.285}),
    along_columns<8, 64, 4, 4, true>({2.78, 2.16, 0.955, 0.341, 5.31, 0.0331, 0.226}),
    along_columns<16, 32, 2, 8, true>({1.5, 2.92, 1.31, 1.09, 2.99, 0.0278, 0.0509}),
    row<4, 8, 2, 1024>({6.49, 0.001, 0.001, 0.000826, 4.55, 0.0001, 0.444}),
    row<4, 8, 3, 1024>({3.85, 0.206, 0.97, 0.314, 4.49, 0.0119, 0.306}),
    row<4, 8, 3, 512>({2.94, 0.439, 1.45, 0.0727, 3.28, 0.00768, 0.284}),
    row<4, 8, 4, 512>({3.98, 0.33, 1.6, 0.968, 4.03, 0.0103, 0.255}),
    row<4, 8, 4, 256>({2.11, 1.19, 1.1, 0.31, 2.12, 0.0106, 0.366}),
    row<1, 8, 3, 1024>({4.24, 2.19, 0.293, 0.782, 4.84, 0.00763, 0.536}),
    row<1, 8, 4, 1024>({3.66, 2.45, 1, 0.428, 4.19, 0.00587, 0.507}),
    row<1, 8, 5, 1024>({2.39, 3.09, 0.908, 0.214, 4.17, 0.00623, 0.381}),
    column<8, 16, 1>({3.11, 0.688, 0.656, 0.19, 2.33, 0.009, 0.414}),
    column<4, 32, 2>({3.79, 0.208, 0.669, 0.446, 2.26, 0.00555, 0.381}),
    column<4, 256, 2>({3.81, 0.001, 0.451, 0.246, 2.83, 0.0001, 0.367}),
    column<1, 256, 8>({3.27, 0.506, 0.646, 0.528, 4.1, 0.00816, 0.363}),
    column<1, 1024, 8>({3.11, 0.177, 1.9, 0.0506, 10.7, 0.0136, 0.385}),
    outer<2, 4, 32, 16>({3.67, 0.218, 0.092, 0.12, 0.719, 0.0819, 0.158}),
    outer<2, 4, 32, 64>({3.49, 0.577, 0.001, 0.000477, 0.96, 0.0319, 0.19}),
    outer<8, 4, 32, 16>({3.93, 0.105, 0.125, 0.38, 9.03, 0.0126, 0.389}),
    outer<8, 4, 256, 16>({3.22, 1.18, 0.0603, 0.406, 40.1, 0.0101, 0.296}),
    outer<8, 1, 0, 64>({3.25, 1.42, 0.001, 0.000918, 4.22, 0.0226, 0.243}),
    outer<16, 1, 0, 64>({3.75, 1.33, 0.001, 0.000947, 2.09, 0.0191, 0.239}),
    outer<36, 1, 0, 64>({4.64, 1.67, 0.001, 0.000766, 8.53, 0.0075, 0.566}),
    small<1, 1, 4, 0, 5>({3.58, 0.0373, 0.399, 0.124, 3.19, 0.117, 1.16}),
    small<1, 1, 4, 0, 0>({3.74, 0.001, 0.267, 0.222, 1.17, 1.61, 2.58}),
    small<1, 1, 4, 2, 4>({3.56, 0.1, 0.55, 0.193, 25.1, 0.0244, 0.235}),
    small<1, 1, 4, 3, 2>({3.55, 0.00306, 0.563, 0.435, 53.6, 1.26, 0.0664}),
    small<1, 1, 4, 5, 0>({3.73, 0.0714, 0.417, 0.292, 2.41, 0.067, 0.131}),
    small<2, 4, 2, 2, 3>({3.53, 0.29, 0.455, 0.261, 0.589, 0.0283, 1.6}),
    small<2, 4, 2, 3, 2>({3.64, 0.382, 0.524, 0.23, 7.07, 0.0325, 0.143}),
    small<2, 4, 2, 5, 0>({3.2, 1.46, 0.632, 0.317, 4.65, 0.00808, 0.05}),
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
