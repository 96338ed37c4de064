/* The shape of an array that a run names: engine.h's struct engine_array, in row-major order. */
#ifndef ENGINE_WATCH_SHADOW_ARRAY_H
#define ENGINE_WATCH_SHADOW_ARRAY_H
#include "../../engine.h"

/* Elements from one index along this axis to the next. */
static inline int64_t array_stride(const struct engine_array *array, int axis) {
    int64_t stride = 1;
    for (int i = axis + 1; i < array->dimensions; ++i) stride *= array->extent[i];
    return stride;
}

static inline size_t array_elements(const struct engine_array *array) {
    return (size_t)(array->extent[0] * array_stride(array, 0));
}

/* How large one of its elements is, in bytes. */
static inline size_t array_element_bytes(const struct engine_array *array) {
    const size_t bytes = element_type_bytes(array->element);
    return bytes ? bytes : array->element_bytes;
}

static inline size_t array_bytes(const struct engine_array *array) {
    return array_elements(array) * array_element_bytes(array);
}

/* The indices of an element, by its number. Of one that the array does not have, the first index is
 * the one that is outside: element -1 of 34 columns is [-1][33]. */
static inline void array_index(const struct engine_array *array, int64_t element,
                               int64_t index[ENGINE_DIMENSIONS]) {
    for (int i = array->dimensions - 1; i > 0; --i) {
        const int64_t extent = array->extent[i];
        index[i] = (element % extent + extent) % extent;
        element = (element - index[i]) / extent;
    }
    index[0] = element;
}

/* The extent of its rows, along the last axis; and how many there are of those, all other axes
 * together: 1 of an array of one dimension. */
static inline int64_t array_columns(const struct engine_array *array) {
    return array->extent[array->dimensions - 1];
}

static inline int64_t array_rows(const struct engine_array *array) {
    return (int64_t)array_elements(array) / array_columns(array);
}

#endif
