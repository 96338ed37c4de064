/* What a lab need not say of its truth: see lab.h. */
#include "../lab.h"
#include "../report/text/numbers.h"
#include <string.h>

double truth_operations(const struct shape *shape) {
    return lab_truth.operations ? lab_truth.operations(shape) : (double)lab_outputs(&lab, shape);
}

double truth_naive_loads(const struct shape *shape) {
    return lab_truth.naive_loads ? lab_truth.naive_loads(shape) : 0;
}

double truth_seconds(const struct shape *shape) {
    return lab_truth.seconds ? lab_truth.seconds(shape) : 10 + truth_operations(shape) / 20e6;
}

bool truth_allows(const struct shape *shape, char message[MESSAGE_SIZE]) {
    return !lab_truth.allows || lab_truth.allows(shape, message);
}

/* --- shapes ----------------------------------------------------------------------------------- */

int64_t lab_prime_from(int64_t number) {
    for (number = number < 2 ? 2 : number;; number++) {
        int64_t divisor = 2;
        while (divisor * divisor <= number && number % divisor) divisor++;
        if (divisor * divisor > number) return number;
    }
}

/* Whole blocks and not; one; a warp, and its neighbors; more than a block's threads. */
static const int64_t to_check[] = {100, 1, 33, 64, 31, 1025, 5000};
enum { BEFORE_MORE_THAN_A_BLOCK = 5 };

/* How many of them: arrays of two dimensions have several blocks early, and a run of many
 * parameters may do as much as their product. */
static int usual_checks(int params) {
    for (int i = 0; i < lab_arrays(&lab); i++)
        if (lab.arrays[i].dimensions > 1) return BEFORE_MORE_THAN_A_BLOCK;
    return LENGTH(to_check) - (params > 1);
}

/* The number-th size for a purpose, of a lab with so many parameters; 0: there are no more. */
static int64_t usual_size(enum lab_purpose purpose, int number, int width, int params) {
    const int64_t tell[] = {lab_prime_from(3 * width), lab_prime_from(2 * width + 1),
                            lab_prime_from(width / 2 + 1)};
    const int64_t one_page = width + width / 4 + 1;
    switch (purpose) {
    case SHAPE_CHECK: return number < usual_checks(params) ? to_check[number] : 0;
    case SHAPE_TELL: return number < LENGTH(tell) ? tell[number] : 0;
    case SHAPE_COUNT: return number ? 0 : params > 1 ? 64 : 4096;
    case SHAPE_WHOLE: return number ? 0 : 4 * (int64_t)width;
    case SHAPE_PHASES: return number < 2 ? number ? 64 : 8 : 0;
    case SHAPE_PAGE: return number ? 0 : one_page;
    }
    return 0;
}

/* Parameters that differ can be told apart; within their ranges. */
static bool usual_shape(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    const int params = lab_params(&lab);
    const int64_t size = usual_size(purpose, number, width > 1 ? width : 16, params);
    *shape = (struct shape){{0}};
    for (int i = 0; size && i < params; i++) {
        const struct lab_param *p = &lab.params[i];
        const int64_t wanted = purpose == SHAPE_TELL ? lab_prime_from(size + 6 * i) : size + 3 * i;
        shape->of[i] = wanted < p->least ? p->least : wanted > p->most ? p->most : wanted;
    }
    return size;
}

bool truth_shape(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    return lab_truth.shape ? lab_truth.shape(purpose, number, width, shape)
                           : usual_shape(purpose, number, width, shape);
}

/* --- random numbers --------------------------------------------------------------------------- */

uint64_t lab_random(uint64_t seed, int stream, uint64_t index) {
    return random64(random64(mix64(seed), (uint64_t)stream), index);
}

float lab_uniform(uint64_t seed, int stream, uint64_t index) {
    return uniform_of(lab_random(seed, stream, index));
}
