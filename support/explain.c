/* Explanations: what a wrong C is instead of A B, in words, for a student.
 *
 * Here the evidence is gathered (which elements are wrong, by how much; all of them, or a sample of
 * a large C), and what was found is put into words: with the number of elements that it covers, and
 * only if it covers nearly all. explain.h lists the other files, docs/correctness.md what is
 * known. */
#include "explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- the evidence ---- */

static const double reference_work = 4e8; /* multiply-adds of the reference: some tenths of one s */
static const double sample_work = 1e7;    /* those of one formula on all elements of the study */

enum { MAP_MOST = 1 << 21, SAMPLE_LEAST = 64, SAMPLE_MOST = 100000 };

/* Rows x columns of C that are looked at: all, or random ones where something is wrong. */
struct lattice {
    int *rows, *cols; /* owned */
    int row_count, col_count;
    double *ref, *G; /* owned */
};

static void lattice_free(struct lattice *lattice) {
    free(lattice->rows);
    free(lattice->cols);
    free(lattice->ref);
    free(lattice->G);
}

/* So many numbers from first to last, in order, spread evenly but not regularly. */
static int *spread(int first, int last, int count, uint64_t key) {
    int *list = malloc((size_t)count * sizeof *list);
    int64_t size = (int64_t)last - first + 1;
    for (int i = 0; list && i < count; i++) {
        int64_t from = size * i / count, to = size * (i + 1) / count;
        list[i] =
            first + (int)(from + (int64_t)(random64(key, (uint64_t)i) % (uint64_t)(to - from)));
    }
    return list;
}

static struct box where(const struct problem *p, const struct verdict *v) {
    struct box box = {0, p->m - 1, 0, p->n - 1};
    if (!v->wrong || v->not_float32) return box;
    return v->wrong_box;
}

static bool lattice_new(struct lattice *lattice, const struct problem *p, const struct verdict *v) {
    struct box box = {0, p->m - 1, 0, p->n - 1};
    double elements = fmax(1, fmin(reference_work / p->k, MAP_MOST));
    if ((double)p->m * p->n > elements) box = where(p, v);
    int rows = box.row_last - box.row_first + 1, cols = box.col_last - box.col_first + 1;
    int side = max_int(1, (int)sqrt(elements));
    lattice->row_count = rows <= side ? rows : max_int(side, (int)fmin(rows, elements / cols));
    lattice->col_count = (int)fmax(1, fmin(cols, elements / lattice->row_count));
    size_t bytes = (size_t)lattice->row_count * (size_t)lattice->col_count * sizeof(double);
    uint64_t key = mix64(p->seed ^ UINT64_C(0x4c617474));
    lattice->rows = spread(box.row_first, box.row_last, lattice->row_count, random64(key, 0));
    lattice->cols = spread(box.col_first, box.col_last, lattice->col_count, random64(key, 1));
    lattice->ref = malloc(bytes);
    lattice->G = malloc(bytes);
    return lattice->rows && lattice->cols && lattice->ref && lattice->G &&
           reference(p->A, p->B, p->n, p->k, lattice->rows, lattice->row_count, lattice->cols,
                     lattice->col_count, lattice->ref, lattice->G);
}

/* As verify() sees it; where the whole result is not float32, all of it is to be explained. */
static enum state judge(const struct study *s, float got, double ref, double G) {
    const struct problem *p = s->problem;
    double gamma = p->comparison == COMPARE_EXACT ? 0 : gamma_bound((int64_t)p->k + 2);
    if (get_bits(&got) == POISON_BITS) return UNWRITTEN;
    if (!isfinite(got)) return NOT_FINITE;
    if (s->verdict->not_float32) return WRONG;
    return fabs((double)got - ref) <= (G > 0 ? gamma * G : 0) ? RIGHT : WRONG;
}

/* Take about `most` of each state's elements. */
static void take(struct study *s, const struct lattice *lattice, int total[4]) {
    int most = (int)fmin(fmax(sample_work / s->problem->k, SAMPLE_LEAST), SAMPLE_MOST);
    const int wanted[4] = {most / 4, most, most / 4, most / 4};
    int seen[4] = {0};
    const struct problem *p = s->problem;
    uint64_t key = mix64(p->seed ^ UINT64_C(0x53616d70)), index = 0;
    for (int i = 0; i < lattice->row_count; i++) {
        for (int j = 0; j < lattice->col_count; j++, index++) {
            struct element e = {.row = lattice->rows[i], .col = lattice->cols[j]};
            e.got = p->C[(size_t)e.row * (size_t)p->n + (size_t)e.col];
            e.ref = lattice->ref[index];
            e.G = lattice->G[index];
            e.state = judge(s, e.got, e.ref, e.G);
            int left = total[e.state] - seen[e.state]++;
            int missing = wanted[e.state] - s->with_state[e.state];
            if (missing <= 0 || (int)(random64(key, index) % (uint64_t)left) >= missing) continue;
            s->elements[s->count++] = e;
            s->with_state[e.state]++;
        }
    }
    s->complete = s->complete && s->with_state[WRONG] == total[WRONG] &&
                  s->with_state[NOT_FINITE] == total[NOT_FINITE] &&
                  s->with_state[UNWRITTEN] == total[UNWRITTEN];
}

