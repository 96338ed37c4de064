/* The accesses that do not come from the compiler's calls in access.c. */
#ifndef CHECKER_ACCESS_H
#define CHECKER_ACCESS_H
#include "watch.h"

/* Whatever the fast path does not do: the detectors and consumers get the access. */
void access_slowly(const struct access *access);

#endif
