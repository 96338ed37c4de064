/* The formula that fits C best.
 *
 * Each formula is tried on a few wrong elements and, if it fits there, on all that the study has.
 * The one by which most of C comes out as it is explains it; of two that are equal, the earlier
 * one, because simple mistakes come first. Which parts of the sum would give C is found from the
 * other side: from partial sums of the probes. */
#include "explain.h"

#include <math.h>
#include <stdlib.h>

enum {
    MISSES = 6,  /* probes that a formula may miss: it need not explain every element */
    LEAST = 8,   /* elements that an explanation rests on: one or two fit anything */
    ENDS = 1200, /* where a part of the sum may begin or end, at most */
};

static const double work_limit = 3e8; /* multiplications: about a second */
static const double enough = 0.9;     /* of the wrong elements that a formula must explain */

/* ---- slices of the sum ---- */

struct prefix {
    const struct element *element;
    double *sums; /* sums[p]: of the terms below p */
};

static bool prefix_new(struct prefix *prefix, const struct problem *p,
                       const struct element *element) {
    prefix->element = element;
    prefix->sums = malloc(((size_t)p->k + 1) * sizeof *prefix->sums);
    if (!prefix->sums) return false;
    prefix->sums[0] = 0;
    const float *a = p->A + (int64_t)element->row * p->k, *b = p->B + element->col;
    for (int i = 0; i < p->k; i++)
        prefix->sums[i + 1] = prefix->sums[i] + (double)a[i] * b[(int64_t)i * p->n];
    return true;
}

static bool slice_fits(const struct problem *p, const struct prefix *prefix,
                       const struct slice *slice) {
    const struct element *e = prefix->element;
    double part = prefix->sums[slice->last] - prefix->sums[slice->first];
    double value = slice->part == ONLY      ? part
                   : slice->part == WITHOUT ? e->ref - part
                                            : e->ref + part;
    return fabs((double)e->got - value) <= explain_tolerance(p, 2 * e->G, 0, 0);
}

/* The whole sum is none, and what is left of a sum at one end is the other part alone. */
static bool is_part(const struct slice *slice, int k) {
    bool starts = slice->first == 0, ends = slice->last == k;
    return slice->part == WITHOUT ? !starts && !ends : !(starts && ends);
}

static void add_slice(struct search *search, const struct prefix *prefixes, int count,
                      struct slice slice) {
    const struct problem *p = search->study->problem;
    if (search->slice_count == SLICES || !is_part(&slice, p->k)) return;
    for (int i = 0; i < search->slice_count; i++) {
        const struct slice *known = &search->slices[i];
        if (known->part == slice.part && known->first == slice.first && known->last == slice.last)
            return;
    }
    int misses = 0;
    for (int i = 0; i < count; i++) misses += !slice_fits(p, &prefixes[i], &slice);
    if (4 * misses <= count) search->slices[search->slice_count++] = slice;
}

/* Where a slice may begin and end: anywhere, or at whole steps and near both ends if k is large. */
static int find_ends(int k, int ends[ENDS]) {
    int step = 1, count = 0;
    while (k / step > 1024) step *= 2;
    for (int at = 0; at <= k; at += step) ends[count++] = at;
    for (int i = 0; step > 1 && i < TILES; i++) {
        if (explain_tiles[i] < k) ends[count++] = k - explain_tiles[i];
        ends[count++] = k - k % explain_tiles[i];
    }
    if (step > 1) {
        ends[count++] = k - 1;
        ends[count++] = k;
    }
    return count;
}

/* All slices that give the first of the prefixes, if they fit the others. */
static void find_slices(struct search *search, const struct prefix *prefixes, int count,
                        const struct prefix *anchor) {
    static const int parts[] = {ONLY, TWICE, WITHOUT};
    int k = search->study->problem->k, ends[ENDS], end_count = find_ends(k, ends);
    const struct element *e = anchor->element;
    double allowed = explain_tolerance(search->study->problem, 2 * e->G, 0, 0);
    for (int i = 1; i < k; i++) { /* beginnings and endings may be cut anywhere */
        if (fabs(anchor->sums[i] - (double)e->got) <= allowed)
            add_slice(search, prefixes, count, (struct slice){ONLY, 0, i});
        if (fabs(e->ref - anchor->sums[i] - (double)e->got) <= allowed)
            add_slice(search, prefixes, count, (struct slice){ONLY, i, k});
    }
    for (int t = 0; t < LENGTH(parts); t++) {
        double sought = parts[t] == ONLY      ? (double)e->got
                        : parts[t] == WITHOUT ? e->ref - (double)e->got
                                              : (double)e->got - e->ref;
        for (int i = 0; i < end_count; i++) {
            double start = anchor->sums[ends[i]] + sought;
            for (int j = 0; j < end_count; j++) {
                if (fabs(anchor->sums[ends[j]] - start) <= allowed && ends[i] < ends[j])
                    add_slice(search, prefixes, count, (struct slice){parts[t], ends[i], ends[j]});
            }
        }
    }
}

