/* The lab's words beside a finding's: see explained.h. */
#include "explained.h"
#include "../text/text.h"
#include <stdio.h>

void finding_explain(const struct finding *f, const struct explained *explained,
                     struct finding_words *w) {
    finding_say(f, w);
    if (explained->text[0]) APPEND(w->detail, "%s%s", w->detail[0] ? "\n" : "", explained->text);
    if (explained->hint[0]) snprintf(w->hint, sizeof w->hint, "%s", explained->hint);
}
