/* See block.h. */
#include "block.h"
#include "../../../lab/sgemm.h"
#include "../../../lab/verify.h"
#include "../../report/numbers.h"
#include "../../report/poison.h"
#include "../../watch/shadow/regions.h"
#include <math.h>
#include <string.h>

bool element_is_unwritten(const float *C, size_t i) { return get_bits(&C[i]) == POISON_BITS; }

bool element_is_wrong(const struct array_data *data, struct shape s, int row, int col,
                      double *right) {
    const float *A = data->of[MATRIX_A], *B = data->of[MATRIX_B], *C = data->of[MATRIX_C];
    const int n = shape_size(&s, PARAM_N), k = shape_size(&s, PARAM_K);
    double sum = 0, magnitude = 0;
    for (int p = 0; p < k; p++) {
        const double term = (double)A[(size_t)row * (size_t)k + (size_t)p] *
                            (double)B[(size_t)p * (size_t)n + (size_t)col];
        sum += term;
        magnitude += fabs(term);
    }
    *right = sum;
    const float got = C[(size_t)row * (size_t)n + (size_t)col];
    return !(fabs(got - sum) <= gamma_bound(k + 2) * magnitude);
}

/* Rows or columns of C, and as many blocks: the one that holds an index of C, if the part of C that
 * the block at `from` stores, first to last, is as large as those of others. */
struct extent {
    long from, first, last;
};

static unsigned block_of(struct extent stored, long index, unsigned blocks) {
    const long size = stored.last - stored.first + 1, apart = index - stored.first;
    const long block = stored.from + (apart >= 0 ? apart / size : -((-apart + size - 1) / size));
    return (unsigned)(block < 0 ? 0 : block >= (long)blocks ? (long)blocks - 1 : block);
}

static bool is_output(int array) {
    return array < TRACE_SHARED && region_array(array)->role != ROLE_INPUT;
}

/* The part of C that the block has stored. False: none. */
static bool find_part(const struct trace *t, long n, struct extent *rows, struct extent *cols) {
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (!is_output(a->array) || !a->write || a->offset < 0) continue;
        const long row = (long)(a->offset / n), col = (long)(a->offset % n);
        if (!any || row < rows->first) rows->first = row;
        if (!any || row > rows->last) rows->last = row;
        if (!any || col < cols->first) cols->first = col;
        if (!any || col > cols->last) cols->last = col;
        any = true;
    }
    rows->from = t->blocks[0][1];
    cols->from = t->blocks[0][0];
    return any;
}

/* The first element of C that nobody has stored, or else that is wrong; -1: neither. */
static long find_element(const struct array_data *data, struct shape s) {
    const int n = shape_size(&s, PARAM_N);
    const long count = data->of[MATRIX_C] ? (long)shape_size(&s, PARAM_M) * n : 0;
    double right;
    for (long i = 0; i < count; i++)
        if (element_is_unwritten(data->of[MATRIX_C], (size_t)i)) return i;
    for (long i = 0; i < count; i++)
        if (element_is_wrong(data, s, (int)(i / n), (int)(i % n), &right)) return i;
    return -1;
}

void walk_wanted(const struct trace *trace, const struct outcome *outcome,
                 const struct array_data *data, unsigned block[3]) {
    const struct finding *f = &outcome->finding;
    const unsigned *grid = trace->grid;
    struct extent rows, cols;
    if (f->at.in_kernel) {
        memcpy(block, (unsigned[]){f->at.block.x, f->at.block.y, f->at.block.z}, 3 * sizeof *block);
        return;
    }
    if (f->kind != FINDING_UNWRITTEN && f->kind != FINDING_WRONG_RESULT) return;
    if (!trace->block_count) return;
    const long element = find_element(data, outcome->shape),
               n = shape_size(&outcome->shape, PARAM_N);
    if (element < 0 || !find_part(trace, n, &rows, &cols)) return;
    block[0] = block_of(cols, element % n, grid[0]);
    block[1] = block_of(rows, element / n, grid[1]);
}
