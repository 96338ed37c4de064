/* Where a lab's arrays lie: see host.h. */
#include "../report/text/numbers.h"
#include "host.h"
#include <string.h>

enum {
    BUFFER_ALIGN = 256,    /* bytes, as cudaMalloc aligns */
    GUARD_ROWS = 64,       /* four blocks of 16 past the edge, two of 32 */
    GUARD_MIN = 64 << 10,  /* elements: a grid fixed at 1024 rows of an array 64 wide */
    GUARD_MAX = 4096 << 10 /* elements: six guards of 16 MiB are enough memory */
};

static int64_t guard_elements(int64_t widest) {
    const int64_t guard = widest >= GUARD_MAX / GUARD_ROWS ? GUARD_MAX : widest * GUARD_ROWS;
    return guard < GUARD_MIN ? GUARD_MIN : guard;
}

struct host_layout host_layout_of(const struct lab *l, const struct shape *shape, bool guards) {
    const size_t guard = guards ? (size_t)guard_elements(lab_widest(l, shape)) : 0;
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
