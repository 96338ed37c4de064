/* Shapes of arrays: see array.h. */
#include "array.h"

size_t array_element_bytes(const struct engine_array *array) {
    const size_t bytes = element_type_bytes(array->element);
    return bytes ? bytes : array->element_bytes;
}

size_t array_elements(const struct engine_array *array) {
    return (size_t)(array->extent[0] * array_stride(array, 0));
}

size_t array_bytes(const struct engine_array *array) {
    return array_elements(array) * array_element_bytes(array);
}

int64_t array_stride(const struct engine_array *array, int axis) {
    int64_t stride = 1;
    for (int i = axis + 1; i < array->dimensions; ++i) stride *= array->extent[i];
    return stride;
}

void array_index(const struct engine_array *array, int64_t element,
                 int64_t index[ENGINE_DIMENSIONS]) {
    for (int i = array->dimensions - 1; i > 0; --i) {
        const int64_t extent = array->extent[i];
        index[i] = (element % extent + extent) % extent;
        element = (element - index[i]) / extent;
    }
    index[0] = element;
}

int64_t array_columns(const struct engine_array *array) {
    return array->extent[array->dimensions - 1];
}

int64_t array_rows(const struct engine_array *array) {
    return (int64_t)array_elements(array) / array_columns(array);
}
