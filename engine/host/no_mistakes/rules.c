/* Of a lab that has no folder mistakes/: nothing proves any. */
#include "../../explain/rules.h"

const struct lab_rules lab_rules = {.find = NULL};
