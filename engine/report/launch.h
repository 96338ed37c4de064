/* A kernel's launch. */
#ifndef ENGINE_REPORT_LAUNCH_H
#define ENGINE_REPORT_LAUNCH_H
#include "text/text.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel is launched with; extents in the order x, y, z. */
struct launch_shape {
    char kernel[128]; /* its name, without parameters */
    unsigned grid[3], block[3];
    size_t static_shared, dynamic_shared; /* bytes for each block */
};

/* What a GPU allows, as cudaDeviceProp has it. */
struct launch_limits {
    unsigned grid[3], block[3], threads;
    size_t shared;
};

extern const struct launch_limits launch_usual_limits; /* limits.h's */

/* How many threads it has beside the array of this name and these extents, in one line:
 * "kernel<<<(3, 2), (16, 16)>>>: 48 x 32 threads (x, y); C has 20 columns and 35 rows". A null
 * name: beside none. */
void launch_describe(const struct launch_shape *launch, const char *array, int dimensions,
                     const int64_t *extent, char text[2 * MESSAGE_SIZE]);

/* What is wrong with a launch, into text, and a hint; NULL where these limits allow it. */
const char *launch_refusal(const struct launch_shape *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
