/* A thread's stack: its local variables, and what its functions return with, which no store may
 * change: it would let a kernel go on anywhere, unwatched. */
#ifndef ENGINE_WATCH_STACK_H
#define ENGINE_WATCH_STACK_H
#include "block.h"

void kernel_text_begins(void); /* kernel_begin.c, kernel_end.c */
void kernel_text_ends(void);

static inline bool stack_holds(const struct watch *w, uintptr_t address) {
    const uintptr_t begin = (uintptr_t)w->memory.stacks.begin;
    return address - begin < (uintptr_t)w->memory.stacks.end - begin;
}

/* What a function that a kernel calls finds at its frame pointer: its caller's, and where it
 * returns to. The checked build and this folder keep frame pointers. */
struct frame {
    const struct frame *caller;
    const void *returns_to;
};

/* Where the stack ends that the frame is on. That of the last one is remembered: threads run for a
 * while. */
static inline uintptr_t stack_end(struct watch *w, const struct frame *frame) {
    const uintptr_t stacks = (uintptr_t)w->memory.stacks.begin, here = (uintptr_t)frame;
    if (w->last_stack_end - here - 1 >= STACK_BYTES)
        w->last_stack_end = stacks + ((here - stacks) / STACK_BYTES + 1) * STACK_BYTES;
    return w->last_stack_end;
}

/* The running thread's, of a kernel that has called `callee`. */
static inline bool stack_is_local(struct watch *w, uintptr_t address, const struct frame *callee) {
    const uintptr_t begin = (uintptr_t)(callee + 1);
    return address - begin < stack_end(w, callee) - begin;
}

struct store {
    uintptr_t begin, end;
};

#ifdef __x86_64__
enum { SAVED = 6, LOCALS_ABOVE = false }; /* registers that functions save below their frame */
#else
enum { SAVED = 0, LOCALS_ABOVE = true }; /* aarch64: above it, as local variables are */
#endif

static inline bool meets(struct store store, const void *p, size_t size) {
    return store.begin < (uintptr_t)p + size && store.end > (uintptr_t)p;
}

/* Whether one of the registers that the function saved first is a pointer just behind a place that
 * the store changes, or is changed itself. Nearly always none is: without a branch for each. */
static inline bool may_meet_saved(struct store store, const uintptr_t *saved) {
    const uintptr_t reach = store.end - store.begin + sizeof *saved - 1;
    bool may = meets(store, saved, SAVED * sizeof *saved);
#pragma GCC unroll 8
    for (int i = 0; i < SAVED; i++) may |= saved[i] - store.begin - 1 < reach;
    return may;
}

/* Whether it changes what the function will return with. With a stack that gcc has aligned for a
 * local variable, it returns by a pointer behind the true return address (of which the frame has a
 * copy), which is among the registers that are saved first. */
static inline bool meets_frame(struct store store, const struct frame *frame, uintptr_t stack_end) {
    enum { LARGEST_ALIGNMENT = 4096 };
    const uintptr_t *saved = (const uintptr_t *)frame - SAVED;
    if (meets(store, frame, sizeof *frame)) return true;
    if (!may_meet_saved(store, saved)) return false;
    for (; saved < (const uintptr_t *)frame; ++saved) {
        const uintptr_t room = *saved - (uintptr_t)(frame + 1);
        const void *const *behind = (const void *const *)*saved;
        if (room - 1 < LARGEST_ALIGNMENT && *saved <= stack_end && *saved % sizeof *saved == 0 &&
            behind[-1] == frame->returns_to)
            return meets(store, saved, sizeof *saved) || meets(store, behind - 1, sizeof *behind);
    }
    return false;
}

static inline bool is_of_kernel(const void *code) {
    return (uintptr_t)code - (uintptr_t)kernel_text_begins <
           (uintptr_t)kernel_text_ends - (uintptr_t)kernel_text_begins;
}

/* Whether a store by a kernel that has called `callee` is to local variables of its own: neither to
 * what a function will return with, nor behind the kernel's frames, to the runtime's. */
static inline bool stack_may_store(struct watch *w, uintptr_t address, size_t size,
                                   const struct frame *callee) {
    const struct store store = {address, address + size};
    const uintptr_t end = stack_end(w, callee);
    if (!stack_is_local(w, address, callee)) return false;
    for (const struct frame *each = callee->caller; each > callee && (uintptr_t)(each + 1) <= end;
         callee = each, each = each->caller) {
        /* What an outer function returns with lies above this. */
        if (store.end <= (uintptr_t)each - SAVED * sizeof(uintptr_t)) return true;
        if (meets_frame(store, each, end)) return false;
        if (!is_of_kernel(each->returns_to)) return LOCALS_ABOVE || store.end <= (uintptr_t)each;
    }
    return true;
}

#endif
