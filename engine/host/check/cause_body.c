/* A loop or an if that a ; cuts off from its body: see cause_body.h. Read in the source alone. */
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

void cause_of_body(const struct finding *finding, struct cause *cause) {
    static struct structure s;
    const struct construct *found = NULL;
    const bool has_line = finding->at.line && source_is(finding->at.file);
    if (finding->at.line && !has_line) return;
    if (!structure_read(&s, source_text())) return;
    for (int i = 0; i < s.count && !found; i++) {
        const struct construct *c = &s.constructs[i];
        if (c->cut_off && is_before(&s, c, has_line ? finding->at.line : 0)) found = c;
    }
    if (!found) return;
    const bool loop = found->kind == CONSTRUCT_LOOP;
    cause_begin(cause, CAUSE_EMPTY_BODY, has_line ? finding->at.file : source_name(), found->first);
    ENGINE_SAY(WHAT, loop ? ROW(EMPTY_LOOP) : ROW(EMPTY_IF));
    ENGINE_SAY(DETAIL, loop ? ROW(ONCE) : ROW(ALWAYS), W(found->cut_off));
    ENGINE_SAY(HINT, loop ? ROW(ASK_LOOP) : ROW(ASK_IF), W(found->cut_off));
}
