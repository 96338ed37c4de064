/* A stencil: each element of out is the mean of an element of in and its four neighbors; what lies
 * outside counts as 0. */
#include "engine/lab.h"
#include <float.h>
#include <math.h>

enum { ROWS, COLS };

const struct lab lab = {
    .name = "stencil",
    .title = "out = mean of 5 neighbors in in",
    .wrapper = "smooth",
    .params = {{"rows", "int", 1, 1 << 14, 1000, "rows"},
               {"cols", "int", 1, 1 << 14, 1000, "columns"}},
    /* Threads have the columns by x, the rows by y. */
    .arrays =
        {{"in", ELEMENT_F32, "float", ROLE_INPUT, 2, {{ROWS, 0}, {COLS, 0}}, -1, {1, 0, -1}},
         {"out", ELEMENT_F32, "float", ROLE_OUTPUT, 2, {{ROWS, 0}, {COLS, 0}}, -1, {1, 0, -1}}},
    .arguments = {"rows", "cols", "in", "out"},
    .command_line = {"rows", "cols"},
    .one_for_all = true,
    .usage = {{"", "1000 x 1000 elements"}, {"N", "N x N"}, {"ROWS COLS", "ROWS x COLS"}},
    .naive = "5 rows cols - edges",
    .version = "1",
    .fills = {{"random", "uniform on (-1, 1)"}, {"counting", "1, 2, 3, ... row by row"}},
    .counting_fill = 1,
    .criteria = {"tiled"},
};

static void fill(const struct lab_case *which, void *const arrays[LAB_ARRAYS]) {
    for (int64_t i = 0; i < which->shape.of[ROWS] * which->shape.of[COLS]; i++)
        ((float *)arrays[0])[i] =
            which->fill ? (float)(i + 1) : lab_uniform(which->seed, 0, (uint64_t)i);
}

/* Calls with each of the five that exists. */
static double sum_of(const struct lab_case *which, const float *in, int64_t element,
                     double (*of)(double)) {
    const int64_t rows = which->shape.of[ROWS], cols = which->shape.of[COLS];
    const int64_t row = element / cols, col = element % cols;
    double sum = of(in[element]);
    if (row > 0) sum += of(in[element - cols]);
    if (row + 1 < rows) sum += of(in[element + cols]);
    if (col > 0) sum += of(in[element - 1]);
    if (col + 1 < cols) sum += of(in[element + 1]);
    return sum;
}

static double itself(double value) { return value; }

static void reference(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      void *const right[LAB_ARRAYS]) {
    for (int64_t i = 0; i < which->shape.of[ROWS] * which->shape.of[COLS]; i++)
        ((float *)right[1])[i] = (float)(sum_of(which, inputs[0], i, itself) / 5);
}

/* Four additions, in any order; a division, or a product with 0.2f; and what is right is rounded.
 */
static double bound(const struct lab_case *which, const void *const inputs[LAB_ARRAYS], int array,
                    int64_t element) {
    (void)array;
    return 8 * (FLT_EPSILON / 2) * sum_of(which, inputs[0], element, fabs) / 5;
}

/* Each element and those of its neighbors that exist. */
static double naive_loads(const struct shape *s) {
    const double rows = (double)s->of[ROWS], cols = (double)s->of[COLS];
    return 5 * rows * cols - 2 * rows - 2 * cols;
}

const struct lab_truth lab_truth = {
    .fill = fill, .reference = reference, .bound = bound, .naive_loads = naive_loads};
