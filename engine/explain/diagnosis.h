/* From an event to a finding: threads and lines (object.c), the element (element.c) and the
 * facts (facts.c, barrier_lines.c), put together. What is said of them follows from these alone
 * (report/words.c). All of it runs on the host's thread, once. */
#ifndef ENGINE_EXPLAIN_DIAGNOSIS_H
#define ENGINE_EXPLAIN_DIAGNOSIS_H
#include "../watch/event.h"

struct finding diagnose(const struct event *event);

#endif
