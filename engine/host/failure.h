/* What the report says of a wrong result. */
#ifndef ENGINE_HOST_FAILURE_H
#define ENGINE_HOST_FAILURE_H
#include "../../support.h"

/* In words; report_json() of support.h says it as JSON. */
void report_failure(const struct report *report);

#endif
