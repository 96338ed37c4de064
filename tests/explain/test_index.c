/* Tests of engine/explain/index/formula.c: a kernel's index expression, evaluated over a small
 * launch, is recovered and written as one would write it; what has no such form is recovered as
 * nothing. */
#include "../../engine/explain/index/formula.c"

#include "../check.h"

enum { M = 37, N = 29, K = 53 };
static const struct index_size sizes[] = {{"k", K}, {"n", N}, {"m", M}};

/* The values of one sample, in CUDA's names. */
#define tx v[INDEX_THREAD_X]
#define ty v[INDEX_THREAD_Y]
#define bx v[INDEX_BLOCK_X]
#define by v[INDEX_BLOCK_Y]
#define interval v[INDEX_PHASE]
#define step v[INDEX_STEP]

typedef long long index_function(const int *v);

/* A launch, and how often the access happens. */
struct small_launch {
    int block_x, block_y, grid_x, grid_y, intervals, first, every, steps;
};

struct row {
    const char *expected; /* null: none */
    index_function *function;
    struct small_launch launch;
};

static size_t collect(const struct small_launch *l, index_function *function, struct index_sample *to) {
    size_t count = 0;
    for (int y = 0; y < l->grid_y; y++)
        for (int x = 0; x < l->grid_x; x++)
            for (int i = l->first; i < l->intervals; i += l->every)
                for (int t = 0; t < l->block_x * l->block_y; t++)
                    for (int s = 0; s < l->steps; s++) {
                        struct index_sample sample = {
                            {t % l->block_x, t / l->block_x, 0, x, y, 0, i, s}, 0};
                        sample.offset = function(sample.value);
                        to[count++] = sample;
                    }
    return count;
}

static void check_row(const struct row *row) {
    static struct index_sample samples[1 << 18];
    size_t count = collect(&row->launch, row->function, samples);
    struct index_formula formula;
    bool fits = index_fit(samples, count, &formula);
    CHECK_THAT(fits == !!row->expected, "%s: %s",
               row->expected ? row->expected : "nothing expected",
               fits ? "recovered" : "not recovered");
    if (!fits) return;
    char text[200];
    index_write(text, sizeof text, &formula, sizes, 3);
    CHECK_STRING(text, row->expected);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(index_offset(&formula, samples[i].value), samples[i].offset);
}

/* 16 x 16 threads, 3 x 2 blocks, 4 phases of two intervals. */
static const struct small_launch tiled = {16, 16, 3, 2, 8, 0, 2, 1};

static long long a_row(const int *v) { return (by * 16 + ty) * K + interval / 2 * 16 + tx; }
static long long b_row(const int *v) { return (interval / 2 * 16 + ty) * N + bx * 16 + tx; }
static long long b_by_k(const int *v) { return (interval / 2 * 16 + ty) * K + bx * 16 + tx; }
static long long c_row(const int *v) { return (by * 16 + ty) * N + bx * 16 + tx; }
static long long exchanged(const int *v) { return (bx * 16 + ty) * K + interval / 2 * 16 + tx; }
static long long same_for_all(const int *v) { return by * 0 + 7; }
static long long third(const int *v) { return interval / 3 * 16 + tx; }
static long long row_before(const int *v) {
    return (16 * by + ty - 1) * (long long)K + 8 * interval + tx;
}
static long long next_column(const int *v) {
    return (16 * by + ty) * (long long)K + 8 * interval + tx + 1;
}
static long long backwards(const int *v) { return 1000 - tx - 16 * ty; }

