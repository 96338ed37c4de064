/* Parts of the sum: C is A B over some values of k, or without some, or with some counted twice.
 *
 * Which values these are is not guessed but found, from partial sums of a few wrong elements. */
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/text.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>

enum {
    PREFIXES = 12,    /* wrong elements whose partial sums are kept */
    ANCHORS = 3,      /* those of them that slices are looked for in */
    SLICES = 64,      /* at most, that fit most prefixes: with constant inputs nearly all do */
    ENDS = 1200,      /* where a slice may begin or end, at most */
    K_MOST = 1 << 19, /* more would take too much memory */
};

/* Terms first .. last - 1 of the sum. */
struct slice {
    enum { ONLY, TWICE, WITHOUT } part;
    int first, last;
};

struct prefix {
    const struct studied *element;
    double *sums; /* sums[p]: of the terms below p; owned */
};

struct slices {
    const struct problem *problem;
    struct prefix prefixes[PREFIXES];
    int prefix_count;
    struct slice found[SLICES];
    int count;
};

static bool prefix_new(struct prefix *prefix, const struct problem *p,
                       const struct studied *element) {
    prefix->element = element;
    prefix->sums = malloc(((size_t)p->k + 1) * sizeof *prefix->sums);
    if (!prefix->sums) return false;
    prefix->sums[0] = 0;
    const float *a = p->A + (int64_t)element->row * p->k, *b = p->B + element->col;
    for (int i = 0; i < p->k; i++)
        prefix->sums[i + 1] = prefix->sums[i] + (double)a[i] * b[(int64_t)i * p->n];
    return true;
}

static double tolerance(const struct slices *s, const struct prefix *prefix) {
    return explain_tolerance(s->problem, 2 * prefix->element->G, 0, 0);
}

/* The sum over a slice that makes C that slice, the rest, or the sum with the slice doubled. */
static double sought(const struct studied *e, int part) {
    return part == ONLY      ? (double)e->got
           : part == WITHOUT ? e->ref - (double)e->got
                             : (double)e->got - e->ref;
}

static bool slice_fits(const struct slices *s, const struct prefix *prefix, struct slice slice) {
    double sum = prefix->sums[slice.last] - prefix->sums[slice.first];
    return fabs(sum - sought(prefix->element, slice.part)) <= tolerance(s, prefix);
}

/* Adds a slice if it is new, a part (the whole sum is none, and the rest of one that lacks its
 * beginning or end is a slice itself), and fits three of four prefixes. */
static void add_slice(struct slices *s, struct slice slice) {
    bool starts = slice.first == 0, ends = slice.last == s->problem->k;
    bool is_part = slice.part == WITHOUT ? !starts && !ends : !(starts && ends);
    if (s->count == SLICES || !is_part) return;
    for (int i = 0; i < s->count; i++) {
        const struct slice *known = &s->found[i];
        if (known->part == slice.part && known->first == slice.first && known->last == slice.last)
            return;
    }
    int misses = 0;
    for (int i = 0; i < s->prefix_count; i++) misses += !slice_fits(s, &s->prefixes[i], slice);
    if (4 * misses <= s->prefix_count) s->found[s->count++] = slice;
}

/* Where a slice may begin and end: anywhere, or at whole steps and near both ends if k is large. */
static int find_ends(int k, int ends[ENDS]) {
    int step = 1, count = 0;
    while (k / step > 1024) step *= 2;
    for (int at = 0; at <= k; at += step) ends[count++] = at;
    for (int i = 0; step > 1 && i < TILES; i++) {
        ends[count++] = k - explain_tiles[i];
        ends[count++] = k - k % explain_tiles[i];
    }
    if (step > 1) {
        ends[count++] = k - 1;
        ends[count++] = k;
    }
    return count;
}

/* All slices that give the anchor, if they fit the other prefixes. */
static void find_slices(struct slices *s, const struct prefix *anchor) {
    int k = s->problem->k, ends[ENDS], end_count = find_ends(k, ends);
    double allowed = tolerance(s, anchor);
    for (int i = 1; i < k; i++) { /* the beginning or end of the sum may be cut off anywhere */
        if (slice_fits(s, anchor, (struct slice){ONLY, 0, i}))
            add_slice(s, (struct slice){ONLY, 0, i});
        if (slice_fits(s, anchor, (struct slice){ONLY, i, k}))
            add_slice(s, (struct slice){ONLY, i, k});
    }
    for (int part = ONLY; part <= WITHOUT; part++) {
        for (int i = 0; i < end_count; i++) {
            double end = anchor->sums[ends[i]] + sought(anchor->element, part);
            for (int j = 0; j < end_count; j++) {
                if (fabs(anchor->sums[ends[j]] - end) <= allowed && ends[i] < ends[j])
                    add_slice(s, (struct slice){part, ends[i], ends[j]});
            }
        }
    }
}

