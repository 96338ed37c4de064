/* What each access of a kernel computes: --indices. */
#ifndef ENGINE_SHOW_INDICES_H
#define ENGINE_SHOW_INDICES_H
#include "../explain/index/index.h"
#include "../lab.h"
#include <stdio.h>

/* Of one launch of a run with this shape, as text or as a member of a JSON object. */
void print_indices(FILE *out, bool as_json, const struct recovery *recovery, struct shape shape);

#endif
