/* From an event to a finding: threads and lines (object.c), the element (element.c) and the text
 * (words.c), put together. All of it runs on the host's thread, once. */
#ifndef ENGINE_EXPLAIN_DIAGNOSIS_H
#define ENGINE_EXPLAIN_DIAGNOSIS_H
#include "../watch/event.h"

struct finding diagnose(const struct event *event);

#endif
