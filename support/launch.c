/* Launches: what a kernel was launched with, and why a launch cannot be. */
#include "shared.h"

static const unsigned *outside(const unsigned extent[3], const unsigned limit[3]) {
    for (int i = 0; i < 3; i++)
        if (extent[i] > limit[i]) return extent;
    return NULL;
}

static bool is_empty(const unsigned extent[3]) { return !extent[0] || !extent[1] || !extent[2]; }

const char *launch_refusal(const struct launch_shape *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]) {
    const unsigned *g = launch->grid, *b = launch->block, *most = limits->grid;
    const unsigned long long threads = (unsigned long long)b[0] * b[1] * b[2];
    text[0] = '\0';
    if (is_empty(g)) {
        snprintf(text, MESSAGE_SIZE, "the grid has no blocks: %u x %u x %u", g[0], g[1], g[2]);
        return "an integer division rounds down: what does it give for a matrix smaller than a "
               "tile?";
    }
    if (is_empty(b)) {
        snprintf(text, MESSAGE_SIZE, "a block has no threads: %u x %u x %u", b[0], b[1], b[2]);
        return "how many threads does a tile need?";
    }
    if (threads > limits->threads || outside(b, limits->block)) {
        char in_z[32] = "";
        if (threads <= limits->threads)
            snprintf(in_z, sizeof in_z, ", %u of them in z", limits->block[2]);
        snprintf(text, MESSAGE_SIZE, "a block has %u x %u x %u = %llu threads, a GPU allows %u%s",
                 b[0], b[1], b[2], threads, limits->threads, in_z);
        return "a block is a tile of C, not all of it: what grows with the matrix?";
    }
    if (outside(g, limits->grid)) {
        snprintf(text, MESSAGE_SIZE, "the grid is %u x %u x %u blocks, a GPU allows %u x %u x %u",
                 g[0], g[1], g[2], most[0], most[1], most[2]);
        return "how many elements of C does a block compute?";
    }
    if (launch->static_shared + launch->dynamic_shared > limits->shared) {
        snprintf(text, MESSAGE_SIZE, "a block needs %zu bytes of shared memory, a GPU gives it %zu",
                 launch->static_shared + launch->dynamic_shared, limits->shared);
        return "how many bytes do all shared arrays of a block take together?";
    }
    return NULL;
}
