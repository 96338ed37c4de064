/* Threads and lines of an event, for the finding that is made of it. */
#ifndef ENGINE_EXPLAIN_OBJECT_H
#define ENGINE_EXPLAIN_OBJECT_H
#include "../report/text.h"
#include "../watch/event.h"
#include "../watch/shadow/regions.h"

/* A finding that is being made. */
struct diagnosis {
    const struct event *e;
    struct finding *f;
    const struct region *region; /* an array: the one that was accessed, or the nearest; or null */
    bool other_row; /* a bad index that leads to another row of the same shared array */
};

struct phrase {
    char text[160];
};

/* " at kernel.cu:14"; empty where the line is not known. */
struct phrase at_place(const struct finding_party *party);
/* "(1,0)": as many coordinates as the block, or the grid, has. */
struct phrase thread_of(const struct event *e, const struct finding_party *party);
struct phrase block_of(const struct event *e, const struct finding_party *party);

/* A party at this place, of no kernel. */
struct finding_party party_at(const struct place *place);
/* Sets both parties of a finding. */
void party_find(struct finding *f, const struct event *e);

#endif
