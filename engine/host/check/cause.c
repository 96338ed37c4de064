/* Mistakes that the engine itself proves, in any lab: what make check has beside the rules of
 * lab_rules. */
#define _GNU_SOURCE
#include "../../explain/explain.h"
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../watch/record/record.h"
#include "check.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The sentences of the causes that are the engine's own, by their names. */
enum {
#define SENTENCE(name, ...) SAY_##name,
#include "../../form/causes.def"
};

/* Says one of them in *cause: ENGINE_SAY(its name, its words). */
#define ENGINE_SAY(...) SENTENCES_ADD(&cause->said, &cause_sentences, __VA_ARGS__)

/* --- a body that never runs, or that a ; cuts off: read in the source alone ------------------- */

/* Whether the finding can come from it: it comes before, in the same function. */
static bool is_before(const struct structure *s, const struct construct *c, int line) {
    if (!line) return true;
    return c->first <= line && structure_around(s, CONSTRUCT_FUNCTION, c->first) ==
                                   structure_around(s, CONSTRUCT_FUNCTION, line);
}

static void say_body(struct cause *cause, const char *file, const struct construct *c) {
    cause_begin(cause, c->cut_off ? CAUSE_EMPTY_BODY : CAUSE_NEVER_RUNS, file, c->first);
    if (!c->cut_off) ENGINE_SAY(NEVER_RUNS, W(c->itself));
    if (c->cut_off && c->kind == CONSTRUCT_LOOP)
        ENGINE_SAY(EMPTY_LOOP, W(c->cut_off), W(c->cut_off));
    else if (c->cut_off)
        ENGINE_SAY(EMPTY_IF, W(c->cut_off), W(c->cut_off));
    else if (c->declares_it)
        ENGINE_SAY(OWN_NAME, W(c->itself), W(c->itself), W(c->itself), W(c->itself));
    else
        ENGINE_SAY(ASK_BOUND, W(c->itself));
}

void cause_of_body(const struct finding *finding, struct cause *cause) {
    static struct structure s;
    const bool has_line = finding->at.line && source_is(finding->at.file);
    if (finding->at.line && !has_line) return;
    if (!structure_read(&s, source_text())) return;
    for (int i = 0; i < s.count; i++) {
        const struct construct *c = &s.constructs[i];
        if ((!c->cut_off && !c->itself[0]) || !is_before(&s, c, finding->at.line)) continue;
        say_body(cause, has_line ? finding->at.file : source_name(), c);
        return;
    }
}

/* --- a result that is wrong in one way throughout (lab.formulas) ------------------------------ */

static const struct recovered *store_of(int array, const struct recovery *r) {
    for (int i = 0; i < r->count; i++)
        if (r->access[i].write && r->access[i].array == array) return &r->access[i];
    return NULL;
}

static void set_cause(struct cause *cause, int formula, const struct recovered *store,
                      uint64_t launch, int launches) {
    cause_begin(cause, CAUSE_FORMULA + formula, store->place.file, store->place.line);
    if (launches > 1)
        ENGINE_SAY(LAST_STORE, W((int64_t)launch), W((int64_t)launches),
                   W(lab.arrays[store->array].name));
    APPEND(cause->hint, "%s", lab.formulas[formula].hint);
    cause->launch = launch;
}

bool cause_of_formula(value_decoder *decode, bool ended, const struct outcome *failed,
                      struct cause *cause) {
    static struct recovery recovery;
    const struct trace *const *traces;
    const int formula = ended ? lab_formula(&lab, failed->explained.formula) : -1;
    const int launches = trace_launches(&traces);
    cause->kind = CAUSE_NONE;
    for (int i = launches - 1; i >= 0 && formula >= 0 && !cause->kind; i--) {
        if (!recover(traces[i], decode, &recovery)) return false;
        const struct recovered *store = store_of(lab_first_output(&lab), &recovery);
        if (store) set_cause(cause, formula, store, traces[i]->launch, launches);
        recover_free(&recovery);
    }
    return true;
}

