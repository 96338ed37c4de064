/* How the engine is told of a lab's arrays: see host.h. */
#include "host.h"
#include <string.h>

static struct engine_array describe(const struct lab_array *a, const void *elements,
                                    const struct shape *shape) {
    struct engine_array array;
    memset(&array, 0, sizeof array);
    array.elements = elements;
    array.name = a->name;
    array.element = a->element;
    array.role = a->role;
    array.dimensions = a->dimensions;
    lab_extents(a, shape, array.extent);
    array.phase_axis = a->phase_axis;
    memcpy(array.axis_of, a->axis_of, sizeof array.axis_of);
    return array;
}

struct engine_run host_run(const struct shape *shape, void *const elements[LAB_ARRAYS]) {
    static struct vocabulary words;
    struct engine_run run;
    memset(&run, 0, sizeof run);
    words = lab_words(&lab);
    for (int i = 0; i < lab_arrays(&lab); i++)
        run.arrays[i] = describe(&lab.arrays[i], elements[i], shape);
    run.wrapper = lab_call.wrapper;
    run.words = &words;
    return run;
}
