/* Which elements of C are missing or wrong, and which block should have stored them. */
#ifndef ENGINE_SHOW_PAGE_BLOCK_H
#define ENGINE_SHOW_PAGE_BLOCK_H
#include "../../host/check.h"
#include "../../watch/record/trace.h"

bool element_is_unwritten(const float *C, size_t i);

/* Whether C's element is further from *right, what it should be, than any order of summation leads
 * (verify.c). */
bool element_is_wrong(const struct array_data *data, struct shape shape, int row, int col,
                      double *right);

/* Sets `block`, x, y, z, to where the mistake is: the finding's block, or, by the part of C that
 * the block of the trace has stored, that of the first element that is missing or wrong. Leaves it
 * as it is where neither is known. */
void walk_wanted(const struct trace *trace, const struct outcome *outcome,
                 const struct array_data *data, unsigned block[3]);

#endif
