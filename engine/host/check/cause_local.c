/* Mistakes of local variables, proved by what becomes of the run when such a variable is another
 * one: it begins with zeros, or the threads of a block have it together.
 *
 * In the program that knows the local variables (locals_program.h). Nothing is concluded from what
 * a variable is called or how it looks: the wrapper runs again on the shape that went wrong, with
 * one change, and either the mistake is gone or it is not. */
#define _GNU_SOURCE
#include "cause_local.h"
#include "../../cuda/runtime/runtime.h" /* place_relative() */
#include "cause_say.h"
#include "child.h"
#include <string.h>
#include <sys/mman.h>

/* What the runs share with this process. */
struct experiment {
    const struct check_options *options;
    struct shape shape;
    struct locals *seen;
    struct outcome *room;
    struct outcome base; /* without a change */
};

/* False: it came to no end. */
static bool run_with(struct experiment *e, struct locals_change change, struct outcome *outcome) {
    struct check_options o = *e->options;
    o.locals_seen = e->seen;
    o.locals_change = change;
    memset(e->room, 0, sizeof *e->room);
    if (child_quiet(e->shape, &short_run)) {
        run_shape(&o, e->shape, e->room);
        child_end();
    }
    *outcome = *e->room;
    return outcome->done && !outcome->machine_fault[0];
}

static bool is_clean(const struct outcome *outcome) { return !outcome->finding.kind; }

/* Of one element: where it lies in memory may differ. */
static bool is_same_object(const struct finding_object *a, const struct finding_object *b) {
    return a->form == b->form && a->byte == b->byte && strcmp(a->name, b->name) == 0 &&
           memcmp(a->index, b->index, sizeof a->index) == 0;
}

