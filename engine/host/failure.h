/* What the report says of a wrong result. */
#ifndef ENGINE_HOST_FAILURE_H
#define ENGINE_HOST_FAILURE_H
#include "../../support.h"

/* In words. */
void report_failure(const struct report *report);

/* And as JSON: report_json() of support.h, in failure_json.c. */

#endif
