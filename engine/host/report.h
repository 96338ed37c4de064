/* report.c prints stages and ends a run, with the words of failure.c or the JSON of failure_json.c;
 * watchdog.c is above it. */
#ifndef ENGINE_HOST_REPORT_H
#define ENGINE_HOST_REPORT_H
#include "../../support.h"

/* TEST FAILED for a single cause that is known without C, as text or as JSON. */
void report_cause(const struct report *report, const char *message, FILE *out);

#endif