TEST(the_tiled_kernel) {
    static const struct row rows[] = {
        {"(16 * blockIdx.y + threadIdx.y) * k + 16 * phase + threadIdx.x", a_row, tiled},
        {"(16 * phase + threadIdx.y) * n + 16 * blockIdx.x + threadIdx.x", b_row, tiled},
        {"(16 * phase + threadIdx.y) * k + 16 * blockIdx.x + threadIdx.x", b_by_k, tiled},
        {"(16 * blockIdx.y + threadIdx.y) * n + 16 * blockIdx.x + threadIdx.x", c_row, tiled},
        {"(16 * blockIdx.x + threadIdx.y) * k + 16 * phase + threadIdx.x", exchanged, tiled},
        {"(16 * blockIdx.y + threadIdx.y - 1) * k + 16 * phase + threadIdx.x", row_before, tiled},
        {"(16 * blockIdx.y + threadIdx.y) * k + 16 * phase + threadIdx.x + 1", next_column, tiled},
        {"7", same_for_all, tiled},
        {"16 * phase + threadIdx.x", third, {16, 1, 1, 1, 12, 0, 3, 1}},
        {"-16 * threadIdx.y - threadIdx.x + 1000", backwards, tiled},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

/* 256 threads in a row, as many steps as needed. */
static const struct small_launch flat = {256, 1, 2, 2, 8, 0, 2, 1};
static const struct small_launch buffers = {16, 16, 1, 1, 8, 0, 1, 4};
static const struct small_launch loops = {16, 16, 1, 1, 1, 0, 1, 64};

static long long digits(const int *v) {
    return tx % 16 + (long long)K * (tx / 16 + 16 * by) + 8 * interval;
}
static long long padded(const int *v) { return tx % 16 * 17 + tx / 16; }
static long long two_buffers(const int *v) { return interval % 2 * 256 + ty * 16 + tx; }
static long long other_buffer(const int *v) { return (1 - interval % 2) * 256 + ty * 16 + step; }
static long long transposed(const int *v) { return ty * 16 + step % 4 * 256 + step / 4; }
static long long column(const int *v) { return step * 16 + tx; }

TEST(digits_of_variables) {
    static const struct row rows[] = {
        {"(16 * blockIdx.y + threadIdx.x / 16) * k + 16 * phase + threadIdx.x % 16", digits, flat},
        {"17 * (threadIdx.x % 16) + threadIdx.x / 16", padded, flat},
        {"256 * (phase % 2) + 16 * threadIdx.y + threadIdx.x", two_buffers, buffers},
        {"-256 * (phase % 2) + 16 * threadIdx.y + step + 256", other_buffer, buffers},
        {"16 * threadIdx.y + 256 * (step % 4) + step / 4", transposed, loops},
        {"threadIdx.x + 16 * step", column, loops},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

static long long square(const int *v) { return tx * tx; }
static long long product(const int *v) { return tx * ty; }
static long long remainder_of_3(const int *v) { return tx % 3; }
static long long half(const int *v) { return interval / 4; }
static long long by_chance(const int *v) { return (tx * 2654435761u ^ ty * 40503u) >> 20 & 1023; }

TEST(what_has_no_such_form) {
    static const struct row rows[] = {
        {NULL, square, tiled},    {NULL, product, tiled},     {NULL, remainder_of_3, tiled},
        {NULL, by_chance, tiled}, {"phase / 2", half, tiled},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

/* What the samples leave open is left out: one block says nothing about blockIdx. */
TEST(a_few_samples) {
    struct index_sample one = {{3, 2, 0, 1, 1, 0, 5, 2}, 99};
    struct index_formula formula;
    CHECK(index_fit(&one, 1, &formula));
    CHECK_INT(formula.terms, 0);
    CHECK_INT(formula.constant, 99);
    static const struct row upper_half = {
        "16 * threadIdx.y + threadIdx.x", two_buffers, {16, 16, 1, 1, 1, 0, 1, 1}};
    check_row(&upper_half);
}

TEST(text_is_cut_to_its_size) {
    struct index_sample samples[256];
    struct index_formula formula;
    size_t count = collect(&(struct small_launch){16, 16, 1, 1, 1, 0, 1, 1}, c_row, samples);
    CHECK(index_fit(samples, count, &formula));
    for (size_t size = 1; size < 40; size++) {
        char text[41];
        memset(text, '#', sizeof text);
        index_write(text, size, &formula, sizes, 3);
        CHECK(memchr(text, 0, size));
        CHECK_INT(text[size], '#');
    }
}
