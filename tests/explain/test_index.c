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

/* A launch, and how often the access happens. */
struct small_launch {
    int block_x, block_y, grid_x, grid_y, intervals, first, every, steps;
};

static struct index_sample samples[1 << 18];
static size_t count;

static void collect(const struct small_launch *l) {
    count = 0;
    for (int y = 0; y < l->grid_y; y++)
        for (int x = 0; x < l->grid_x; x++)
            for (int i = l->first; i < l->intervals; i += l->every)
                for (int t = 0; t < l->block_x * l->block_y; t++)
                    for (int s = 0; s < l->steps; s++)
                        samples[count++] = (struct index_sample){
                            {t % l->block_x, t / l->block_x, 0, x, y, 0, i, s}, 0};
}

static void check_formula(const char *expected) {
    struct index_formula formula;
    bool fits = index_fit(samples, count, &formula);
    CHECK_THAT(fits == !!expected, "%s: %s", expected ? expected : "nothing expected",
               fits ? "recovered" : "not recovered");
    if (!fits) return;
    char text[200];
    index_write(text, sizeof text, &formula, sizes, 3);
    CHECK_STRING(text, expected);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(index_offset(&formula, samples[i].value), samples[i].offset);
}

/* What this index is at each sample of the launch is recovered as this text; null: not at all. */
#define CHECK_INDEX(launch, index, expected)                                                       \
    do {                                                                                           \
        collect(&(launch));                                                                        \
        for (size_t i = 0; i < count; i++) {                                                       \
            const int *v = samples[i].value;                                                       \
            samples[i].offset = (index);                                                           \
        }                                                                                          \
        check_formula(expected);                                                                   \
    } while (0)

/* 16 x 16 threads, 3 x 2 blocks, 4 phases of two intervals. */
static const struct small_launch tiled = {16, 16, 3, 2, 8, 0, 2, 1};
/* 256 threads in a row, as many steps as needed. */
static const struct small_launch flat = {256, 1, 2, 2, 8, 0, 2, 1};
static const struct small_launch thirds = {16, 1, 1, 1, 12, 0, 3, 1};
static const struct small_launch buffers = {16, 16, 1, 1, 8, 0, 1, 4};
static const struct small_launch loops = {16, 16, 1, 1, 1, 0, 1, 64};
static const struct small_launch once = {16, 16, 1, 1, 1, 0, 1, 1};

TEST(the_tiled_kernel) {
    CHECK_INDEX(tiled, (by * 16 + ty) * K + interval / 2 * 16 + tx,
                "(16 * blockIdx.y + threadIdx.y) * k + 16 * phase + threadIdx.x");
    CHECK_INDEX(tiled, (interval / 2 * 16 + ty) * N + bx * 16 + tx,
                "(16 * phase + threadIdx.y) * n + 16 * blockIdx.x + threadIdx.x");
    CHECK_INDEX(tiled, (by * 16 + ty) * N + bx * 16 + tx,
                "(16 * blockIdx.y + threadIdx.y) * n + 16 * blockIdx.x + threadIdx.x");
    CHECK_INDEX(tiled, (16 * by + ty - 1) * K + 8 * interval + tx,
                "(16 * blockIdx.y + threadIdx.y - 1) * k + 16 * phase + threadIdx.x");
    CHECK_INDEX(tiled, (16 * by + ty) * K + 8 * interval + tx + 1,
                "(16 * blockIdx.y + threadIdx.y) * k + 16 * phase + threadIdx.x + 1");
    CHECK_INDEX(tiled, by * 0 + 7, "7");
    CHECK_INDEX(thirds, interval / 3 * 16 + tx, "16 * phase + threadIdx.x");
    CHECK_INDEX(tiled, 1000 - tx - 16 * ty, "-16 * threadIdx.y - threadIdx.x + 1000");
}

TEST(digits_of_variables) {
    CHECK_INDEX(flat, tx % 16 + K * (tx / 16 + 16 * by) + 8 * interval,
                "(16 * blockIdx.y + threadIdx.x / 16) * k + 16 * phase + threadIdx.x % 16");
    CHECK_INDEX(flat, tx % 16 * 17 + tx / 16, "17 * (threadIdx.x % 16) + threadIdx.x / 16");
    CHECK_INDEX(buffers, interval % 2 * 256 + ty * 16 + tx,
                "256 * (phase % 2) + 16 * threadIdx.y + threadIdx.x");
    CHECK_INDEX(buffers, (1 - interval % 2) * 256 + ty * 16 + step,
                "-256 * (phase % 2) + 16 * threadIdx.y + step + 256");
    CHECK_INDEX(loops, ty * 16 + step % 4 * 256 + step / 4,
                "16 * threadIdx.y + 256 * (step % 4) + step / 4");
}

TEST(what_has_no_such_form) {
    CHECK_INDEX(tiled, tx * tx, NULL);
    CHECK_INDEX(tiled, tx * ty, NULL);
    CHECK_INDEX(tiled, (tx * 2654435761u ^ ty * 40503u) >> 20 & 1023, NULL);
    CHECK_INDEX(tiled, interval / 4, "phase / 2");
}

/* What the samples leave open is left out: one block says nothing about blockIdx. */
TEST(a_few_samples) {
    struct index_sample one = {{3, 2, 0, 1, 1, 0, 5, 2}, 99};
    struct index_formula formula;
    CHECK(index_fit(&one, 1, &formula));
    CHECK_INT(formula.terms, 0);
    CHECK_INT(formula.constant, 99);
    CHECK_INDEX(once, interval % 2 * 256 + ty * 16 + tx, "16 * threadIdx.y + threadIdx.x");
}

TEST(text_is_cut_to_its_size) {
    struct index_formula formula;
    CHECK_INDEX(once, ty * N + tx, "threadIdx.y * n + threadIdx.x");
    CHECK(index_fit(samples, count, &formula));
    for (size_t size = 1; size < 40; size++) {
        char text[41];
        memset(text, '#', sizeof text);
        index_write(text, size, &formula, sizes, 3);
        CHECK(memchr(text, 0, size));
        CHECK_INT(text[size], '#');
    }
}
