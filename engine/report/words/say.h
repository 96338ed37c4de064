/* What the files have in common that write a finding's words: words.c and words_barrier.c. */
#ifndef ENGINE_REPORT_SAY_H
#define ENGINE_REPORT_SAY_H
#include "../../finding.h"
#include "../text/text.h"

#define WHAT(...) APPEND(w->what, __VA_ARGS__)
#define DETAIL(...) APPEND(w->detail, __VA_ARGS__)
#define HINT(...) APPEND(w->hint, __VA_ARGS__)

#define AT finding_thread(f, &f->at).text
#define OTHER finding_thread(f, &f->other).text
#define ELEMENT finding_element_of(f).text

#define HAS(name) slot_has(f->slot, SLOT_##name)
#define GET(name) slot_get(f->slot, SLOT_##name)
#define REAL(name) slot_real(f->slot, SLOT_##name)
#define COUNT(number) grouped((uint64_t)(number)).text

struct phrase {
    char text[ELEMENT_TEXT];
};

/* "(1,0)": as many coordinates as the block, or the grid, has. */
struct phrase finding_thread(const struct finding *f, const struct finding_party *party);
struct phrase finding_block(const struct finding *f, const struct finding_party *party);
/* " at kernel.cu:14"; empty where the line is not known. */
struct phrase finding_at(const char *file, int line);
struct phrase finding_element_of(const struct finding *f);
/* "writes" */
const char *finding_verb(const struct finding_party *party);

typedef void finding_sayer(const struct finding *f, struct finding_words *w);

/* What ended a kernel or the host's code, in the runtime's words. */
finding_sayer say_what_ended_it;
/* words_barrier.c */
finding_sayer say_shared_race, say_divergent_barrier, say_early_return, say_deadlock, say_endless;

#endif
