/* The submission's text, which a program carries along. */
#ifndef ENGINE_REPORT_SOURCE_H
#define ENGINE_REPORT_SOURCE_H
#include <stdbool.h>
#include <stdio.h>

struct json; /* json.h */

/* The submission that the program was built from, as make was given it; NULL where the program
 * does not carry it along. */
const char *source_name(void);
/* Whether it was built for another lab than the usual one: make LAB=folder. */
bool source_is_of_another_lab(void);
/* Its text; NULL likewise. */
const char *source_text(void);
/* Whether its text has this word; true also where there is no text. */
bool source_may_say(const char *word);
/* Whether a file is the submission, and no header of it: names may differ in front, by the
 * directory they are seen from. */
bool source_is(const char *file);

/* The variable whose array is indexed there, or that of its members: "a" of a[i], a[i][j] and
 * a.b[i]. The place is as compilers give it: gcc that of the last ], clang where all this begins.
 * False: not known. */
bool source_array_at(const char *file, int line, int column, char *name, size_t bytes);

/* Whether the file still holds what the program was built from. GONE: it cannot be read. */
enum source_state { SOURCE_UNCHANGED, SOURCE_CHANGED, SOURCE_GONE };
enum source_state source_state(void);

/* A line with the command to try next, the same KERNEL=... included; or, when the file has changed,
 * a warning and the command `rebuild`. `next` may be NULL: only the latter. `program` is the name
 * of the running one. */
void source_print_next(enum source_state state, const char *program, const char *rebuild,
                       const char *next, FILE *out);

/* "source": {"file": ..., "changed": true, false, or null: it is gone}; or null. */
void source_json(struct json *json, enum source_state state);

#endif
