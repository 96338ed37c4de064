/* Values of A and B: what each function promises is in sgemm.h. */
#include "../engine/cores.h"
#include "../engine/report/text/numbers.h"
#include "sgemm.h"

enum {
    EXACT_TERMS = 4096,     /* 4096 terms of at most 4095 stay below 2^24 */
    FILL_CHUNK = 64 * 1024, /* elements that one thread fills at a time */
};

int64_t place_base(int cols) {
    int64_t base = 10;
    while (base < cols) base *= 10;
    return base;
}

/* All that does not depend on the place of an element. */
struct generator {
    enum fill fill;
    enum matrix_name which;
    int rows, cols;
    uint64_t key;
    int64_t base, rows_named; /* for values that name their own place */
    float *out;
};

static struct generator generator_new(enum fill fill, uint64_t seed, enum matrix_name which,
                                      int rows, int cols) {
    struct generator g = {.fill = fill, .which = which, .rows = rows, .cols = cols};
    g.key = random64(mix64(seed), (uint64_t)which);
    g.base = place_base(cols);
    g.rows_named = g.base < EXACT_LIMIT ? EXACT_LIMIT / g.base : 1;
    return g;
}

static float own_place(const struct generator *g, int row, int col) {
    return (float)((row % g->rows_named * g->base + col) % EXACT_LIMIT);
}

/* A: odd integers 2049 .. 4095, twelve significant bits where TF32 keeps eleven. B: -1, 0 or 1, in
 * at most EXACT_TERMS of its rows, spread evenly, so that no sum of products reaches 2^24. */
static float exact_integer(const struct generator *g, int row, uint64_t bits) {
    if (g->which == MATRIX_A) return (float)(2049 + 2 * (int)(bits >> 54));
    bool used = (uint64_t)row * EXACT_TERMS % (uint64_t)g->rows < EXACT_TERMS;
    return used ? (float)((int)((bits >> 32) % 3) - 1) : 0.0f;
}

/* Sign and mantissa random, exponent -30 .. 29: a product stays within 2^-60 and 2^60, and a sum of
 * 2^31 of them below 2^91, so nothing overflows, and nothing underflows, which the bound ignores.
 */
static float extreme(uint64_t bits) {
    uint32_t exponent = (uint32_t)(127 - 30 + (bits >> 32) % 60);
    uint32_t word = (uint32_t)(bits & 0x807FFFFF) | exponent << 23;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static float element(const struct generator *g, int row, int col) {
    bool a = g->which == MATRIX_A;
    uint64_t index = (uint64_t)row * (uint64_t)g->cols + (uint64_t)col;
    switch (g->fill) {
    case FILL_ONES_TWOS: return a ? 1.0f : 2.0f;
    case FILL_IDENTITY: return a ? (float)(row % g->cols == col) : own_place(g, row, col);
    case FILL_INDEX: return a ? own_place(g, row, col) : (float)(col % g->rows == row);
    case FILL_EXACT: return exact_integer(g, row, random64(g->key, index));
    case FILL_EXTREMES: return extreme(random64(g->key, index));
    case FILL_COUNTING: return (float)(index % EXACT_LIMIT + 1);
    case FILL_RANDOM:
    case FILL_COUNT: break;
    }
    return uniform_of(random64(g->key, index));
}

float fill_element(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                   int row, int col) {
    struct generator g = generator_new(fill, seed, which, rows, cols);
    return element(&g, row, col);
}

static void fill_chunk(void *context, int worker, size_t index) {
    const struct generator g = *(const struct generator *)context;
    const size_t first = index * FILL_CHUNK, all = (size_t)g.rows * (size_t)g.cols;
    int row = (int)(first / (size_t)g.cols), col = (int)(first % (size_t)g.cols);
    for (size_t i = first; i < min_size(first + FILL_CHUNK, all); i++) {
        g.out[i] = element(&g, row, col);
        if (++col == g.cols) {
            col = 0;
            row++;
        }
    }
    (void)worker;
}

void fill_matrix(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                 float *out) {
    struct generator g = generator_new(fill, seed, which, rows, cols);
    struct parallel_job job = {.body = fill_chunk, .context = &g};
    const size_t elements = (size_t)rows * (size_t)cols;
    g.out = out;
    job.count = (elements + FILL_CHUNK - 1) / FILL_CHUNK;
    parallel_run(&job, worker_count(job.count, 4.0 * (double)elements));
}
