/* Threads and lines of an event, for the finding that is made of it. */
#ifndef ENGINE_EXPLAIN_OBJECT_H
#define ENGINE_EXPLAIN_OBJECT_H
#include "../watch/event.h"
#include "../watch/shadow/regions.h"

/* A finding that is being made. */
struct diagnosis {
    const struct event *e;
    struct finding *f;
    const struct region *region; /* an array: the one that was accessed, or the nearest; or null */
    bool other_row; /* a bad index that leads to another row of the same shared array */
};

/* Facts of it. */
#define SET(name, value) slot_set(d->f->slot, SLOT_##name, value)
#define SET_FLAG(name) SET(name, 1)

/* The array that a launch is shown beside. */
void launch_beside(struct finding_launch *launch, const struct engine_array *output);

/* A party at this place, of no kernel. */
struct finding_party party_at(const struct place *place);
/* Sets both parties of a finding; in blocks and a grid of which sizes; and sets of threads. */
void party_find(struct finding *f, const struct event *e);

#endif
