/* What the report says of a wrong result. */
#ifndef ENGINE_HOST_FAILURE_H
#define ENGINE_HOST_FAILURE_H
#include "report.h"

/* In words; report_json() says it as JSON. */
void report_failure(const struct report *report);

/* The next command to try. */
void report_print_next(const struct report *report, FILE *out);

#endif