/* Judge the whole lattice, and keep a sample of it. */
static bool study_elements(struct study *s, const struct lattice *lattice) {
    const struct problem *p = s->problem;
    size_t count = (size_t)lattice->row_count * (size_t)lattice->col_count, index = 0;
    int total[4] = {0};
    s->complete = lattice->row_count == p->m && lattice->col_count == p->n;
    s->elements = malloc(min_size(count, 2 * (size_t)SAMPLE_MOST) * sizeof *s->elements);
    s->state = s->complete ? malloc(count) : NULL;
    if (!s->elements || (s->complete && !s->state)) return false;
    for (int i = 0; i < lattice->row_count; i++) {
        const float *C = p->C + (size_t)lattice->rows[i] * (size_t)p->n;
        for (int j = 0; j < lattice->col_count; j++, index++) {
            enum state state =
                judge(s, C[lattice->cols[j]], lattice->ref[index], lattice->G[index]);
            total[state]++;
            if (s->state) s->state[index] = (unsigned char)state;
        }
    }
    take(s, lattice, total);
    for (int i = 0; i < s->count; i++) s->rms += s->elements[i].ref * s->elements[i].ref;
    s->rms = sqrt(s->rms / s->count);
    return true;
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Are half of a matrix's elements, in a sample, different from all others, and do they not just
 * count? */
static bool varied(const float *x, int64_t size) {
    enum { VALUES = 256 };
    float values[VALUES];
    int count = (int)(size < VALUES ? size : VALUES), different = 0, counted = 0;
    for (int i = 0; i < count; i++) {
        int64_t at = size * i / count;
        values[i] = x[at];
        counted += at + 2 < size && x[at + 2] - x[at + 1] == x[at + 1] - x[at];
    }
    qsort(values, (size_t)count, sizeof *values, compare_floats);
    for (int i = 0; i < count; i++)
        different += (i == 0 || values[i] != values[i - 1]) &&
                     (i == count - 1 || values[i] != values[i + 1]);
    return 2 * different > count && 2 * counted < count;
}

static bool study_new(struct study *s, const struct problem *p, const struct verdict *v) {
    struct lattice lattice = {0};
    *s = (struct study){.problem = p, .verdict = v};
    s->informative = varied(p->A, (int64_t)p->m * p->k) && varied(p->B, (int64_t)p->k * p->n);
    bool enough = lattice_new(&lattice, p, v) && study_elements(s, &lattice);
    lattice_free(&lattice);
    return enough;
}

static void study_free(struct study *s) {
    free(s->elements);
    free(s->state);
}

/* ---- words ---- */

void explain_say(struct explanation *out, const char *format, ...) {
    size_t length = strlen(out->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->text + length, sizeof out->text - length, format, arguments);
    va_end(arguments);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void say_counts(const struct study *s, const struct fit *fit, struct explanation *out) {
    const char *looked = s->complete ? "" : " that were looked at";
    const char *what = s->verdict->not_float32 ? "" : " wrong";
    out->explained = fit->fits;
    out->of = fit->fits + fit->differs;
    if (out->explained == out->of && out->of == 1)
        explain_say(out, ": this explains the%s element%s.", what, looked);
    else if (out->explained == out->of)
        explain_say(out, ": this explains all %" PRIu64 "%s elements%s.", out->of, what, looked);
    else
        explain_say(out, ": this explains %" PRIu64 " of the %" PRIu64 "%s elements%s.",
                    out->explained, out->of, what, looked);
    if (fit->stray)
        explain_say(
            out, " %" PRIu64 " more %s NaN, and would be: they take something from outside A or B.",
            fit->stray, fit->stray == 1 ? "is" : "are");
    if (fit->unknown)
        explain_say(out,
                    " For %" PRIu64
                    " more it cannot be told: they take something from outside A or B.",
                    fit->unknown);
    if (fit->nowhere && fit->written <= fit->nowhere / 10)
        explain_say(out, " It also leaves out the %" PRIu64 " element%s that %s never written.",
                    fit->nowhere, plural(fit->nowhere), fit->nowhere == 1 ? "was" : "were");
}

/* ---- NaN that say where they come from ---- */

/* Arithmetic makes a signalling NaN quiet; most processors keep its other bits, GPUs do not. */
static const struct {
    uint32_t bits;
    const char *formula, *say, *hint;
} origins[] = {
    {POISON_BITS, "adds-to-c",
     "what C was filled with before the launch: the kernel adds to what it finds in C, or reads "
     "C before it has written it",
     "what is in C when the kernel begins?"},
    {GUARD_BITS, "reads-outside",
     "what lies around A, B and C: something outside a matrix was read, and went into the sum",
     "which is the largest index into A, and into B, that a thread computes?"},
    {UINT32_C(0x7FA2A2A2) /* the CPU backend's */, "shared-unwritten",
     "what shared memory begins with: an element of a tile was read that no thread had written",
     "when is every element of a tile written, and by which thread, at the edge of C too?"},
    {UINT32_C(0x7F939393) /* the CPU backend's */, "shuffle-absent",
     "what a shuffle gives for a lane that takes no part in it",
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
    if (explain_region(s, state, &region) && region.of > 1 && is_part(s, &region))
        explain_say(out, " They are %s.", region.text);
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
    *out = (struct explanation){.explained = counts[best], .of = nan};
    snprintf(out->formula, sizeof out->formula, "%s", origins[best].formula);
    snprintf(out->hint, sizeof out->hint, "%s", origins[best].hint);
    if (counts[best] < nan)
        explain_say(out, "%" PRIu64 " of the %" PRIu64 " NaN", counts[best], nan);
    else
        explain_say(out, nan > 1 ? "All %" PRIu64 " NaN" : "The NaN", nan);
    explain_say(out, "%s %s from %s.", s->complete ? "" : " that were looked at",
                nan > 1 ? "come" : "comes", origins[best].say);
    say_where(s, NOT_FINITE, out);
    return true;
}

/* ---- all together ---- */

static bool explain_unwritten(const struct study *s, struct explanation *out) {
    struct explanation region;
    if (!s->verdict->unwritten || !explain_region(s, UNWRITTEN, &region)) return false;
    *out = region;
    if (strcmp(region.text, "all of C") == 0) {
        snprintf(out->formula, sizeof out->formula, "none-written");
        snprintf(out->text, sizeof out->text, "No element of C was written.");
        return true;
    }
    char *colon = strchr(region.text, ':');
    out->text[0] = 0;
    if (colon) *colon = 0;
    explain_say(out, "Never written: %s%s%s.", region.text, colon ? "; " : "",
                colon ? colon + 2 : "");
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

/* Errors of a rounding, and not of a formula, though it was not found which: small beside A B, and
 * nearly everywhere. */
static bool explain_precision(const struct study *s, struct explanation *out) {
    static const double small = 1.0 / 32;
    const struct verdict *v = s->verdict;
    if (v->comparison != COMPARE_FLOAT32 || s->with_state[NOT_FINITE] || v->unwritten ||
        s->with_state[WRONG] < s->with_state[RIGHT] / 2 || v->rms_error_u <= FLOAT32_RMS_U ||
        !(rms_error(s) <= small * s->rms))
        return false;
    *out = (struct explanation){.explained = v->not_float32 ? v->compared : v->wrong};
    out->of = out->explained;
    snprintf(out->formula, sizeof out->formula, "low-precision");
    snprintf(out->hint, sizeof out->hint,
             "in which types are the elements, their products and the sum?");
    explain_say(
        out,
        "C is nearly right, with errors of about %.2g of its size: the arithmetic is less precise "
        "than float32 (TF32, BF16, FP16?).",
        rms_error(s) / s->rms);
    return true;
}

static bool explain_wrong_region(const struct study *s, struct explanation *out) {
    enum { LEAST = 8 };
    struct explanation region;
    if (s->with_state[WRONG] < LEAST || !explain_region(s, WRONG, &region) || !is_part(s, &region))
        return false;
    *out = region;
    out->text[0] = 0;
    explain_say(out, "Wrong are, all of them: %s.", region.text);
    return true;
}

static int explain_study(struct study *s, struct explanation out[EXPLANATIONS]) {
    struct fit fit = {0};
    int count = 0;
    bool values = explain_values(s, &fit, &out[0]);
    if (values) say_counts(s, &fit, &out[0]);
    count += values || explain_precision(s, &out[0]) || explain_wrong_region(s, &out[0]);
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
    if (study_new(&study, problem, verdict)) count = explain_study(&study, out);
    study_free(&study);
    qsort(out, (size_t)count, sizeof *out, more_covered);
    return count;
}
