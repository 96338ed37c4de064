/* From an event to a finding: threads, lines and the element (object.c), and the facts
 * (diagnosis.c). What is said of them follows from these alone (report/words/words.def). All of it
 * runs on the host's thread, once. */
#ifndef ENGINE_EXPLAIN_EXPLAIN_H
#define ENGINE_EXPLAIN_EXPLAIN_H
#include "../watch/event.h"
#include "../watch/shadow/shadow.h"
#include <stdbool.h>

/* Without its launch. */
struct finding diagnose(const struct event *event);
/* Of threads that have returned while others waited at a barrier, that they passed by it; kind
 * FINDING_NONE: perhaps they returned before it. */
struct finding diagnose_skipped(const struct event *event);

/* --- object.c: threads and lines -------------------------------------------------------------- */

/* A finding that is being made. */
struct diagnosis {
    const struct event *e;
    struct finding *f;
    const struct region *region; /* an array: the one that was accessed, or the nearest; or null */
    bool other_row; /* a bad index that leads to another row of the same shared array */
};

/* Its facts, slots, which the words are made of (report/record/slots.def). */
#define SET(name, value) slot_set(d->f->slot, SLOT_##name, value)
#define SET_FLAG(name) SET(name, 1)

/* A party at this place, of no kernel. */
struct finding_party party_at(struct place place);
/* Sets both parties of a finding; in blocks and a grid of which sizes; and sets of threads. */
void party_find(struct finding *f, const struct event *e);

/* --- object.c: the element -------------------------------------------------------------------- */

/* The indices of the element of an array that a thread meant, if it is the usual one
 * (engine_array.axis_of). True if that lies outside the array, and the address fits. */
bool element_intended(int64_t index[ENGINE_DIMENSIONS], const struct diagnosis *d,
                      const struct finding_party *party);

/* Of the array that was accessed, or nearest: the number of the element, from its first one on;
 * rounded down, before it too. */
int64_t element_number(const struct diagnosis *d);

/* Whether the address is in dynamic shared memory, or beyond it. Dynamic shared memory comes after
 * the static arrays: in a kernel that has none, such an address is beyond its static arrays. */
bool element_is_dynamic(const struct event *e);

/* The allocation that an event's address is in, or beside; null: there is none. */
const struct region *element_region(const struct event *e);

/* What the wrapper calls its allocation. */
void element_owner(const struct region *r, char *name, size_t bytes);

/* Sets the finding's object; region and other_row. */
void element_name(struct diagnosis *d);

/* --- outline.c: the structure of kernel.cu's text ---------------------------------------------
 *
 * As far as findings need it: which loops and ifs a line is in, and where there are barriers. */

enum construct_kind { CONSTRUCT_FUNCTION, CONSTRUCT_LOOP, CONSTRUCT_IF };

enum { COMPARED = 24 }; /* longer names are not noted */

/* From its first line, that of the keyword or the function's name, to its last one. */
struct construct {
    enum construct_kind kind;
    int first, last;
    const char *name; /* of a function, in the text; a lambda may have none: name_length is 0 */
    int name_length;
    bool kernel; /* a function that is __global__ */
    /* A loop or an if that ends with a ; before the body that it looks to have: this body's line.
     */
    int cut_off;
    /* Of an if: the last line of its condition; that of its else, 0: it has none. */
    int condition, other;
    /* Of a loop whose condition is that this variable is less, or greater, than itself: its name.
     */
    char itself[COMPARED];
    bool declares_it; /* the loop */
};

enum { CONSTRUCTS = 400, BARRIERS = 100 };
struct structure {
    const char *text;
    int count, barriers;
    struct construct constructs[CONSTRUCTS]; /* inner ones before those around them */
    int barrier[BARRIERS];                   /* lines of __syncthreads() and the like */
};

/* Reads a text in CUDA C++. False: its brackets do not match (preprocessor branches, macros), or it
 * is too long; then nothing is known. */
bool structure_read(struct structure *s, const char *text);
/* Of kernel.cu's own text, if this is the file; null: it is another one, or nothing is known. */
const struct structure *structure_of(const char *file);

/* The innermost construct of that kind that is around both of these lines and not around `without`;
 * null: none. A lambda is a function. */
const struct construct *structure_innermost(const struct structure *s, enum construct_kind kind,
                                            int line, int with, int without);
/* The outermost around this line and not around `without`. */
const struct construct *structure_outermost(const struct structure *s, enum construct_kind kind,
                                            int line, int without);
static inline const struct construct *structure_around(const struct structure *s,
                                                       enum construct_kind kind, int line) {
    return structure_innermost(s, kind, line, line, 0);
}
/* A line with a barrier, from `first` to `last`; 0: none. */
int structure_barrier_between(const struct structure *s, int first, int last);
/* Whether a thread may leave the function from these lines, other than by its end. */
bool structure_leaves(const struct structure *s, const struct construct *function, int first,
                      int last);
/* The last line in it that assigns to an element of the array of this name; 0: none. */
int structure_store(const struct structure *s, const struct construct *in, const char *name);
/* The next line in this function, behind `after`, that may call the function around the line, which
 * is another one; 0: none, or not known. */
int structure_next_call(const struct structure *s, const struct construct *function, int line,
                        int after);
/* The line in this function at which a thread comes to the line: the line itself or, in another
 * function, that of its only call here; 0: none, or not known. */
int structure_line_in(const struct structure *s, const struct construct *function, int line);

#endif
