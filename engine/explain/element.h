/* The element that an event is about. */
#ifndef ENGINE_EXPLAIN_ELEMENT_H
#define ENGINE_EXPLAIN_ELEMENT_H
#include "object.h"

struct element {
    long row, col;
};

/* The element of a matrix that a thread of a two-dimensional block meant, if it is the usual one
 * (checked_matrix). True if that lies outside the matrix, and the address fits. */
bool element_intended(struct element *at, const struct diagnosis *d,
                      const struct finding_party *party);

/* Whether the address is in dynamic shared memory, or beyond it. Dynamic shared memory comes after
 * the static arrays: in a kernel that has none, such an address is beyond its static arrays. */
bool element_is_dynamic(const struct event *e);

/* Sets variable and element of the finding; region and other_row. */
void element_name(struct diagnosis *d);

#endif