/* ---- words ---- */

/* A loop over k that ends at `terms`. */
static const char *cut_hint(int terms, int k) {
    bool first_tile = false;
    for (int i = 0; i < TILES; i++) {
        int tile = explain_tiles[i];
        if (tile > 2 && terms == k - k % tile)
            return "how many phases are there when k is not a multiple of the tile?";
        first_tile |= tile > 2 && terms == tile;
    }
    return terms == k - 1 ? "what is the last value of k that the loop reaches?"
           : first_tile   ? "what happens after the first phase?"
                          : "how many terms does an element of C have, and in how many phases?";
}

static void say_only(struct formula *f, const struct slice *slice) {
    const struct problem *p = f->problem;
    int terms = slice->last - slice->first;
    if (slice->first == 0) {
        APPEND(f->name, "k-cut");
        APPEND(f->phrase, "the product over the first %d of %d values of k", terms, p->k);
        if (terms == p->n || terms == p->m)
            APPEND(f->phrase, " (%s is %d)", terms == p->n ? "n" : "m", terms);
        f->hint = cut_hint(terms, p->k);
    } else if (slice->last == p->k) {
        APPEND(f->name, "k-late");
        APPEND(f->phrase, "the product over the last %d of %d values of k", terms, p->k);
        f->hint = "where does the loop over k start, and is the sum kept from one phase to the "
                  "next?";
    } else {
        APPEND(f->name, "k-part");
        APPEND(f->phrase, "the product over values %d to %d of k alone, of 0 to %d", slice->first,
               slice->last - 1, p->k - 1);
        f->hint = "which phases are added to the sum?";
    }
}

/* Beyond k the last phase finds what the one before has left in its tile. */
static bool keeps_old_tile(const struct slice *slice, int k) {
    bool keeps = false;
    for (int i = 0; i < TILES; i++)
        keeps |= slice->first == k - explain_tiles[i] && slice->last == k - k % explain_tiles[i];
    return keeps;
}

static void say_twice(struct formula *f, const struct slice *slice) {
    APPEND(f->name, "k-twice");
    if (slice->last - slice->first == 1)
        APPEND(f->phrase, "the product with value %d of k counted twice", slice->first);
    else
        APPEND(f->phrase, "the product with values %d to %d of k counted twice", slice->first,
               slice->last - 1);
    f->hint = keeps_old_tile(slice, f->problem->k)
                  ? "what do the tiles hold beyond k in the last phase?"
                  : "is each phase added to the sum once?";
}

static void consider_slice(struct search *search, const struct slice *slice) {
    static const double inside[] = {[ONLY] = 1, [TWICE] = 2, [WITHOUT] = 0};
    struct formula f = explain_formula_new(search->study, (struct formula){0});
    explain_weigh(&f, slice->first, slice->last, inside[slice->part], slice->part != ONLY);
    if (slice->part == ONLY) {
        say_only(&f, slice);
    } else if (slice->part == TWICE) {
        say_twice(&f, slice);
    } else {
        APPEND(f.name, "k-gap");
        APPEND(f.phrase, "the product without values %d to %d of k (of 0 to %d)", slice->first,
               slice->last - 1, f.problem->k - 1);
        f.hint = "which phase is left out?";
    }
    explain_consider(search, &f);
}

void explain_slices(struct search *search) {
    struct slices s = {.problem = search->study->problem};
    int wanted = s.problem->k <= K_MOST ? min_int(search->probe_count, PREFIXES) : 0;
    while (s.prefix_count < wanted &&
           prefix_new(&s.prefixes[s.prefix_count], s.problem, search->probes[s.prefix_count]))
        s.prefix_count++;
    for (int i = 0; i < min_int(s.prefix_count, ANCHORS); i++) find_slices(&s, &s.prefixes[i]);
    for (int i = 0; i < s.prefix_count; i++) free(s.prefixes[i].sums);
    for (int i = 0; i < s.count; i++) consider_slice(search, &s.found[i]);
}