static void search_slices(struct search *search) {
    enum { PREFIXES = 12, ANCHORS = 3, K_MOST = 1 << 19 };
    const struct problem *p = search->study->problem;
    struct prefix prefixes[PREFIXES] = {{0}};
    int count = p->k <= K_MOST ? min_int(search->probe_count, PREFIXES) : 0, made = 0;
    while (made < count && prefix_new(&prefixes[made], p, search->probes[made])) made++;
    for (int i = 0; i < min_int(made, ANCHORS) && made == count; i++)
        find_slices(search, prefixes, count, &prefixes[i]);
    for (int i = 0; i < made; i++) free(prefixes[i].sums);
}

/* ---- the best formula ---- */

/* Some wrong elements, spread as no pattern in C is. */
static int pick(const struct study *s, const struct element *out[PROBES]) {
    int count = 0, seen = 0;
    uint64_t key = mix64(s->problem->seed ^ UINT64_C(0x4578706c));
    for (int i = 0; i < s->count && count < PROBES; i++) {
        if (s->elements[i].state != WRONG) continue;
        uint64_t left = (uint64_t)(s->with_state[WRONG] - seen++);
        if (random64(key, (uint64_t)i) % left < (uint64_t)(PROBES - count))
            out[count++] = &s->elements[i];
    }
    return count;
}

static bool fits_probes(const struct search *search, const struct formula *f) {
    int misses = 0, fits = 0;
    for (int i = 0; i < search->probe_count && misses < MISSES; i++) {
        enum outcome outcome = explain_try(search->study, f, search->probes[i]);
        misses += outcome == DIFFERS || outcome == NOWHERE;
        fits += outcome == FITS;
    }
    return fits > 0 && misses < MISSES && misses <= fits;
}

static bool good(const struct fit *fit, bool literal) {
    uint64_t wrong = fit->fits + fit->differs + fit->unknown + fit->stray + fit->nan_left;
    uint64_t tried = fit->fits + fit->differs;
    return fit->fits >= (literal ? 1 : LEAST) && 10 * fit->fits >= wrong &&
           (double)fit->fits >= enough * (double)tried;
}

/* Elements of C that come out as they are. */
static uint64_t score(const struct fit *fit) {
    return fit->fits + fit->stray + fit->nowhere + fit->right - fit->right_differs;
}

struct best {
    struct formula formula;
    struct fit fit;
    bool any, several;
};

static void consider(const struct search *search, const struct formula *f, struct best *best) {
    if (!fits_probes(search, f)) return;
    struct fit fit = explain_fit(search->study, f);
    if (!good(&fit, f->hypothesis->literal)) return;
    bool doubtful = !search->study->informative && !f->hypothesis->literal;
    if (doubtful && (fit.differs || fit.right_differs)) return;
    if (best->any && score(&fit) < score(&best->fit)) return;
    if (best->any && score(&fit) == score(&best->fit)) {
        best->several = true;
        return;
    }
    *best = (struct best){.formula = *f, .fit = fit, .any = true};
}

bool explain_values(struct study *study, struct fit *fit, struct explanation *out) {
    struct search search = {.study = study};
    struct best best = {.any = false};
    search.probe_count = pick(study, search.probes);
    if (search.probe_count == 0) return false;
    if (!study->verdict->not_float32) search_slices(&search);
    for (const struct hypothesis *h = explain_hypotheses; h->propose; h++) {
        if (study->verdict->not_float32 && !h->precision) continue;
        for (int i = 0; study->work < work_limit; i++) {
            struct formula f = explain_formula_new(study->problem, h);
            enum answer answer = h->propose(&search, i, &f);
            if (answer == NO_MORE) break;
            if (answer == PROPOSED) consider(&search, &f, &best);
        }
    }
    if (!best.any) return false;
    if (best.several && !study->informative && !best.formula.hypothesis->literal) return false;
    bool everywhere = best.fit.right_differs <= best.fit.right / 10;
    *fit = best.fit;
    snprintf(out->formula, sizeof out->formula, "%s", best.formula.name);
    snprintf(out->text, sizeof out->text, "%s %s", everywhere ? "C is" : "Where C is wrong, it is",
             best.formula.phrase);
    const char *hint = best.formula.part_hint;
    snprintf(out->hint, sizeof out->hint, "%s", everywhere || !hint ? best.formula.hint : hint);
    return true;
}
