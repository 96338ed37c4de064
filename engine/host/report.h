/* What the parts of the report share: report.c prints stages and ends a run, with the words of
 * failure.c or the JSON of failure_json.c; watchdog.c is above them. */
#ifndef ENGINE_HOST_REPORT_H
#define ENGINE_HOST_REPORT_H
#include "../report/shared.h"

/* launch.c: of the timed launches, in seconds, and GFLOP/s of the median. NaN: there are none. */
struct launch_times {
    double median, min, max, gflops;
};
struct launch_times launch_times(const struct report *report);

/* launch.c: whether a kernel has shared memory, as far as is known; a line for each launch, in a
 * run that failed; and what one launch explains of C. */
bool report_has_shared(const struct report *report);
void report_print_launches(const struct report *report, FILE *out);
void report_explain_launch(struct report *report);

/* failure.c: what is known about a wrong result, in words. */
void report_failure(const struct report *report);

/* report.c: TEST FAILED for a single cause that is known without C, as text or as JSON. */
void report_cause(const struct report *report, const char *message, FILE *out);

#endif
