/* What is right in prefix sums. Sums of ints wrap around: every order of addition gives the same
 * bits, and all of them are compared. */
#include "engine/report/text/numbers.h"
#include "scan.h"

static int element(const struct lab_case *which, int64_t i) {
    const uint64_t random = lab_random(which->seed, ARRAY_IN, (uint64_t)i);
    switch (which->fill) {
    case FILL_ONES: return 1;
    case FILL_CANCEL: return i % 2 ? -1 : 1;
    case FILL_COUNTING: return (int)(i % 1000) + 1;
    case FILL_WRAP: return (int32_t)(uint32_t)random;
    default: return (int)(random % 2001) - 1000;
    }
}

static void fill(const struct lab_case *which, void *const arrays[LAB_ARRAYS]) {
    for (int64_t i = 0; i < which->shape.of[PARAM_N]; i++)
        ((int *)arrays[ARRAY_IN])[i] = element(which, i);
}

static void reference(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      void *const right[LAB_ARRAYS]) {
    const unsigned *in = inputs[ARRAY_IN];
    unsigned sum = 0, *out = right[ARRAY_OUT];
    for (int64_t i = 0; i < which->shape.of[PARAM_N]; i++) out[i] = sum += in[i];
}

/* out[i] with one of the mistakes that lab.c names. */
static double value(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                    const void *const right[LAB_ARRAYS], int formula, int64_t block, int64_t i) {
    const unsigned *in = inputs[ARRAY_IN], *out = right[ARRAY_OUT];
    const int64_t n = which->shape.of[PARAM_N], first = i / block * block,
                  end = first + block < n ? first + block : n;
    const unsigned before = first ? out[first - 1] : 0;
    switch (formula) {
    case EXCLUSIVE: return (int)(out[i] - in[i]);
    case BLOCKS_APART: return (int)(out[i] - before);
    case OWN_SUM_ADDED: return (int)(out[i] - before + out[end - 1]);
    default: return (int)in[i];
    }
}

/* Each element on its own adds up all that are not behind it. */
static double naive_loads(const struct shape *s) {
    const double n = (double)s->of[PARAM_N];
    return n * (n + 1) / 2;
}

static double seconds(const struct shape *s) { return 10 + (double)s->of[PARAM_N] / 1e5; }

/* A block's worth, whatever it is, whole and not; one; a warp and its neighbors; several blocks,
 * the last one not whole; more blocks than a block has threads or elements. */
static const int64_t to_check[] = {100, 1, 2, 31, 32, 33, 1023, 1024, 1025, 5000, 20000};
static const int64_t with_phases[] = {8, 64, 2048};

static bool listed(const int64_t *list, int count, int number, struct shape *shape) {
    if (number < count) *shape = (struct shape){{list[number]}};
    return number < count;
}

static bool shape_for(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    const int64_t tell[] = {lab_prime_from(3 * width), lab_prime_from(width / 2 + 1),
                            lab_prime_from(5000)},
                  count[] = {4096}, whole[] = {8192}, page[] = {2 * width + width / 4 + 1};
    switch (purpose) {
    case SHAPE_CHECK: return listed(to_check, LENGTH(to_check), number, shape);
    case SHAPE_TELL: return listed(tell, LENGTH(tell), number, shape);
    case SHAPE_COUNT: return listed(count, 1, number, shape);
    case SHAPE_WHOLE: return listed(whole, 1, number, shape);
    case SHAPE_PHASES: return listed(with_phases, LENGTH(with_phases), number, shape);
    case SHAPE_PAGE: return listed(page, 1, number, shape);
    }
    return false;
}

const struct lab_truth lab_truth = {
    .fill = fill,
    .reference = reference,
    .value = value,
    .naive_loads = naive_loads,
    .seconds = seconds,
    .shape = shape_for,
};
