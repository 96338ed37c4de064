/* An array that is an input is written: by a kernel, or by a copy of the wrapper's. */
#include "../detector.h"
#include "../host.h"
#include "../shadow/regions.h"

static void by_kernel(struct watch *w, const struct access *access) {
    const struct event event = event_here(w, FINDING_INPUT_WRITTEN, access);
    event_note(&event);
}

static void by_copy(const char *to, const char *from, size_t bytes) {
    const struct region *r = region_find((uintptr_t)to);
    (void)from, (void)bytes;
    if (!r || !region_is_input(r)) return;
    const struct event event = {.kind = FINDING_INPUT_WRITTEN,
                                .address = (uintptr_t)to,
                                .write = true,
                                .size = WORD,
                                .place = host_place()};
    event_note(&event);
}

const struct detector detector_input = {
    .name = "input", .input_written = by_kernel, .copied = by_copy};
