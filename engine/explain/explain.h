/* From an event to a finding: threads, lines and the element (object.c, and what an allocation
 * is called: allocation.c) and the facts (diagnosis.c, barrier_lines.c). What is said of them
 * follows from these alone (report/words/words.c). All of it runs on the host's thread, once. */
#ifndef ENGINE_EXPLAIN_EXPLAIN_H
#define ENGINE_EXPLAIN_EXPLAIN_H
#include "../watch/event.h"
#include "../watch/shadow/regions.h"

struct finding diagnose(const struct event *event);

/* --- object.c: threads and lines -------------------------------------------------------------- */

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

/* --- object.c: the element -------------------------------------------------------------------- */

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

/* --- allocation.c: by the variable that cudaMalloc was given ---------------------------------- */

struct allocation_name {
    char text[48];  /* "d_in", of cudaMalloc(&d_in, bytes); "p->data", "rows[i]" */
    size_t element; /* bytes of what the variable points to; 0: not known */
    bool only;      /* no other allocation is called so */
};

/* False: the source does not say it, or cannot be read. */
bool allocation_name(const struct region *r, struct allocation_name *name);

/* --- diagnosis.c: slots, which the words are made of (report/record/slots.def) -----------------
 */

/* Sets slots and names; by the finding's kind, which may differ from the event's. */
void facts_find(struct diagnosis *d);

/* --- barrier_lines.c: which barrier is to blame, and where one is missing --------------------- */

/* Of two barriers at which threads wait, whether the second one is passed by and not the first:
 * where all waited at one of them before and both are in one loop, it is the other one; else the
 * one that is first in the text. Without the text: where fewer threads wait. */
bool barriers_exchanged(const struct diagnosis *d);

void find_shared_race(struct diagnosis *d);
void find_divergent_barrier(struct diagnosis *d);
void find_early_return(struct diagnosis *d);
void find_deadlock(struct diagnosis *d);
/* Of a kernel that does not end: the loop. */
void find_endless_loop(struct diagnosis *d);

#endif
