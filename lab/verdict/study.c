/* The evidence: which elements of C are wrong, and by how much. */
#include "study.h"
#include "../../engine/report/poison.h"
#include "../product.h"

#include <math.h>
#include <stdlib.h>

static const double formula_work =
    4e6; /* multiply-adds of a formula on all elements of the study */

enum { LEAST_ELEMENTS = 1024, MOST_ELEMENTS = 1 << 18 };

/* So many numbers from first to last, in order, spread evenly but not regularly. */
static int *spread(int first, int last, int count, uint64_t key) {
    int *list = malloc((size_t)count * sizeof *list);
    const int64_t size = (int64_t)last - first + 1;
    for (int i = 0; list && i < count; i++) {
        const int64_t from = size * i / count, to = size * (i + 1) / count;
        list[i] =
            first + (int)(from + (int64_t)(random64(key, (uint64_t)i) % (uint64_t)(to - from)));
    }
    return list;
}

/* As verify() sees it. */
static enum state judge(const struct problem *p, const struct studied *e) {
    const double gamma = p->comparison == COMPARE_EXACT ? 0 : gamma_bound((int64_t)p->k + 2);
    if (get_bits(&e->got) == POISON_BITS) return UNWRITTEN;
    if (!isfinite(e->got)) return NOT_FINITE;
    return fabs((double)e->got - e->ref) <= (e->G > 0 ? gamma * e->G : 0) ? RIGHT : WRONG;
}

/* Those where the lists of rows and columns meet. */
static bool study_elements(struct study *s, const int *rows, int row_count, const int *cols,
                           int col_count) {
    const struct problem *p = s->problem;
    s->count = row_count * col_count;
    double *ref = malloc((size_t)s->count * sizeof *ref), *G = malloc((size_t)s->count * sizeof *G);
    s->elements = malloc((size_t)s->count * sizeof *s->elements);
    const bool enough = rows && cols && ref && G && s->elements &&
                        reference(p->A, p->B, p->n, p->k, rows, row_count, cols, col_count, ref, G);
    for (int i = 0, other = s->count; enough && i < s->count; i++) {
        struct studied e = {.row = rows[i / col_count], .col = cols[i % col_count]};
        e.got = p->C[(size_t)e.row * (size_t)p->n + (size_t)e.col];
        e.ref = ref[i];
        e.G = G[i];
        e.state = judge(p, &e);
        s->elements[e.state == WRONG ? s->with_state[WRONG] : --other] = e;
        s->with_state[e.state]++;
    }
    free(ref);
    free(G);
    return enough;
}

/* Of a large C random rows and columns where something is wrong. */
bool study_new(struct study *s, const struct problem *p, const struct verdict *v) {
    const uint64_t key = mix64(p->seed ^ UINT64_C(0x4c617474));
    const int most = (int)fmin(fmax(formula_work / p->k, LEAST_ELEMENTS), MOST_ELEMENTS);
    struct box box = {0, p->m - 1, 0, p->n - 1};
    if ((double)p->m * p->n > most && v->wrong) box = v->wrong_box;
    *s = (struct study){.problem = p};
    s->whole = box_elements(&box) == (uint64_t)p->m * (uint64_t)p->n;
    const int rows = box.row_last - box.row_first + 1, cols = box.col_last - box.col_first + 1;
    const int col_count = min_int(cols, max_int((int)sqrt(most), most / rows));
    const int row_count = min_int(rows, most / col_count);
    s->complete = (s->whole || v->mode == VERIFY_FULL) &&
                  box_elements(&box) == (uint64_t)row_count * (uint64_t)col_count;
    int *row = spread(box.row_first, box.row_last, row_count, random64(key, 0));
    int *col = spread(box.col_first, box.col_last, col_count, random64(key, 1));
    const bool enough = study_elements(s, row, row_count, col, col_count);
    free(row);
    free(col);
    return enough;
}

void study_free(struct study *s) { free(s->elements); }
