/* Who hears what: see detector.h. */
#include "detector.h"
#include "machine.h"
#include <string.h>

const struct detector *detectors_heard[DETECTOR_EVENTS][DETECTORS + 1];

enum { FIRST_EVENT = offsetof(struct detector, observes) / sizeof(void (*)(void)), ALIGNED = 64 };

static struct {
    const struct detector *detector;
    size_t at;             /* of its state among a worker's */
} attached[DETECTORS + 1]; /* the last one is none */
static int count;
static size_t worker_bytes;

void detector_attach(const struct detector *detector) {
    void (*hears)(void);
    if (count == DETECTORS) machine_fault("there are more detectors than there is room for");
    for (int event = FIRST_EVENT; event < DETECTOR_EVENTS; ++event) {
        const struct detector **last = detectors_heard[event];
        while (*last) ++last;
        memcpy(&hears, (const char *)detector + (size_t)event * sizeof hears, sizeof hears);
        if (hears) *last = detector;
    }
    attached[count].detector = detector;
    attached[count++].at = worker_bytes;
    worker_bytes += (detector->worker_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

void *detector_state(const struct detector *self, const struct watch *w) {
    int i = 0;
    while (attached[i].detector != self && i < count) ++i;
    return w->states + attached[i].at;
}

size_t detector_worker_bytes(void) { return worker_bytes; }
