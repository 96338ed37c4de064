/* From an event to a finding: what event.c (who and where), element.c (which element) and words.c
 * (what to say) share. All of it runs on the host's thread, once. */
#ifndef CHECKER_TELL_H
#define CHECKER_TELL_H
#include "watch.h"

/* --- event.c ---------------------------------------------------------------------------------- */

/* Who accessed what from `code` (behind the instruction; null: nowhere), and its line. */
struct finding_party tell_party(const struct event *e, const void *code, unsigned thread,
                                uint64_t block, const char *access);

/* Fills in a place that is known already. */
void tell_place(struct finding_party *party, const struct place *place);

/* --- element.c -------------------------------------------------------------------------------- */

struct element {
    long row, col;
};

/* The element that a thread of a two-dimensional block meant, if it is the usual one: its own row
 * of A, its own column of B, its own element of C. True if that lies outside the matrix, and the
 * address fits. */
bool element_intended(struct element *at, const struct event *e, const struct region *r,
                      const struct finding_party *party);

/* Whether the address is in dynamic shared memory, or beyond it. Behind the static arrays lies
 * dynamic shared memory: a kernel that has none of that is beyond its static arrays there. */
bool element_is_dynamic(const struct event *e);

/* Sets variable and element of a finding. */
void element_name(struct finding *f, const struct event *e);

/* --- words.c ---------------------------------------------------------------------------------- */

/* Sets what, detail and hint; by the finding's kind, which may differ from the event's. */
void words_say(struct finding *f, const struct event *e);

/* What kind of memory a kind of event is about. */
enum words_memory { MEMORY_NONE, MEMORY_SHARED, MEMORY_GLOBAL };
enum words_memory words_memory(enum finding_kind kind);

/* Appends to a text, as far as there is room. */
void say(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

struct phrase {
    char text[160];
};

/* " at kernel.cu:14"; empty where the line is not known. */
struct phrase at_place(const struct finding_party *party);

#endif
