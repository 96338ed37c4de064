/* Making a worker's watch, and which way its accesses take. */
#include "block.h"
#include "machine.h"
#include "shadow/shadow.h"
#include <stdlib.h>
#include <string.h>

static struct watch *watches;

struct watch *watch_first(void) {
    return __atomic_load_n(&watches, __ATOMIC_ACQUIRE);
}

const struct watch *watch_of_block(uint64_t block) {
    const struct watch *w = watch_first();
    while (w && w->epochs.block != block) w = w->next;
    return w;
}

struct watch *watch_attach(void) {
    struct watch *w = machine_memory(aligned_alloc(64, (sizeof *w + 63) / 64 * 64));
    memset(w, 0, sizeof *w);
    observer_worker = w;
    w->next = __atomic_load_n(&watches, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&watches, &w->next, w, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
        continue;
    return w;
}

static struct span span_of(const struct region *r) {
    return (struct span){r->begin, r->bytes / WORD};
}

static void set_fast_path(struct watch *w) {
    const bool shared = !(w->slow & (SLOW_RECORDER | SLOW_STEPS | SLOW_INDEX));
    w->shared_words = shared && !w->epochs.has_pairs ? w->all_words : 0;
    observer_fast = w->exchange.stored_by ? NULL : w;
    w->settled = settled_now();
    if (w->slow) { /* nothing of global memory is fast */
        memset(w->input, 0, sizeof w->input);
        for (int i = 0; i < SETTLED_SPANS; ++i) w->settled.span[i].words = 0;
        return;
    }
    const struct region *first = region_with_phases();
    int count = 0;
    if (first && region_is_input(first)) w->input[count++] = span_of(first);
    for (int i = 0; i < ENGINE_ARRAYS && count < FAST_SPANS; ++i) {
        const struct region *r = region_of_array(i);
        if (r && r != first && region_is_input(r)) w->input[count++] = span_of(r);
    }
}

void watch_slowly(struct watch *w, enum slow_reason why) {
    w->slow |= why;
    set_fast_path(w);
}

void watch_fast(struct watch *w, enum slow_reason no_more) {
    w->slow &= ~(unsigned)no_more;
    set_fast_path(w);
}
