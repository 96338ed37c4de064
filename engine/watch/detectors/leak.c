/* Device memory that the wrapper has allocated and not freed. */
#include "../detector.h"
#include "../shadow/regions.h"

static void left(enum finding_kind kind, struct event *event) {
    for (const struct region *r = kind == FINDING_LEAK ? region_first() : NULL; r; r = r->next) {
        if (!r->in_wrapper || r->freed || !r->bytes) continue;
        event->kind = FINDING_LEAK;
        event->bytes += r->bytes;
        event->count++;
        event->place = place_find(r->frames, r->frame_count); /* the last is the first allocated */
    }
}

const struct detector detector_leak = {.name = "leak", .left = left};
