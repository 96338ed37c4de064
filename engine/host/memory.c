/* Where a lab's arrays lie, and how much memory a run takes: host.h. */
#include "../report/text/numbers.h"
#include "host.h"
#include <string.h>

enum {
    BUFFER_ALIGN = 256,    /* bytes, as cudaMalloc aligns */
    GUARD_ROWS = 64,       /* four blocks of 16 past the edge, two of 32 */
    GUARD_MIN = 64 << 10,  /* elements: a grid fixed at 1024 rows of an array 64 wide */
    GUARD_MAX = 4096 << 10 /* elements: six guards of 16 MiB are enough memory */
};

struct host_layout host_layout_of(const struct lab *l, const struct shape *shape, bool guards) {
    const size_t near = GUARD_ROWS * min_size((size_t)lab_widest(l, shape), GUARD_MAX / GUARD_ROWS);
    const size_t guard = !guards ? 0 : near < GUARD_MIN ? GUARD_MIN : near;
    struct host_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.arrays = lab_arrays(l);
    for (int i = 0; i < layout.arrays; i++) {
        const struct lab_array *a = &l->arrays[i];
        const size_t bytes = element_type_bytes(a->element);
        layout.offset[i] = layout.all;
        layout.guard[i] = round_up(guard * bytes, BUFFER_ALIGN);
        layout.bytes[i] = (size_t)lab_elements(a, shape) * bytes;
        layout.buffer[i] = round_up(2 * layout.guard[i] + layout.bytes[i], BUFFER_ALIGN);
        layout.all += layout.buffer[i];
    }
    return layout;
}

size_t memory_needed(const struct shape *shape) {
    const struct host_layout layout = host_layout_of(&lab, shape, true);
    const uint64_t verdict = 64 * (uint64_t)lab_widest(&lab, shape);
    const uint64_t fixed = UINT64_C(16) << 20; /* the program, and stacks of threads */
    return (size_t)(2 * layout.all + verdict + fixed);
}
