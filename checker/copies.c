/* Asynchronous copies: a load from global memory when one begins; and a store into shared memory
 * that lasts until its thread has waited for it. Whoever touches the destination in between, the
 * thread itself too, does so too early. */
#define _GNU_SOURCE
#include "watch.h"

static void watch(const struct async_copy *copy, const char *address, unsigned size, bool to) {
    const struct access access = {.address = (uintptr_t)address,
                                  .size = size,
                                  .write = to,
                                  .copying = to,
                                  .group = to ? copy->group : 0,
                                  .code = copy->code};
    access_slowly(&access);
}

/* A copy that is part zeros is a load of a part, which no vector need be. */
static void watch_source(const struct async_copy *copy) {
    unsigned left = copy->bytes - copy->zeros;
    unsigned step = !copy->zeros ? copy->bytes : WORD;
    for (const char *from = copy->from; left; from += step, left -= step) {
        if (left < step) step = 1;
        watch(copy, from, step, false);
    }
}

void copies_begin(const struct async_copy *copy) {
    watch_source(copy);
    watch(copy, copy->to, copy->bytes, true);
    struct watch *w = watch_here();
    w->any_copied = true;
    w->copied_group[running_index.linear] = copy->group + 1;
}

void copies_arrived(const struct async_copy *copy) {
    struct watch *w = watch_here();
    const struct access access = {
        .address = (uintptr_t)copy->to, .size = copy->bytes, .write = true, .code = copy->code};
    if (w->counts && w->phases) phases_access(w, &access);
    shared_copy_arrived(w, &access);
}
