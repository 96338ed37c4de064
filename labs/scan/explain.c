/* What wrong prefix sums are instead: each of a few mistakes computed, and held against what came
 * out. */
#include "engine/report/text/numbers.h"
#include "engine/report/text/text.h"
#include "scan.h"
#include <stdlib.h>

enum formula { EXCLUSIVE, BLOCKS_APART, OWN_SUM_ADDED, COPIED, FORMULAS };

static const struct {
    const char *name, *text, *hint;
    bool by_block;
} formulas[FORMULAS] = {
    [EXCLUSIVE] = {"exclusive", "out is the exclusive scan: each sum lacks its own element",
                   "does out[i] include in[i]?", false},
    [BLOCKS_APART] = {"blocks-not-added",
                      "out is scanned in parts of %lld elements, each on its own",
                      "what do the elements of a block need from the blocks before it?", true},
    [OWN_SUM_ADDED] =
        {"own-sum-added",
         "out has the sum of each %lld elements added to these, instead of the sum of all before "
         "them",
         "which sum does a block need: its own, or that of the blocks before it?", true},
    [COPIED] = {"copied", "out is in", "where are sums stored?", false},
};

struct sums {
    int64_t n;
    const unsigned *in, *got, *right;
};

/* out[i] with this mistake, in blocks of so many elements. */
static unsigned value(const struct sums *s, enum formula formula, int64_t i, int64_t block) {
    const int64_t first = i / block * block, end = first + block < s->n ? first + block : s->n;
    const unsigned before = first ? s->right[first - 1] : 0;
    switch (formula) {
    case EXCLUSIVE: return s->right[i] - s->in[i];
    case BLOCKS_APART: return s->right[i] - before;
    case OWN_SUM_ADDED: return s->right[i] - before + s->right[end - 1];
    default: return s->in[i];
    }
}

static bool fits(const struct sums *s, enum formula formula, int64_t block) {
    for (int64_t i = 0; i < s->n; i++)
        if (s->got[i] != value(s, formula, i, block)) return false;
    return true;
}

/* The only mistake of these that gives all of out. A block may have more elements than there are.
 */
static bool find(const struct sums *s, enum formula *formula, int64_t *block) {
    int found = 0;
    for (int f = 0; f < FORMULAS; f++)
        for (int64_t size = formulas[f].by_block ? 2 : s->n; size < 2 * s->n; size *= 2) {
            if (!fits(s, (enum formula)f, size)) continue;
            *formula = (enum formula)f;
            *block = size;
            found++;
        }
    return found == 1;
}

int explain_sums(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                 const struct verdict *verdict, struct explanation *out) {
    const int64_t n = which->shape.of[PARAM_N];
    unsigned *right = malloc((size_t)n * sizeof *right);
    const struct sums sums = {n, arrays[ARRAY_IN], arrays[ARRAY_OUT], right};
    enum formula formula;
    int64_t block;
    if (!right || verdict->unwritten || !verdict->wrong) return free(right), 0;
    lab_truth.reference(which, arrays, (void *[LAB_ARRAYS]){[ARRAY_OUT] = right});
    const bool found = find(&sums, &formula, &block);
    free(right);
    if (!found) return 0;
    *out = (struct explanation){
        .explained = verdict->wrong, .of = verdict->wrong, .explains_values = true};
    snprintf(out->formula, sizeof out->formula, "%s", formulas[formula].name);
    snprintf(out->claim, sizeof out->claim, formulas[formula].text,
             (long long)(block < n ? block : n));
    APPEND(out->text, "%s.", out->claim);
    snprintf(out->hint, sizeof out->hint, "%s", formulas[formula].hint);
    return 1;
}
