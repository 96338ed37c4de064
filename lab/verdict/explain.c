/* Explanations: what a wrong C is instead of A B, in words, for a student: only if nearly all of it
 * is covered, and with the number of elements that are. study.h lists the other files,
 * docs/sgemm.md what is known. */
#include "../../engine/report/element_type.h"
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "study.h"

#include <stdlib.h>
#include <string.h>

static void set_formula(struct explanation *out, const char *formula, const char *hint) {
    snprintf(out->formula, sizeof out->formula, "%s", formula);
    snprintf(out->hint, sizeof out->hint, "%s", hint);
}

/* Nearly all of the unwritten elements. */
static bool leaves_out(const struct search *search) {
    const int unwritten = search->study->with_state[UNWRITTEN];
    return search->unwritten > 0 && 11 * search->unwritten >= 10 * unwritten;
}

static void say_counts(const struct study *s, const struct search *search,
                       struct explanation *out) {
    const char *looked = s->complete ? "" : " that were looked at";
    out->explained = out->of = (uint64_t)s->with_state[WRONG];
    if (out->of == 1)
        APPEND(out->text, ": this explains the wrong element%s.", looked);
    else
        APPEND(out->text, ": this explains all %s wrong elements%s.", grouped(out->of).text,
               looked);
    if (search->nan)
        APPEND(out->text, " %s more %s NaN, as expected: there the formula reads outside A or B.",
               grouped((uint64_t)search->nan).text, is_or_are((uint64_t)search->nan));
    if (leaves_out(search))
        APPEND(out->text, " It also leaves out the %s element%s that %s never written.",
               grouped((uint64_t)search->unwritten).text, plural((uint64_t)search->unwritten),
               was_or_were((uint64_t)search->unwritten));
}

/* Of the products of A and B, where the formula gives all that is wrong or unwritten. */
static double part_of_products(const struct study *s, const struct search *search) {
    const struct formula *f = &search->best;
    const int k = s->problem->k, period = f->a.period + f->b.period;
    int count = 0;
    if (s->with_state[NOT_FINITE] || search->unwritten < s->with_state[UNWRITTEN]) return 0;
    for (int p = 0; p < k && (p < period || !period); p++) count += formula_weight(f, p) != 0;
    return f->factor == 0 ? 0 : (double)count / k;
}

/* The formula that gives C. False: none, or other mistakes would give it, too. */
static bool explain_values(struct search *search, struct explanation *out) {
    static const char part_hint[] =
        "which threads store these elements: are they meant to, and what have they loaded?";
    const struct study *s = search->study;
    if (s->with_state[WRONG] > 0) search_mistakes(search);
    const struct formula *f = &search->best;
    if (!search->any || (search->several && f->factor != 0)) return false;
    out->about_nan = search->nan > 0;
    out->explains_values = true;
    out->sum_changed = f->factor != 0 && f->factor != 1;
    set_formula(out, f->name, f->factor == 0 && !search->everywhere ? part_hint : f->hint);
    APPEND(out->text, "%s %s", search->everywhere ? "C is" : "Where C is wrong, it is", f->phrase);
    APPEND(out->claim, "%s", out->text);
    say_counts(s, search, out);
    out->products = part_of_products(s, search);
    return true;
}

/* ---- NaN whose bits name their origin ---- */

/* Arithmetic makes a signalling NaN quiet; most processors keep its other bits, GPUs do not. */
static const struct {
    uint32_t bits;
    const char *formula, *say, *hint;
} origins[] = {
    {POISON_BITS, "adds-to-c",
     "what C was filled with before the launch: the kernel adds to C, or reads it before writing "
     "it",
     "what is in C when the kernel begins?"},
    {GUARD_BITS, "reads-outside",
     "the guards around A, B and C: an element outside a matrix was read and added to the sum",
     "what is the largest index into A, and into B, that any thread computes?"},
    {POISON_SHARED, "shared-unwritten",
     "uninitialized shared memory: an element of a tile was read that no thread had written",
     "is there a barrier between storing a tile and reading it, and does a thread store each of "
     "its elements?"},
    {UINT32_C(0x7F939393) /* the CPU backend's */, "shuffle-absent",
     "a shuffle that reads from a lane that takes no part in it",
     "which lanes does the shuffle read from, and has one of them left the kernel or the branch?"},
};

static bool has_origin(float got, uint32_t bits) {
    const uint32_t quiet = UINT32_C(1) << 22, sign = UINT32_C(1) << 31;
    return (get_bits(&got) & ~sign) == (bits | quiet);
}

