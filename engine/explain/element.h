/* The element that an event is about. */
#ifndef ENGINE_EXPLAIN_ELEMENT_H
#define ENGINE_EXPLAIN_ELEMENT_H
#include "object.h"

/* The indices of an element, even of one that its array does not have. */
struct element_at {
    int64_t index[ENGINE_DIMENSIONS];
};

/* The element of an array that a thread meant, if it is the usual one (engine_array.axis_of). True
 * if that lies outside the array, and the address fits. */
bool element_intended(struct element_at *at, const struct diagnosis *d,
                      const struct finding_party *party);

/* Of the array that was accessed, or nearest: the number of the element, from its first one on;
 * rounded down, before it too. */
int64_t element_number(const struct diagnosis *d);

/* Whether the address is in dynamic shared memory, or beyond it. Dynamic shared memory comes after
 * the static arrays: in a kernel that has none, such an address is beyond its static arrays. */
bool element_is_dynamic(const struct event *e);

/* The allocation that an event's address is in, or beside; null: there is none. */
const struct region *element_region(const struct event *e);

/* Sets the finding's object; region and other_row. */
void element_name(struct diagnosis *d);

#endif
