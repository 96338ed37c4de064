/* Sums of products: see show.h. */
#include "../report/text/text.h"
#include "../watch/shadow/regions.h"
#include "show.h"

double array_value(const struct array_data *data, int array, size_t element) {
    const struct engine_array *of = region_array(array);
    double value = 0;
    element_value(of->element, (const char *)data->of[array] + element * array_element_bytes(of),
                  &value);
    return value;
}

/* The element that this factor of a term is, by its number. */
static size_t factor_of(const struct array_sum *sum, int factor, const int64_t *at, int64_t term) {
    const struct engine_array *array = region_array(sum->factor[factor].array);
    int64_t element = 0;
    for (int i = 0; i < array->dimensions; i++) {
        const int axis = sum->factor[factor].index[i];
        element += (axis == SUM_TERM ? term : at[axis]) * array_stride(array, i);
    }
    return (size_t)element;
}

static bool is_loaded(const struct array_sum *sum, const struct phases *phases, const int64_t *at,
                      int64_t term, int phase) {
    for (int f = 0; f < sum->factors; f++) {
        const int first = phases->first[sum->factor[f].array][factor_of(sum, f, at, term)];
        if (!first || first > phase) return false;
    }
    return true;
}

static double product_of(const struct array_sum *sum, const struct array_data *data,
                         const int64_t *at, int64_t term) {
    double product = 1;
    for (int f = 0; f < sum->factors; f++)
        product *= array_value(data, sum->factor[f].array, factor_of(sum, f, at, term));
    return product;
}

double sum_so_far(const struct array_sum *sum, const struct array_data *data,
                  const struct phases *phases, size_t element, int phase) {
    int64_t at[ENGINE_DIMENSIONS];
    double so_far = 0;
    array_index(region_array(sum->output), (int64_t)element, at);
    for (int64_t term = 0; term < sum->terms; term++)
        if (is_loaded(sum, phases, at, term, phase)) so_far += product_of(sum, data, at, term);
    return so_far;
}

void sum_say(char *text, size_t size, const struct array_sum *sum, const struct array_data *data,
             const int64_t *at) {
    double all = 0;
    append(text, size, " =");
    for (int64_t term = 0; term < sum->terms; term++) {
        append(text, size, term ? " + " : " ");
        for (int f = 0; f < sum->factors; f++)
            append(text, size, f ? "*%.5g" : "%.5g",
                   array_value(data, sum->factor[f].array, factor_of(sum, f, at, term)));
        all += product_of(sum, data, at, term);
    }
    append(text, size, " = %.6g", all);
}
