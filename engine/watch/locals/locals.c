/* What becomes of kernel.cu's local variables in a run that changes them: see locals.h.
 *
 * A variable that the threads of a block are to share is one still in each thread's stack. What a
 * thread has stored in it shows by comparison with what it was before; at each barrier all copies
 * become the same. So threads see each other's stores as they would in shared memory, if no two of
 * them race. */
#include "locals.h"
#include "../detector.h"
#include "../machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As locals/local.h has it. */
struct emulator_local {
    const char *name, *file;
    int line;
    unsigned number;
    bool valued, pointer;
    void *address;
    size_t bytes;
    struct emulator_local *outer;
};

static const unsigned char pattern = 0xFE; /* gcc's own, of -ftrivial-auto-var-init */

static struct {
    struct locals *seen; /* null: nothing is noted or changed */
    struct locals_change change;
    void *zeros;
} this_run;

/* --- the threads of the block ----------------------------------------------------------------- */

static struct emulator_local *innermost[MAX_BLOCK_THREADS]; /* that each thread has in scope */

/* What a variable has held in each thread at the last barrier, and what it holds from the next one
 * on. */
static struct copy {
    bool begun; /* in this block */
    size_t bytes;
    unsigned char *before, *after;
    int first; /* thread whose stores are known, of this interval; -1: none */
    unsigned char *stored;
} copies[LOCALS];

static bool is_shared(unsigned number) { return this_run.change.shared >> number & 1; }

static bool has_copy(const struct emulator_local *l) {
    return copies[l->number].begun && copies[l->number].bytes == l->bytes;
}

/* The first of its threads has come to it. */
static void begin_copy(const struct emulator_local *l) {
    struct copy *c = &copies[l->number];
    free(c->before);
    c->before = machine_memory(malloc(3 * l->bytes));
    c->bytes = l->bytes;
    c->after = c->before + l->bytes;
    c->stored = c->after + l->bytes;
    memcpy(c->before, l->address, l->bytes);
    memcpy(c->after, l->address, l->bytes);
    c->first = -1;
    c->begun = true;
}

/* Whether threads store to different parts of it. */
static void compare_stores(const struct emulator_local *l, struct copy *c, unsigned thread) {
    const unsigned char *now = l->address;
    bool any = false, same = true;
    for (size_t i = 0; i < c->bytes; i++) {
        const bool stored = now[i] != c->before[i];
        any |= stored;
        if (c->first < 0) c->stored[i] = stored;
        same &= c->stored[i] == stored;
    }
    if (c->first < 0 && any) c->first = (int)thread;
    if (any && !same) this_run.seen->variable[l->number].divided = true;
}

/* What the thread has stored since the last barrier. */
static void collect(const struct emulator_local *l, unsigned thread) {
    struct copy *c = &copies[l->number];
    const unsigned char *now = l->address;
    if (!has_copy(l)) return;
    compare_stores(l, c, thread);
    for (size_t i = 0; i < c->bytes; i++)
        if (now[i] != c->before[i]) c->after[i] = now[i];
}

static void locals_block_begins(struct watch *w) {
    (void)w;
    memset(innermost, 0, sizeof innermost);
    for (int i = 0; i < LOCALS; i++) copies[i].begun = false;
}

static void locals_barrier_opens(struct watch *w) {
    const unsigned threads = w->launch->block_threads;
    for (unsigned t = 0; t < threads; t++)
        for (const struct emulator_local *l = innermost[t]; l; l = l->outer) collect(l, t);
    for (unsigned i = 0; i < LOCALS; i++) {
        copies[i].first = -1;
        if (copies[i].begun && is_shared(i))
            memcpy(copies[i].before, copies[i].after, copies[i].bytes);
    }
    for (unsigned t = 0; t < threads; t++)
        for (const struct emulator_local *l = innermost[t]; l; l = l->outer)
            if (is_shared(l->number) && has_copy(l))
                memcpy(l->address, copies[l->number].before, l->bytes);
}

/* --- one variable ----------------------------------------------------------------------------- */

static void note(const struct emulator_local *l) {
    struct local_variable *v = &this_run.seen->variable[l->number];
    *v = (struct local_variable){
        .seen = true, .line = l->line, .valued = l->valued, .bytes = l->bytes};
    snprintf(v->name, sizeof v->name, "%s", l->name);
    snprintf(v->file, sizeof v->file, "%s", l->file);
}

static bool is_watched(const struct emulator_local *l) {
    return this_run.seen && l->number < LOCALS;
}

void emulator_local_begins(struct emulator_local *l) {
    if (!is_watched(l)) return;
    const bool zero = this_run.change.zero >> l->number & 1;
    if (!this_run.seen->variable[l->number].seen) note(l);
    if (!l->valued) memset(l->address, zero ? 0 : pattern, l->bytes);
    if (!l->valued && zero && l->pointer)
        memcpy(l->address, &this_run.zeros, sizeof this_run.zeros);
    if (!worker_in_kernel()) return;
    if (!has_copy(l)) begin_copy(l);
    if (is_shared(l->number)) memcpy(l->address, copies[l->number].after, l->bytes);
    l->outer = innermost[running_index.linear];
    innermost[running_index.linear] = l;
}

void emulator_local_ends(struct emulator_local *l) {
    struct emulator_local **top = &innermost[running_index.linear];
    if (!is_watched(l) || !worker_in_kernel() || *top != l) return;
    collect(l, running_index.linear);
    *top = l->outer;
}

void locals_watch(struct locals *seen, const struct locals_change *change, void *zeros) {
    static const struct detector keeping = {.block_begins = locals_block_begins,
                                            .barrier_opens = locals_barrier_opens};
    this_run.seen = seen;
    this_run.change = *change;
    this_run.zeros = zeros;
    audit_nothing();
    detector_attach(&keeping);
}
