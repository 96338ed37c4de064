/* The finding of the first event: see diagnosis.h. */
#include "diagnosis.h"
#include "barrier_lines.h"
#include "element.h"
#include "object.h"
#include "words.h"
#include <stdio.h>

static void find_phase(struct finding *f, const struct event *e) {
    const struct region *r = region_with_phases();
    const uint32_t width = event_tile_width();
    const uint32_t extent = r ? (uint32_t)r->array->extent[r->array->phase_axis] : 0;
    if (width < 2 || !e->column || extent <= width) return;
    f->phase = (int)((e->column - 1) / width) + 1;
    f->phases = (int)((extent + width - 1) / width);
}

/* Two threads at one element of an array, one of which meant an element beyond the last column,
 * which is in the next row: what is wrong is that store. */
static bool is_column_overrun(const struct diagnosis *d) {
    struct finding *f = d->f;
    struct element_at at;
    if (!d->region || d->e->kind != FINDING_GLOBAL_RACE) return false;
    for (int i = 0; i < 2; ++i) {
        struct finding_party *party = i ? &f->other : &f->at;
        if (party->access != FINDING_WRITE || !element_intended(&at, d, party)) continue;
        if (party == &f->other) f->at = f->other;
        f->other = (struct finding_party){.known = false};
        element_write(f->element, sizeof f->element, d->region->array, &at);
        return true;
    }
    return false;
}

/* The barrier that threads pass by comes first. */
static void exchange_barriers(struct event *e, struct finding *f) {
    const struct finding_party at = f->at;
    const struct threads waiting = e->waiting;
    f->at = f->other;
    f->other = at;
    e->waiting = e->elsewhere;
    e->elsewhere = waiting;
}

struct finding diagnose(const struct event *noted) {
    struct event event = *noted;
    struct finding finding = {.kind = event.kind};
    struct diagnosis d = {.e = &event, .f = &finding};
    party_find(&finding, &event);
    if (event.kind == FINDING_DIVERGENT_BARRIER && barriers_exchanged(&d))
        exchange_barriers(&event, &finding);
    element_name(&d);
    find_phase(&finding, &event);
    if (is_column_overrun(&d)) finding.kind = FINDING_OUT_OF_BOUNDS;
    words_say(&d);
    return finding;
}
