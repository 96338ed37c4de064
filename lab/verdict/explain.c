/* Explanations: what a wrong C is instead of A B, in words, for a student: only if nearly all of it
 * is covered, and with the number of elements that are. study.h lists the other files,
 * docs/sgemm.md what is known. */
#include "../../engine/report/poison.h"
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a formula ---- */

static void say_counts(const struct study *s, const struct fit *fit, struct explanation *out) {
    const char *looked = s->complete ? "" : " that were looked at";
    const char *what = s->verdict->not_float32 ? "" : " wrong";
    out->explained = fit->fits;
    out->of = fit->fits;
    if (out->of == 1)
        APPEND(out->text, ": this explains the%s element%s.", what, looked);
    else
        APPEND(out->text, ": this explains all %s%s elements%s.", grouped(out->of).text, what,
               looked);
    if (fit->stray)
        APPEND(out->text, " %s more %s NaN, as expected: there the formula reads outside A or B.",
               grouped(fit->stray).text, is_or_are(fit->stray));
    if (fit->nowhere && fit->written <= fit->nowhere / 10)
        APPEND(out->text, " It also leaves out the %s element%s that %s never written.",
               grouped(fit->nowhere).text, plural(fit->nowhere), was_or_were(fit->nowhere));
}

/* Of what it adds up. With float32 arithmetic only: less precision is no mistake in one line. */
static double part_of_products(const struct formula *f) {
    const int k = f->problem->k;
    if (f->accept || f->input || f->step) return 0;
    if (f->natural) return 1;
    int count = 0;
    for (int p = 0; p < f->terms; p++) {
        const int64_t a = f->a(f, 0, p), b = f->b(f, 0, p);
        if ((f->weight && f->weight(f, p) == 0) || a == ZERO || b == ZERO) continue;
        const int last = p - f->tile;
        const bool again = f->tile && last >= 0 && (a == f->a(f, 0, last) || b == f->b(f, 0, last));
        count += !again;
    }
    return fmin((double)count / k, 1);
}

static bool explains_all(const struct fit *fit) {
    return !fit->stray && !fit->nan_left && !fit->written;
}

/* The formula that gives C. False: none, or other mistakes would give it, too. */
static bool explain_values(const struct study *s, struct fit *fit, struct explanation *out) {
    struct search search = explain_search_new(s);
    if (search.probe_count > 0) explain_hypotheses(&search);
    const struct formula *f = &search.best;
    if (!search.any || (search.several && !f->literal)) return false;
    *fit = search.fit;
    out->about_nan = fit->stray > 0;
    out->explains_values = true;
    out->sum_changed = f->natural && (f->offset != 0 || f->factor != 1);
    bool everywhere = !fit->right_differs;
    APPEND(out->formula, "%s", f->name);
    APPEND(out->text, "%s %s", everywhere ? "C is" : "Where C is wrong, it is", f->phrase);
    APPEND(out->hint, "%s", everywhere || !f->part_hint ? f->hint : f->part_hint);
    APPEND(out->claim, "%s", out->text);
    say_counts(s, fit, out);
    const bool one = !strchr(f->name, '+');
    out->products = one && explains_all(fit) ? part_of_products(f) : 0;
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
     "its "
     "elements?"},
    {UINT32_C(0x7F939393) /* the CPU backend's */, "shuffle-absent",
     "a shuffle that reads from a lane that takes no part in it",
     "which lanes does the shuffle read from, and has one of them left the kernel or the branch?"},
};

static bool has_origin(float got, uint32_t bits) {
    const uint32_t quiet = UINT32_C(1) << 22, sign = UINT32_C(1) << 31;
    return (get_bits(&got) & ~sign) == (bits | quiet);
}

/* What covers nearly all of C is no place to look at. */
static bool is_part(const struct study *s, const struct explanation *region) {
    uint64_t elements = (uint64_t)s->problem->m * (uint64_t)s->problem->n;
    return region->of <= elements / 4 * 3;
}

static void say_where(const struct study *s, enum state state, struct explanation *out) {
    struct explanation region;
    if (!explain_region(s, state, &region) || region.of < 2 || !is_part(s, &region)) return;
    APPEND(out->text, " They fill %s.", region.text);
    if (strcmp(out->formula, "shared-unwritten") == 0 && strcmp(region.formula, "edge-wrong") == 0)
        snprintf(out->hint, sizeof out->hint,
                 "when is every element of a tile written, and by which thread, at the edge of C?");
}

