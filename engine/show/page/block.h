/* Which block should have stored the element that is missing or wrong. */
#ifndef ENGINE_SHOW_PAGE_BLOCK_H
#define ENGINE_SHOW_PAGE_BLOCK_H
#include "../../explain/outcome.h"
#include "../../watch/record/trace.h"
#include "../sum.h"

/* Sets `block`, x, y, z, to where the mistake is: the finding's block, or, by the part of
 * the output that the block of the trace has stored, that of the first element that is missing or
 * wrong. Leaves it as it is where neither is known. */
void walk_wanted(const struct trace *trace, const struct finding *finding,
                 const struct lab_case *which, const struct array_data *data, unsigned block[3]);

#endif
