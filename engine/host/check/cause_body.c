/* A body that never runs, or that a ; cuts off: see cause_body.h. Read in the source alone. */
#include "cause_body.h"
#include "../../explain/outline.h"
#include "../../report/text/source.h"
#include "cause_say.h"

/* Whether the finding can come from it: it comes before, in the same function. */
static bool is_before(const struct structure *s, const struct construct *c, int line) {
    if (!line) return true;
    return c->first <= line && structure_around(s, CONSTRUCT_FUNCTION, c->first) ==
                                   structure_around(s, CONSTRUCT_FUNCTION, line);
}

static void say_cut_off(struct cause *cause, const char *file, const struct construct *c) {
    const bool loop = c->kind == CONSTRUCT_LOOP;
    cause_begin(cause, CAUSE_EMPTY_BODY, file, c->first);
    ENGINE_SAY(WHAT, loop ? ROW(EMPTY_LOOP) : ROW(EMPTY_IF));
    ENGINE_SAY(DETAIL, loop ? ROW(ONCE) : ROW(ALWAYS), W(c->cut_off));
    ENGINE_SAY(HINT, loop ? ROW(ASK_LOOP) : ROW(ASK_IF), W(c->cut_off));
}

static void say_itself(struct cause *cause, const char *file, const struct construct *c) {
    cause_begin(cause, CAUSE_NEVER_RUNS, file, c->first);
    ENGINE_SAY(WHAT, ROW(NEVER_RUNS), W(c->itself));
    if (c->declares_it) {
        ENGINE_SAY(DETAIL, ROW(OWN_NAME), W(c->itself), W(c->itself));
        ENGINE_SAY(HINT, ROW(ASK_NAME), W(c->itself), W(c->itself));
    } else {
        ENGINE_SAY(HINT, ROW(ASK_BOUND), W(c->itself));
    }
}

void cause_of_body(const struct finding *finding, struct cause *cause) {
    static struct structure s;
    const struct construct *found = NULL;
    const bool has_line = finding->at.line && source_is(finding->at.file);
    if (finding->at.line && !has_line) return;
    if (!structure_read(&s, source_text())) return;
    for (int i = 0; i < s.count && !found; i++) {
        const struct construct *c = &s.constructs[i];
        const bool tells = c->cut_off || c->itself[0];
        if (tells && is_before(&s, c, has_line ? finding->at.line : 0)) found = c;
    }
    if (!found) return;
    const char *file = has_line ? finding->at.file : source_name();
    if (found->cut_off)
        say_cut_off(cause, file, found);
    else
        say_itself(cause, file, found);
}
