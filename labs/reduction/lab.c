/* Reduction: one sum of all elements. */
#include "engine/lab.h"
#include <math.h>

const struct lab lab = {
    .name = "reduction",
    .title = "sum = in[0] + ... + in[n - 1]",
    .wrapper = "sumAll",
    .params = {{"n", "int", 1, 1 << 28, 1 << 20, "elements"}},
    .arrays = {{"in", ELEMENT_F32, "float", ROLE_INPUT, 1, {{0, 0}}, -1, {0, -1, -1}},
               {"sum", ELEMENT_F32, "float", ROLE_OUTPUT, 1, {{-1, 1}}, -1, {-1, -1, -1}}},
    .arguments = {"n", "in", "sum"},
    .command_line = {"n"},
    .usage = {{"", "add up 2^20 elements"}, {"N", "N elements"}},
    .version = "1",
    .fills = {{"random", "multiples of 1/4096 from -1 to 1; of many elements, coarser ones"},
              {"ones", "the sum is N"}},
};

/* A float has 24 bits. So n multiples of 1/parts from -1 to 1 have a sum that is exact in any
 * order, if n parts is 2^24 at most: a wrong sum is seen as such, however many elements there are.
 */
enum { WHOLE = 1 << 24, PARTS = 4096 };

static double parts(const struct lab_case *which) {
    double parts = PARTS;
    while (parts > 1 && parts * (double)which->shape.of[0] > WHOLE) parts /= 2;
    return parts;
}

static void fill(const struct lab_case *which, void *const arrays[LAB_ARRAYS]) {
    const double of = parts(which);
    for (int64_t i = 0; i < which->shape.of[0]; i++) {
        const double random = rint(of * lab_uniform(which->seed, 0, (uint64_t)i)) / of;
        ((float *)arrays[0])[i] = which->fill ? 1 : (float)(random + 0); /* not -0 */
    }
}

static void reference(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      void *const right[LAB_ARRAYS]) {
    double sum = 0;
    for (int64_t i = 0; i < which->shape.of[0]; i++) sum += ((const float *)inputs[0])[i];
    *(float *)right[1] = (float)sum;
}

/* 0, if all sums are exact; else of each order of n - 1 additions, each rounded, and the rounding
 * of what is right. */
static double bound(const struct lab_case *which, const void *const inputs[LAB_ARRAYS], int array,
                    int64_t element) {
    const double n_u = ldexp((double)which->shape.of[0], -24);
    double all = 0;
    (void)array, (void)element;
    for (int64_t i = 0; i < which->shape.of[0]; i++) all += fabs(((const float *)inputs[0])[i]);
    return all * parts(which) <= WHOLE ? 0 : n_u / (1 - n_u) * all;
}

/* The sum is one element; the work is an addition for each element. */
static double operations(const struct shape *shape) { return (double)shape->of[0]; }

const struct lab_truth lab_truth = {
    .fill = fill, .reference = reference, .bound = bound, .operations = operations};
