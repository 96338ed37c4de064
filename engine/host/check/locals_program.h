/* make check once more, from the same kernel.cu, but one that says which local variables come
 * into scope (locals/insert.c). Where there are such variables, it is made and runs when a mistake
 * may come of one. */
#ifndef ENGINE_HOST_LOCALS_PROGRAM_H
#define ENGINE_HOST_LOCALS_PROGRAM_H
#include "check.h"

/* Whether a mistake of a local variable can have shown itself so. */
bool locals_are_asked(enum finding_kind kind);

/* Starts that program, and sets *cause if it proves one for the run that failed. */
void locals_ask(const struct check_options *o, const struct outcome *failed, struct cause *cause);

/* In that program: reads the request in the value of its option; false: it is none. */
bool locals_read_request(const char *value, struct check_options *o);
/* ... and answers it. */
void locals_answer(const struct check_options *o);

#endif
