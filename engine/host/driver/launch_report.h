/* What the report says of a run's launches. */
#ifndef ENGINE_HOST_LAUNCH_REPORT_H
#define ENGINE_HOST_LAUNCH_REPORT_H
#include "report.h"

/* Of the timed launches, in seconds, and GFLOP/s of the median. NaN: there are none. */
struct launch_times {
    double median, min, max, gflops;
};
struct launch_times launch_times(const struct report *report);

/* Whether a kernel has shared memory, as far as is known; a line for each launch, in a run
 * that failed; and what one launch explains of C. */
bool report_has_shared(const struct report *report);
/* Whether one launch has a thread for each element of the output. */
bool report_has_threads(const struct report *report);
void report_print_launches(const struct report *report, FILE *out);
void report_explain_launch(struct report *report);

/* Adds to an explanation of what was never written: the launch's threads end there. Nothing where
 * they do not. */
void launch_explain(const struct finding_launch *launch, const struct shape *shape,
                    struct explanation *unwritten);

#endif
