/* Tests of engine/form/verdict.c: which mistake gives all of a wrong output, in a lab whose
 * elements may be off by a bound. */
#include "../../engine/lab.h"

#include "../check.h"

enum { N = 3 };

static void reference(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      void *const right[LAB_ARRAYS]) {
    (void)which, (void)inputs;
    for (int i = 0; i < N; i++) ((float *)right[0])[i] = (float)i + 1;
}

static double bound(const struct lab_case *which, const void *const inputs[LAB_ARRAYS], int array,
                    int64_t i) {
    (void)which, (void)inputs, (void)array, (void)i;
    return 0.25;
}

static double doubled(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      const void *const right[LAB_ARRAYS], int formula, int64_t block, int64_t i) {
    (void)which, (void)inputs, (void)formula, (void)block;
    return 2 * ((const float *)right[0])[i];
}

const struct lab lab = {
    .params = {{"n", "int", N, N, N, "elements"}},
    .arrays = {{"out", ELEMENT_F32, "float", ROLE_OUTPUT, 1, {{0, 0}}, -1, {0, -1, -1}}},
    .formulas = {{"doubled", "each element is twice as large", "is it added twice?", false}}};
const struct lab_truth lab_truth = {.reference = reference, .bound = bound, .value = doubled};

/* Whether that is said of an output whose last element is off by so much. */
static bool is_doubled(float off) {
    const struct lab_case which = {.shape = {{N}}};
    const float out[N] = {2, 4, 6 + off};
    const void *const arrays[LAB_ARRAYS] = {out};
    struct verdict verdict;
    struct explanation said;
    CHECK(truth_verify(&which, arrays, &verdict) && verdict.wrong == N);
    return truth_explain(&which, arrays, &verdict, &said);
}

TEST(a_formula_gives_each_element_as_far_as_the_bound_goes) {
    CHECK(is_doubled(0) && is_doubled(-0.25f) && is_doubled(0.25f));
    CHECK(!is_doubled(-0.5f) && !is_doubled(0.5f));
}
