/* SGEMM: what the lab is. The command line says m k n, both functions say m n k: an order that is
 * part of the assignment's history. */
#include "sgemm.h"

#define M                                                                                          \
    { PARAM_M, 0 }
#define N                                                                                          \
    { PARAM_N, 0 }
#define K                                                                                          \
    { PARAM_K, 0 }

/* Numbers whose sums do not depend on the order. */
#define INTEGERS                                                                                   \
    { "bound", "exact" }

enum { ROWS, COLUMNS, NONE = -1 };

const struct lab lab = {
    .name = "sgemm",
    .title = "C = A B",
    .kernel = "mysgemm",
    .wrapper = "basicSgemm",
    .params = {{"m", "int", 1, INT32_MAX, 1000, "rows of A and C"},
               {"n", "int", 1, INT32_MAX, 1000, "columns of B and C"},
               {"k", "int", 1, INT32_MAX, 1000, "columns of A, rows of B"}},
    /* A tile moves along the columns of A. Threads have the rows by y, the columns by x. */
    .arrays = {{"A", ELEMENT_F32, "float", ROLE_INPUT, 2, {M, K}, COLUMNS, {NONE, ROWS, NONE}},
               {"B", ELEMENT_F32, "float", ROLE_INPUT, 2, {K, N}, NONE, {COLUMNS, NONE, NONE}},
               {"C", ELEMENT_F32, "float", ROLE_OUTPUT, 2, {M, N}, NONE, {COLUMNS, ROWS, NONE}}},
    .arguments = {"m", "n", "k", "A", "B", "C"},
    .command_line = {"m", "k", "n"},
    .one_for_all = true,
    .usage = {{"", "multiply 1000 x 1000 matrices"},
              {"M", "M x M matrices"},
              {"M K N", "A (M x K) by B (K x N)"}},
    .first_step = "basicSgemm launches mysgemm with enough threads, and\n"
                  "each thread of mysgemm computes one element of C and stores it.",
    .nan_with_shared = ": the kernel read outside A or B, or read shared memory,\n"
                       "C or a variable before it was written.",
    .nan = ": the kernel read outside A or B, or read C or a\n"
           "variable before it was written.",
    .naive = "2 m n k",
    .beside = "cuBLAS",
    .time = "10, and 1 more for every 20 million multiply-adds M K N",
    .version = "1.0.0",
    .fills = {[FILL_RANDOM] = {"random", "uniform on (-1, 1)", {"float32", "bound"}},
              [FILL_ONES_TWOS] = {"ones-twos", "A = 1, B = 2: every element of C is 2 K", INTEGERS},
              [FILL_IDENTITY] = {"identity",
                                 "A picks rows of B: C[i][j] = B[i mod K][j], and\n"
                                 "the values of B name their row and column",
                                 INTEGERS},
              [FILL_INDEX] = {"index",
                              "B picks columns of A: C[i][j] = A[i][j mod K],\n"
                              "the values of A name their row and column",
                              INTEGERS},
              [FILL_EXACT] = {"exact", "integers that float32 adds up exactly", INTEGERS},
              [FILL_EXTREMES] = {"extremes", "magnitudes from 2^-30 to 2^30", {"bound"}},
              [FILL_COUNTING] = {"counting", "1, 2, 3, ... row by row", INTEGERS}},
    .counting_fill = FILL_COUNTING,
    .criteria = {"tiled", "registers"},
    /* Not the naive kernel's line. */
    .textbook = {{"A[row * k + phase * TILE + threadIdx.x]", "A[row * k + i]"},
                 {"B[(phase * TILE + threadIdx.y) * n + col]", "B[i * n + col]"},
                 {"C[row * n + col]", "C[row * n + col]"}},
    /* C[i][j] = sum of A[i][p] * B[p][j], p < k. */
    .sum = {MATRIX_C, 0, 2, {{MATRIX_A, {ROWS, SUM_TERM}}, {MATRIX_B, {SUM_TERM, COLUMNS}}}},
    .sum_terms = PARAM_K,
    /* B above C, A left of C, as in a textbook. */
    .panels = {[MATRIX_A] = {1, 0, NONE, NONE},
               [MATRIX_B] = {0, 1, NONE, MATRIX_C},
               [MATRIX_C] = {1, 1, MATRIX_A, NONE}},
    .words.array = "matrix",
    .words.arrays = "matrices",
    .words.phase = "tile phase",
    .words.no_blocks = "an integer division rounds down: what does it give for a matrix smaller "
                       "than a tile?",
    .words.no_threads = "how many threads does a tile need?",
    .words.many_threads = "a block is a tile of C, not all of it: what grows with the matrix?",
    .words.many_blocks = "how many elements of C does a block compute?",
    .words.hints =
        {
            [FINDING_SHARED_RACE] = "a tile may be read only after every thread of the "
                                    "block has stored its part",
            [FINDING_GLOBAL_RACE] = "which thread does an element of C belong to?",
            [FINDING_EARLY_RETURN] = "a thread without an element of C may still have a "
                                     "part of a tile to load, and barriers to reach",
            [FINDING_UNINITIALIZED_SHARED] = "every element of a tile that is read needs a "
                                             "value, at the edge of a matrix too",
            [FINDING_INPUT_WRITTEN] = "A and B must be the same after the launch as before it",
            [FINDING_DEVICE_POINTER_ON_HOST] =
                "only kernels and cudaMemcpy can access what A, B and C point to",
            [FINDING_MISALIGNED] = "the index of a float4 access must be a multiple of 4: "
                                   "is it one in every row, for any k and n?",
            [FINDING_NO_LAUNCH] =
                "basicSgemm chooses block and grid, and then launches mysgemm<<<grid, "
                "block>>>(...): how many threads does C need?",
            [FINDING_TIME_LIMIT] = "how many blocks does C need, and what does each thread "
                                   "compute more than once?",
            [FINDING_UNWRITTEN] = "does the grid, rounded up, cover all of C?",
            [FINDING_WRONG_RESULT] = "which is the smallest of ./sgemm 2, 4, 8, 17 and 34 that "
                                     "fails? Work it out by hand: "
                                     "with --fill index, elements name their own place",
        },
};
