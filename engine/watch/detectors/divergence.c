/* Divergence: threads of one block wait at different barriers. */
#include "../detector.h"

/* diagnosis.c decides which of the two barriers is to blame. A race in this interval may come of
 * it. */
static void barrier_opens(struct watch *w) {
    const struct arrivals *at = &w->arrived[0], *other = &w->arrived[1];
    if (!other->count || w->ended) return;
    const struct access access = {.code = at->code};
    struct event event = event_here(w, FINDING_DIVERGENT_BARRIER, &access);
    event.thread = threads_first(&at->threads);
    event.has_other = true;
    event.other_code = other->code;
    event.other_thread = threads_first(&other->threads);
    event.other_block = w->epochs.block;
    event.last_barrier = w->last_barrier;
    event.waiting = at->threads;
    event.elsewhere = other->threads;
    event.returned = w->epochs.returned;
    if (w->raced)
        event_replace(w->raced, &event);
    else
        event_note(&event);
}

const struct detector detector_divergence = {.name = "divergence", .barrier_opens = barrier_opens};
