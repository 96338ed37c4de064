/* The smallest rectangle of an output around some of its elements. */
#ifndef ENGINE_FORM_BOX_H
#define ENGINE_FORM_BOX_H
#include "../lab.h"
#include "../report/text/numbers.h"
#include <limits.h>

static const struct box empty_box = {INT_MAX, -1, INT_MAX, -1};

static inline void box_add(struct box *box, int row, int col) {
    box->row_first = min_int(box->row_first, row);
    box->row_last = max_int(box->row_last, row);
    box->col_first = min_int(box->col_first, col);
    box->col_last = max_int(box->col_last, col);
}

static inline uint64_t box_elements(const struct box *box) {
    return (uint64_t)(box->row_last - box->row_first + 1) *
           (uint64_t)(box->col_last - box->col_first + 1);
}

#endif
