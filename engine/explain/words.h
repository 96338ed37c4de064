/* A finding in words. */
#ifndef ENGINE_EXPLAIN_WORDS_H
#define ENGINE_EXPLAIN_WORDS_H
#include "object.h"

/* Sets what, detail and hint; by the finding's kind, which may differ from the event's. */
void words_say(struct diagnosis *d);

#endif
