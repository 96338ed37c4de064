/* The shape of an array that a run names: engine.h's struct engine_array, in row-major order. */
#ifndef ENGINE_WATCH_SHADOW_ARRAY_H
#define ENGINE_WATCH_SHADOW_ARRAY_H
#include "../../engine.h"

/* How large one of its elements is, in bytes. */
size_t array_element_bytes(const struct engine_array *array);
size_t array_elements(const struct engine_array *array);
size_t array_bytes(const struct engine_array *array);

/* Elements from one index along this axis to the next. */
int64_t array_stride(const struct engine_array *array, int axis);
/* The indices of an element, by its number. Of one that the array does not have, the first index is
 * the one that is outside: element -1 of 34 columns is [-1][33]. */
void array_index(const struct engine_array *array, int64_t element,
                 int64_t index[ENGINE_DIMENSIONS]);
/* The extent of its rows, along the last axis; and how many there are of those, all other axes
 * together: 1 of an array of one dimension. */
int64_t array_columns(const struct engine_array *array);
int64_t array_rows(const struct engine_array *array);

#endif
