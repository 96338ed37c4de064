/* The finding of the first event: see diagnosis.h. */
#include "diagnosis.h"
#include "barrier_lines.h"
#include "element.h"
#include "facts.h"
#include "object.h"
#include <string.h>

static void find_phase(struct finding *f, const struct event *e) {
    const struct region *r = region_with_phases();
    const uint32_t width = event_tile_width();
    const uint32_t extent = r ? (uint32_t)r->array->extent[r->array->phase_axis] : 0;
    if (width < 2 || !e->column || extent <= width) return;
    f->phase = (int)((e->column - 1) / width);
    f->phases = (int)((extent + width - 1) / width);
}

/* Two threads at one element of an array, one of which meant an element beyond the last column,
 * which is in the next row: what is wrong is that store. */
static bool is_column_overrun(const struct diagnosis *d) {
    struct finding *f = d->f;
    struct element_at at = {{0}};
    if (!d->region || d->e->kind != FINDING_GLOBAL_RACE) return false;
    for (int i = 0; i < 2; ++i) {
        struct finding_party *party = i ? &f->other : &f->at;
        if (party->access != FINDING_WRITE || !element_intended(&at, d, party)) continue;
        if (party == &f->other) f->at = f->other;
        f->other = (struct finding_party){.known = false};
        memcpy(f->object.index, at.index, sizeof at.index);
        return true;
    }
    return false;
}

/* The barrier that threads pass by comes first. */
static void exchange_barriers(struct finding *f) {
    const struct finding_party at = f->at;
    const struct threads waiting = f->waiting;
    f->at = f->other;
    f->other = at;
    f->waiting = f->elsewhere;
    f->elsewhere = waiting;
}

/* Beside which launches are shown. */
static void set_output(struct finding_launch *launch) {
    const struct region *r = region_output();
    if (r) launch_beside(launch, r->array);
}

struct finding diagnose(const struct event *event) {
    struct finding finding = {.kind = event->kind};
    struct diagnosis d = {.e = event, .f = &finding};
    party_find(&finding, event);
    if (event->kind == FINDING_DIVERGENT_BARRIER && barriers_exchanged(&d))
        exchange_barriers(&finding);
    element_name(&d);
    find_phase(&finding, event);
    if (is_column_overrun(&d)) finding.kind = FINDING_OUT_OF_BOUNDS;
    set_output(&finding.launch);
    facts_find(&d);
    return finding;
}