/* --- mistakes of local variables --------------------------------------------------------------
 *
 * In the program that knows them (programs.c). Nothing is concluded from what a variable is called
 * or how it looks: the wrapper runs again on the shape that went wrong, with one change (such a
 * variable begins with zeros, or the threads of a block have it together), and either the mistake
 * is gone or it is not. */

/* What the runs share with this process. */
struct experiment {
    const struct check_options *options;
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
    child_run_shape(&o, o.shapes[0], &short_run, e->room);
    *outcome = *e->room;
    return outcome->done && !outcome->machine_fault[0];
}

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

enum { NAMES = 160 };

/* Begins a cause at the declaration of the first of these variables, whose name is returned; `all`
 * becomes "a", "a and b", "a, b and c". */
static const char *begin(const struct experiment *e, struct cause *cause, enum cause_kind kind,
                         uint64_t set, char all[NAMES]) {
    const struct local_variable *variable = e->seen->variable;
    const struct local_variable *first = &variable[__builtin_ctzll(set)];
    int at = 0;
    all[0] = '\0';
    for (int i = 0; i < LOCALS; i++)
        if (set >> i & 1)
            append(all, NAMES, "%s%s", list_separator(at++, __builtin_popcountll(set)),
                   variable[i].name);
    cause_begin(cause, (int)kind, path_from_here(first->file), first->line);
    return first->name;
}

/* --- an array that should be shared ----------------------------------------------------------- */

static bool is_proved_shared(struct experiment *e, uint64_t set, struct cause *cause) {
    struct outcome outcome;
    char all[NAMES];
    const struct locals_change change = {.shared = set};
    if (!run_with(e, change, &outcome) || outcome.finding.kind) return false;
    const char *first = begin(e, cause, CAUSE_NOT_SHARED, set, all);
    ENGINE_SAY(NOT_SHARED, W(first), W(all), W(all), W(first));
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
    char names[NAMES];
    uint64_t all = 0;
    for (int i = 0; i < LOCALS; i++)
        if (e->seen->variable[i].seen && !e->seen->variable[i].valued) all |= 1ull << i;
    const struct locals_change change = {.zero = all};
    if (!all || !run_with(e, change, &zeroed) || is_same(&zeroed, &e->base)) return false;
    const bool is_clean = zeroed.finding.kind == FINDING_NONE;
    if (!is_clean && !is_repeatable(e)) return false;
    const uint64_t matter = that_matter(e, all, &zeroed);
    if (!matter) return false;
    const char *first = begin(e, cause, CAUSE_NO_VALUE, matter, names);
    ENGINE_SAY(NO_VALUE, W(first), W(first));
    if (is_clean)
        ENGINE_SAY(ZEROS, W(names));
    else
        ENGINE_SAY(DEPENDS, W(names), W(__builtin_popcountll(matter) == 1 ? "s" : ""));
    return true;
}

/* Whether the run went wrong as the one did whose mistake it is: where an address is wild, what
 * lies there differs. */
static bool fails_as(const struct outcome *outcome, const struct locals_failed *failed) {
    const struct finding *f = &outcome->finding;
    return f->kind == failed->kind ||
           (f->kind && f->at.in_kernel && f->at.line && f->at.line == failed->line);
}

static void cause_of_locals(const struct check_options *o, struct cause *cause) {
    struct {
        struct locals seen;
        struct outcome room;
    } *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    struct experiment e = {.options = o, .seen = &shared->seen, .room = &shared->room};
    const struct locals_change none = {0};
    if (!run_with(&e, none, &e.base) || !fails_as(&e.base, &o->locals_failed)) return;
    if (!find_shared(&e, cause)) find_unset(&e, cause);
}

void locals_answer(const struct check_options *o) {
    struct cause cause = {.kind = CAUSE_NONE};
    fcntl(o->locals_answer, F_SETFD, FD_CLOEXEC);
    cause_of_locals(o, &cause);
    if (cause.kind && write(o->locals_answer, &cause, sizeof cause) != (ssize_t)sizeof cause)
        exit(EXIT_MACHINE);
    exit(EXIT_PASSED);
}