/* If nearly all NaN come from one place. */
static bool explain_nan(const struct study *s, struct explanation *out) {
    const int nan = s->with_state[NOT_FINITE];
    for (int o = 0; o < LENGTH(origins); o++) {
        int count = 0;
        for (int i = s->with_state[WRONG]; i < s->count; i++)
            count += has_origin(s->elements[i].got, origins[o].bits);
        if (count == 0 || 10 * count < 9 * nan) continue;
        *out = (struct explanation){
            .about_nan = true, .explained = (uint64_t)count, .of = (uint64_t)nan};
        set_formula(out, origins[o].formula, origins[o].hint);
        if (count < nan)
            APPEND(out->text, "%s of the %s NaN", grouped(out->explained).text,
                   grouped(out->of).text);
        else
            APPEND(out->text, nan > 1 ? "All %s NaN" : "The NaN", grouped(out->of).text);
        APPEND(out->text, "%s %s from %s.", s->complete ? "" : " that were looked at",
               nan > 1 ? "come" : "comes", origins[o].say);
        return true;
    }
    return false;
}

/* ---- where C was never written: rows and columns, or blocks ---- */

static bool is_unwritten(const struct problem *p, int row, int col) {
    return get_bits(&p->C[(size_t)row * (size_t)p->n + (size_t)col]) == POISON_BITS;
}

/* "rows 3 to 5", after an "and" if something came before. */
static void say_span(struct explanation *out, const char *what, int first, int last) {
    if (first > last) return;
    if (out->text[0]) APPEND(out->text, " and ");
    if (first == last)
        APPEND(out->text, "%s %d", what, first);
    else
        APPEND(out->text, "%ss %d to %d", what, first, last);
}

/* Everything around what was written: rows above and below, columns left and right. */
static bool frame(const struct problem *p, const struct box *written, struct explanation *out) {
    if (box_elements(written) + out->of != (uint64_t)p->m * (uint64_t)p->n) return false;
    say_span(out, "row", 0, written->row_first - 1);
    say_span(out, "row", written->row_last + 1, p->m - 1);
    say_span(out, "column", 0, written->col_first - 1);
    say_span(out, "column", written->col_last + 1, p->n - 1);
    if (written->row_first || written->col_first) return true;
    out->row_end = written->row_last + 1;
    out->col_end = written->col_last + 1;
    return true;
}

/* Whole blocks of this size. */
static bool blocks(const struct problem *p, int tile, struct explanation *out) {
    uint64_t total = 0, unwritten = 0;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            const bool in = is_unwritten(p, i, j), begins = i % tile == 0 && j % tile == 0;
            if (in != is_unwritten(p, i - i % tile, j - j % tile)) return false;
            total += begins;
            unwritten += begins && in;
        }
    APPEND(out->text, "%s of the %s blocks of %d x %d", grouped(unwritten).text,
           grouped(total).text, tile, tile);
    set_formula(out, "blocks", "what do those blocks do that the others do not?");
    return true;
}

/* False: nowhere in particular. */
static bool explain_unwritten(const struct problem *p, const struct verdict *v,
                              struct explanation *out) {
    struct box written = empty_box();
    if (!v->unwritten) return false;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            if (!is_unwritten(p, i, j)) box_add(&written, i, j);
    *out = (struct explanation){.explained = v->unwritten, .of = v->unwritten};
    const bool none = written.row_last < 0;
    set_formula(
        out, none ? "none-written" : "unwritten-region",
        none ? "which threads reach the line that stores to C? If that is other memory, what "
               "copies it?"
             : "each element of C needs a thread that stores it, or a copy: where do the grid, the "
               "guards or the copy end?");
    bool found = none || frame(p, &written, out);
    for (int tile = 64; tile >= 4 && !found; tile /= 2)
        found = tile < max_int(p->m, p->n) && blocks(p, tile, out);
    if (!none) APPEND(out->claim, "Never written: %s", out->text);
    out->text[0] = '\0';
    APPEND(out->text, "%s.", none ? "No element of C was written" : out->claim);
    if (out->row_end > 0 && !v->wrong) out->products = 1 - (double)out->of / ((double)p->m * p->n);
    return found;
}

static int more_covered(const void *a, const void *b) {
    const struct explanation *x = a, *y = b;
    return (x->explained < y->explained) - (x->explained > y->explained);
}

/* A formula may explain NaN and unwritten elements, too. */
int explain(const struct problem *problem, const struct verdict *verdict,
            struct explanation out[EXPLANATIONS]) {
    struct study s;
    int count = 0;
    if (verdict->passed) return 0;
    memset(out, 0, EXPLANATIONS * sizeof *out);
    if (study_new(&s, problem, verdict)) {
        struct search search = {.study = &s};
        const bool by_formula = explain_values(&search, out);
        count = by_formula;
        if (!by_formula || 10 * search.nan < 9 * s.with_state[NOT_FINITE])
            count += explain_nan(&s, &out[count]);
        if (!by_formula || !leaves_out(&search))
            count += explain_unwritten(problem, verdict, &out[count]);
    }
    free(s.elements);
    qsort(out, (size_t)count, sizeof *out, more_covered);
    return count;
}