static bool is_same(const struct outcome *a, const struct outcome *b) {
    static const enum slot_name compared[] = {SLOT_INDEX, SLOT_BYTES, SLOT_ERROR, SLOT_FAULT};
    const struct finding *f = &a->finding, *g = &b->finding;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        if (slot_get(f->slot, compared[i]) != slot_get(g->slot, compared[i])) return false;
    return f->kind == g->kind && a->hash_of_c == b->hash_of_c &&
           is_same_object(&f->object, &g->object) && strcmp(f->named, g->named) == 0;
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_one(uint64_t set) { return (set & (set - 1)) == 0; }

struct names {
    char text[160];
};

/* "a", "a and b", "a, b and c". */
static struct names names_of(const struct experiment *e, uint64_t set) {
    struct names names = {""};
    const char *before = "";
    for (int i = 0; i < LOCALS; i++) {
        if (!(set >> i & 1)) continue;
        APPEND(names.text, "%s%s", before, e->seen->variable[i].name);
        before = is_one(set >> i >> 1) ? " and " : ", ";
    }
    return names;
}

/* At the declaration of the first of them. */
static const struct local_variable *begin(const struct experiment *e, struct cause *cause,
                                          enum cause_kind kind, uint64_t set) {
    const struct local_variable *first = &e->seen->variable[__builtin_ctzll(set)];
    cause_begin(cause, (int)kind, place_relative(first->file), first->line);
    return first;
}

/* --- an array that should be shared ----------------------------------------------------------- */

static bool is_proved_shared(struct experiment *e, uint64_t set, struct cause *cause) {
    struct outcome outcome;
    const struct locals_change change = {.shared = set};
    if (!run_with(e, change, &outcome) || !is_clean(&outcome)) return false;
    const struct local_variable *first = begin(e, cause, CAUSE_NOT_SHARED, set);
    const struct names names = names_of(e, set);
    ENGINE_SAY(WHAT, ROW(NOT_SHARED), W(first->name));
    ENGINE_SAY(DETAIL, ROW(OWN_COPY), W(names.text));
    ENGINE_SAY(DETAIL, ROW(ONE_COPY), W(names.text));
    ENGINE_SAY(HINT, ROW(ASK_SHARED), W(first->name));
    return true;
}

/* Arrays of which threads store different parts: each alone, two of them, all. */
static bool find_shared(struct experiment *e, struct cause *cause) {
    enum { MOST = 8, SCALAR = 16 };
    int number[MOST], count = 0;
    uint64_t all = 0;
    for (int i = 0; i < LOCALS && count < MOST; i++) {
        const struct local_variable *v = &e->seen->variable[i];
        if (!v->divided || v->bytes <= SCALAR) continue;
        number[count++] = i;
        all |= 1ull << i;
    }
    for (int i = 0; i < count; i++)
        if (is_proved_shared(e, 1ull << number[i], cause)) return true;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (is_proved_shared(e, 1ull << number[i] | 1ull << number[j], cause)) return true;
    return count > 2 && is_proved_shared(e, all, cause);
}

/* --- a variable without a value --------------------------------------------------------------- */

/* Whether the kernel does in each run without a change the same: where an address is wild, what
 * lies there may differ. */
static bool is_repeatable(struct experiment *e) {
    struct outcome again;
    const struct locals_change none = {0};
    return run_with(e, none, &again) && is_same(&e->base, &again);
}

/* Of these, which all begin with zeros in the run `zeroed`, those that make a difference: with
 * another value in it alone the mistake is there, or another one. */
static uint64_t that_matter(struct experiment *e, uint64_t all, const struct outcome *zeroed) {
    uint64_t matter = 0;
    for (int i = 0; i < LOCALS; i++) {
        struct outcome outcome;
        if (!(all >> i & 1)) continue;
        const struct locals_change change = {.zero = all & ~(1ull << i)};
        if (run_with(e, change, &outcome) && !is_same(&outcome, zeroed)) matter |= 1ull << i;
    }
    return matter;
}

static bool find_unset(struct experiment *e, struct cause *cause) {
    struct outcome zeroed;
    uint64_t all = 0;
    for (int i = 0; i < LOCALS; i++)
        if (e->seen->variable[i].seen && !e->seen->variable[i].valued) all |= 1ull << i;
    const struct locals_change change = {.zero = all};
    if (!all || !run_with(e, change, &zeroed) || is_same(&zeroed, &e->base)) return false;
    if (!is_clean(&zeroed) && !is_repeatable(e)) return false;
    const uint64_t matter = that_matter(e, all, &zeroed);
    if (!matter) return false;
    const struct local_variable *first = begin(e, cause, CAUSE_NO_VALUE, matter);
    const struct names names = names_of(e, matter);
    ENGINE_SAY(WHAT, ROW(NO_VALUE), W(first->name));
    if (is_clean(&zeroed))
        ENGINE_SAY(DETAIL, ROW(ZEROS), W(names.text));
    else
        ENGINE_SAY(DETAIL, ROW(DEPENDS), W(names.text), W(is_one(matter) ? "s" : ""));
    ENGINE_SAY(HINT, ROW(ASK_VALUE), W(first->name));
    return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void *shared_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Whether the run went wrong as the one did whose mistake it is: where an address is wild, what
 * lies there differs. */
static bool fails_as(const struct outcome *outcome, const struct locals_failed *failed) {
    const struct finding *f = &outcome->finding;
    return f->kind == failed->kind ||
           (f->kind && f->at.in_kernel && f->at.line && f->at.line == failed->line);
}

void cause_of_locals(const struct check_options *o, struct cause *cause) {
    struct experiment e = {.options = o,
                           .shape = o->shapes[0],
                           .seen = shared_memory(sizeof *e.seen),
                           .room = shared_memory(sizeof *e.room)};
    cause->kind = CAUSE_NONE;
    if (!e.seen || !e.room) return;
    const struct locals_change none = {0};
    if (!run_with(&e, none, &e.base) || !fails_as(&e.base, &o->locals_failed)) return;
    if (!find_shared(&e, cause)) find_unset(&e, cause);
}
