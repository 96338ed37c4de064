/* An element of an output as a sum of products of elements of inputs: what --phases follows from
 * phase to phase. A lab says which. */
#ifndef ENGINE_SHOW_SUM_H
#define ENGINE_SHOW_SUM_H
#include "../lab.h"
#include "../watch/record/counts.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of the run's arrays, by their numbers, on the host; null: not there. */
struct array_data {
    const void *of[ENGINE_ARRAYS];
};

/* What an element of the output, by its number, amounts to after this phase: registers cannot be
 * seen, so it is made of the terms whose factors the block has all loaded. */
double sum_so_far(const struct array_sum *sum, const struct array_data *data,
                  const struct phases *phases, size_t element, int phase);

/* Appends " = 1*1 + 2*5 + 3*9 + 4*13 = 90". */
void sum_say(char *text, size_t size, const struct array_sum *sum, const struct array_data *data,
             size_t element);

#ifdef __cplusplus
}
#endif
#endif
