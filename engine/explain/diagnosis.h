/* From an event to a finding: threads and lines (object.c), the element (element.c) and the text
 * (words.c), put together by diagnosis.c. All of it runs on the host's thread, once. */
#ifndef ENGINE_EXPLAIN_DIAGNOSIS_H
#define ENGINE_EXPLAIN_DIAGNOSIS_H
#include "../report/shared.h" /* append() */
#include "../watch/event.h"
#include "../watch/regions.h"

/* A finding that is being made. */
struct diagnosis {
    const struct event *e;
    struct finding *f;
    const struct region *region; /* a matrix: the one that was accessed, or the nearest; or null */
    bool other_row; /* a bad index that leads to another row of the same shared array */
};

struct finding diagnose(const struct event *event);

/* --- object.c ----------------------------------------------------------------------------------
 */

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

/* --- element.c -------------------------------------------------------------------------------- */

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

/* --- barrier_lines.c
 * ------------------------------------------------------------------------------- */

/* Of two barriers at which threads wait, whether the second one is passed by and not the first:
 * where all waited at one of them before and both are in one loop, it is the other one; else the
 * one that is first in the text. Without the text: where fewer threads wait. */
bool barriers_exchanged(const struct diagnosis *d);

/* --- words.c ---------------------------------------------------------------------------------- */

/* Sets what, detail and hint; by the finding's kind, which may differ from the event's. */
void words_say(struct diagnosis *d);

#endif
