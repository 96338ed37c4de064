/* The facts of a finding, which its words are made of: report/record/slots.def. */
#ifndef ENGINE_EXPLAIN_FACTS_H
#define ENGINE_EXPLAIN_FACTS_H
#include "object.h"

/* Sets slots and names; by the finding's kind, which may differ from the event's. */
void facts_find(struct diagnosis *d);

#endif
