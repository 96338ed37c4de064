/* A kernel's launch, in words; and why a GPU refuses one. */
#ifndef ENGINE_REPORT_LAUNCH_H
#define ENGINE_REPORT_LAUNCH_H
#include "../finding.h"
#include "text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a GPU allows, as cudaDeviceProp has it. */
struct launch_limits {
    unsigned grid[3], block[3], threads;
    size_t shared;
};

extern const struct launch_limits launch_usual_limits; /* device.h's */

/* How many threads it has, beside its output, if it names one, in one line:
 * "kernel<<<(3, 2), (16, 16)>>>: 48 x 32 threads (x, y); C has 20 columns and 35 rows". */
void launch_describe(const struct finding_launch *launch, char text[LAUNCH_TEXT]);

/* Whether it has a thread for each element of its output, columns along x and rows along y. */
bool launch_covers(const struct finding_launch *launch);

/* What is wrong with a launch, into text, and a hint; NULL where these limits allow it. */
const char *launch_refusal(const struct finding_launch *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
