/* The evidence: which elements of C are wrong, and by how much. */
#include "../../engine/report/poison.h"
#include "../../engine/report/text/numbers.h"
#include "../product.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>

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

static bool lattice_new(struct lattice *lattice, const struct problem *p, const struct verdict *v) {
    struct box box = {0, p->m - 1, 0, p->n - 1};
    double elements = fmax(1, fmin(reference_work / p->k, MAP_MOST));
    if ((double)p->m * p->n > elements && v->wrong) box = v->wrong_box;
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
            struct studied e = {.row = lattice->rows[i], .col = lattice->cols[j]};
            e.got = p->C[(size_t)e.row * (size_t)p->n + (size_t)e.col];
            e.ref = lattice->ref[index];
            e.G = lattice->G[index];
            e.state = (enum state)s->state[index];
            int left = total[e.state] - seen[e.state]++;
            int missing = wanted[e.state] - s->with_state[e.state];
            if (missing <= 0 || (int)(random64(key, index) % (uint64_t)left) >= missing) continue;
            s->elements[s->count++] = e;
            s->with_state[e.state]++;
        }
    }
    for (int state = WRONG; state <= UNWRITTEN; state++)
        s->complete = s->complete && s->with_state[state] == total[state];
}

/* Judge the whole lattice, and keep a sample of it. */
static bool study_elements(struct study *s, const struct lattice *lattice) {
    const struct problem *p = s->problem;
    size_t count = (size_t)lattice->row_count * (size_t)lattice->col_count, index = 0;
    int total[4] = {0};
    bool all = lattice->row_count == p->m && lattice->col_count == p->n;
    s->complete = all;
    s->elements = malloc(min_size(count, 2 * (size_t)SAMPLE_MOST) * sizeof *s->elements);
    s->state = malloc(count);
    if (!s->elements || !s->state) return false;
    for (int i = 0; i < lattice->row_count; i++) {
        const float *C = p->C + (size_t)lattice->rows[i] * (size_t)p->n;
        for (int j = 0; j < lattice->col_count; j++, index++) {
            enum state state =
                judge(s, C[lattice->cols[j]], lattice->ref[index], lattice->G[index]);
            total[state]++;
            s->state[index] = (unsigned char)state;
        }
    }
    take(s, lattice, total);
    if (!all) {
        free(s->state);
        s->state = NULL;
    }
    for (int i = 0; i < s->count; i++) s->rms += s->elements[i].ref * s->elements[i].ref;
    s->rms = sqrt(s->rms / s->count);
    return true;
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Whether half of a matrix's elements, in a sample, differ from all others and do not just count.
 */
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

bool explain_study_new(struct study *s, const struct problem *p, const struct verdict *v) {
    struct lattice lattice = {0};
    *s = (struct study){.problem = p, .verdict = v};
    s->informative = varied(p->A, (int64_t)p->m * p->k) && varied(p->B, (int64_t)p->k * p->n);
    bool enough = lattice_new(&lattice, p, v) && study_elements(s, &lattice);
    lattice_free(&lattice);
    return enough;
}

void explain_study_free(struct study *s) {
    free(s->elements);
    free(s->state);
}
