/* What an allocation is called: by the variable that cudaMalloc was given. */
#ifndef ENGINE_EXPLAIN_ALLOCATION_H
#define ENGINE_EXPLAIN_ALLOCATION_H
#include "../watch/shadow/regions.h"

struct allocation_name {
    char text[48];  /* "d_in", of cudaMalloc(&d_in, bytes); "p->data", "rows[i]" */
    size_t element; /* bytes of what the variable points to; 0: not known */
    bool only;      /* no other allocation is called so */
};

/* False: the source does not say it, or cannot be read. */
bool allocation_name(const struct region *r, struct allocation_name *name);

#endif
