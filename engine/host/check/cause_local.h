/* Mistakes of local variables, in the program that knows them: locals_program.h. */
#ifndef ENGINE_HOST_CAUSE_LOCAL_H
#define ENGINE_HOST_CAUSE_LOCAL_H
#include "check.h"

/* Sets *cause if runs on the first of the shapes prove one, for the run that has gone wrong there.
 * Takes some seconds at most. */
void cause_of_locals(const struct check_options *o, struct cause *cause);

#endif
