/* What verify.c and reference.c, and the explanations of a wrong C, share: products tile by tile.
 */
#ifndef LAB_PRODUCT_H
#define LAB_PRODUCT_H
#include "../engine/cores.h"
#include "../engine/report/text/numbers.h"
#include <string.h>

/* Of C. A tile's two arrays of doubles fit the level-2 cache. */
enum { TILE_ROWS = 96, TILE_COLS = 256 };

/* A part of C, whose rows and columns are positions in the product's lists. */
struct tile {
    int row, col, rows, cols;
    const double *ref, *G; /* element (i, j) at [i * TILE_COLS + j] */
};

struct place {
    int row, col;
};

/* What is multiplied, and what becomes of it. */
struct product {
    const float *A, *B;
    int n, k;
    const int *rows, *cols; /* NULL: 0, 1, 2, ... */
    int row_count, col_count;
    bool (*wanted)(void *context, int worker, const struct tile *tile); /* NULL: always */
    void (*consume)(void *context, int worker, const struct tile *tile);
    void *context;
    /* set by product_run() */
    int tiles_across;
    struct workspace *workspace; /* one for each worker */
};

/* Computes the product and gives each tile to its consumer. False: no memory. */
bool product_run(struct product *product);

/* Element `position` of a product's list of rows or columns. */
static inline int at(const int *list, int position) { return list ? list[position] : position; }

#endif
