/* The plain program beside the watched one, which the grader asks, too, whether C is
 * right. The compiler makes something else of the same kernel.cu there. */
#ifndef ENGINE_HOST_PLAIN_H
#define ENGINE_HOST_PLAIN_H
#include "check.h"

/* Runs o->plain on the shape of an outcome that has no finding, with the same values. True, and a
 * finding: that program says that the kernel is wrong. False where it does not, or cannot be run.
 */
bool plain_is_wrong(const struct check_options *o, struct outcome *outcome);

#endif
