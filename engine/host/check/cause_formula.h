/* Where a result that is wrong in one way throughout (lab.formulas) was stored. */
#ifndef ENGINE_HOST_CAUSE_FORMULA_H
#define ENGINE_HOST_CAUSE_FORMULA_H
#include "../../explain/index/index.h"
#include "../../explain/outcome.h"

/* Sets *cause, if a formula gives what the failed run came to, to where the launches that this run
 * has kept stored the output for the last time; else its kind is CAUSE_NONE. False: out of memory.
 */
bool cause_of_formula(value_decoder *decode, const struct outcome *failed, struct cause *cause);

#endif
