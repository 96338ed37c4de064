/* The table of findings.def for C. */
#include "../finding.h"
#include <stddef.h>

static const struct finding_kind_text texts[FINDING_KINDS] = {
#define FINDING(name, kind, memory, result, cause, headline, hint, meaning)                        \
    [FINDING_##name] = {kind, FINDING_MEMORY_##memory, FINDING_CAUSE_##cause, headline, hint},
#include "findings.def"
#undef FINDING
};

const struct finding_kind_text *finding_text(enum finding_kind kind) {
    return (unsigned)kind < FINDING_KINDS && kind != FINDING_NONE ? &texts[kind] : NULL;
}