static bool explain_nan(const struct study *s, struct explanation *out) {
    uint64_t counts[LENGTH(origins)] = {0}, nan = (uint64_t)s->with_state[NOT_FINITE];
    int best = 0;
    if (!nan) return false;
    for (int i = 0; i < s->count; i++) {
        for (int o = 0; o < LENGTH(origins) && s->elements[i].state == NOT_FINITE; o++)
            counts[o] += has_origin(s->elements[i].got, origins[o].bits);
    }
    for (int o = 1; o < LENGTH(origins); o++) {
        if (counts[o] > counts[best]) best = o;
    }
    if (10 * counts[best] < 9 * nan) return false;
    *out = (struct explanation){.about_nan = true, .explained = counts[best], .of = nan};
    APPEND(out->formula, "%s", origins[best].formula);
    APPEND(out->hint, "%s", origins[best].hint);
    if (counts[best] < nan)
        APPEND(out->text, "%s of the %s NaN", grouped(counts[best]).text, grouped(nan).text);
    else
        APPEND(out->text, nan > 1 ? "All %s NaN" : "The NaN", grouped(nan).text);
    APPEND(out->text, "%s %s from %s.", s->complete ? "" : " that were looked at",
           nan > 1 ? "come" : "comes", origins[best].say);
    say_where(s, NOT_FINITE, out);
    return true;
}

/* ---- all together ---- */

static bool explain_unwritten(const struct study *s, struct explanation *out) {
    struct explanation region;
    if (!s->verdict->unwritten || !explain_region(s, UNWRITTEN, &region)) return false;
    *out = region;
    out->text[0] = '\0';
    if (region.text[0]) {
        APPEND(out->claim, "Never written: %s", region.text);
        APPEND(out->text, "%s.", out->claim);
        if (region.row_end > 0 && !s->verdict->wrong)
            out->products = 1 - (double)region.of / ((double)s->problem->m * s->problem->n);
    } else {
        snprintf(out->formula, sizeof out->formula, "none-written");
        APPEND(out->text, "No element of C was written.");
    }
    return true;
}

/* The root of the mean square of the errors of all elements, which must be numbers. */
static double rms_error(const struct study *s) {
    double squares = 0;
    for (int i = 0; i < s->count; i++) {
        double error = (double)s->elements[i].got - s->elements[i].ref;
        squares += error * error;
    }
    return sqrt(squares / s->count);
}

/* Errors of an unknown rounding, not of a formula: small beside A B, and nearly everywhere. */
static bool explain_precision(const struct study *s, struct explanation *out) {
    static const double small = 1.0 / 32;
    const struct verdict *v = s->verdict;
    if (s->problem->comparison != COMPARE_FLOAT32 || s->with_state[NOT_FINITE] || v->unwritten ||
        s->with_state[WRONG] < s->with_state[RIGHT] / 2 || v->rms_error_u <= FLOAT32_RMS_U ||
        !(rms_error(s) <= small * s->rms))
        return false;
    *out = (struct explanation){.explained = v->not_float32 ? v->compared : v->wrong};
    out->of = out->explained;
    APPEND(out->formula, "low-precision");
    APPEND(out->hint, "in which types are the elements, their products and the sum?");
    APPEND(out->text,
           "C is nearly right, with errors of about %.2g of its size: the arithmetic is less "
           "precise than float32 (TF32, BF16, FP16?).",
           rms_error(s) / s->rms);
    return true;
}

static bool explain_wrong_region(const struct study *s, struct explanation *out) {
    enum { LEAST = 8 };
    struct explanation region;
    if (s->with_state[WRONG] < LEAST || !explain_region(s, WRONG, &region) || !is_part(s, &region))
        return false;
    *out = region;
    out->text[0] = '\0';
    APPEND(out->text, "Every element of %s is wrong.", region.text);
    return true;
}

static int explain_study(const struct study *s, struct explanation out[EXPLANATIONS]) {
    struct fit fit = {0};
    int count = 0;
    count += explain_values(s, &fit, &out[0]) || explain_precision(s, &out[0]) ||
             explain_wrong_region(s, &out[0]);
    if (!fit.stray || fit.nan_left > fit.stray / 10) count += explain_nan(s, &out[count]);
    if (!fit.nowhere || fit.written > fit.nowhere / 10) count += explain_unwritten(s, &out[count]);
    return count;
}

static int more_covered(const void *a, const void *b) {
    const struct explanation *x = a, *y = b;
    return (x->explained < y->explained) - (x->explained > y->explained);
}

int explain(const struct problem *problem, const struct verdict *verdict,
            struct explanation out[EXPLANATIONS]) {
    struct study study;
    int count = 0;
    if (verdict->mode == VERIFY_NONE || verdict->passed) return 0;
    memset(out, 0, EXPLANATIONS * sizeof *out);
    if (explain_study_new(&study, problem, verdict)) count = explain_study(&study, out);
    explain_study_free(&study);
    qsort(out, (size_t)count, sizeof *out, more_covered);
    return count;
}
