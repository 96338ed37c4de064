/* Accesses to the stacks of a block's threads: to another thread's local variables, and stores to
 * what a function of the running one returns with. */
#include "../stack.h"
#include "../detector.h"

/* That of the checker's function that the kernel has called. */
static const struct frame *callee_of(const struct access *access) {
    enum { FRAMES = 6 };
    const struct frame *const here = __builtin_frame_address(0), *each = here;
    for (int i = 0; i < FRAMES && each->returns_to != access->code; ++i) each = each->caller;
    return each->returns_to == access->code ? each : here;
}

/* On a GPU, a thread that has a pointer to another one's local variable finds something else there.
 * No store there, or to what is no variable, is made: a function would return to anywhere. */
static void on_stack(struct watch *w, const struct access *access) {
    const struct frame *callee = callee_of(access);
    const bool here = access->address < stack_end(w, callee) &&
                      access->address >= stack_end(w, callee) - STACK_BYTES;
    const enum finding_kind kind = here ? FINDING_LOCAL_OUT_OF_BOUNDS : FINDING_FOREIGN_LOCAL;
    const bool right =
        here && (!access->write || stack_may_store(w, access->address, access->size, callee));
    if (right) return;
    if (access->write) event_stop(w, kind, access, cudaErrorIllegalAddress);
    if (!event_is_wanted(kind, access->code, NULL)) return;
    const struct event event = event_here(w, kind, access);
    event_note(&event);
}

const struct detector detector_stack = {.name = "stack", .on_stack = on_stack};
