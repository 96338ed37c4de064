/* A loop whose body never runs, and a loop or an if that a ; cuts off from its body. */
#ifndef ENGINE_HOST_CAUSE_BODY_H
#define ENGINE_HOST_CAUSE_BODY_H
#include "../../form/cause.h"

/* Sets *cause if the source has one in the finding's function, before its line; of a finding
 * without a line, anywhere. What it says is true whether or not the finding comes from it. */
void cause_of_body(const struct finding *finding, struct cause *cause);

#endif
