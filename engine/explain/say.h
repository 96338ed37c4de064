/* What the files have in common that write a finding's words: words.c and barrier_lines.c. */
#ifndef ENGINE_EXPLAIN_SAY_H
#define ENGINE_EXPLAIN_SAY_H
#include "object.h"

#define WHAT(...) APPEND(d->f->what, __VA_ARGS__)
#define DETAIL(...) APPEND(d->f->detail, __VA_ARGS__)
#define HINT(...) APPEND(d->f->hint, __VA_ARGS__)

#define AT thread_of(d->e, &d->f->at).text
#define OTHER thread_of(d->e, &d->f->other).text
#define ELEMENT d->f->element

static inline const char *verb(const struct finding_party *party) {
    return party->access == FINDING_WRITE ? "writes" : "reads";
}

#endif
