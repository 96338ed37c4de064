/* Tests of options, matrices, reference, verification, JSON, watchdog. Each test is one promise of
 * support.h; the names are those promises in short. */
#define _GNU_SOURCE /* open_memstream */
#include "engine/cores.h"
#include "engine/report/element_type.h"
#include "lab/sgemm.h"
#include "support.h"

#include "../check.h"
#include "engine/report/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- shapes ---- */

static int64_t blocks(int64_t extent, int tile) { return (extent + tile - 1) / tile; }

/* So many blocks in each direction, tiles in k, and edges in all. */
TEST(a_telling_shape_has_blocks_phases_and_edges) {
    const int64_t wanted[][3] = {{3, 2, 4}, {2, 3, 4}, {4, 3, 2}}; /* of m, n and k */
    struct shape shape;
    for (int tile = 8; tile <= 64; tile *= 2) {
        for (int number = 0; truth_shape(SHAPE_TELL, number, tile, &shape); number++)
            for (int i = 0; i < 3; i++)
                CHECK(blocks(shape.of[i], tile) == wanted[number][i] && shape.of[i] % tile);
        CHECK(!truth_shape(SHAPE_TELL, 3, tile, &shape));
    }
}

TEST(lists_of_shapes_end) {
    struct shape shape;
    for (int number = 0; number < 20; number++) {
        CHECK(truth_shape(SHAPE_CHECK, number, 0, &shape) == (number < 9));
        CHECK(truth_shape(SHAPE_COUNT, number, 0, &shape) == (number < 1));
        CHECK(truth_shape(SHAPE_WHOLE, number, 0, &shape) == (number < 1));
    }
}

TEST(some_shape_has_several_phases_of_any_tile) {
    for (int tile = 2; tile <= 128; tile++) {
        struct shape shape;
        bool found = false;
        for (int number = 0; truth_shape(SHAPE_PHASES, number, 0, &shape); number++)
            found |= shape.of[0] > tile && shape.of[1] > tile && shape.of[2] > tile;
        CHECK(found);
    }
}

/* ---- options ---- */

enum { MAX_WORDS = 12 };

/* Parse a command line given as one string, words separated by single spaces. */
static enum exit_status parse(const char *line, struct options *options, char *message) {
    static char text[256];
    char *argv[MAX_WORDS + 1] = {"sgemm"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return options_parse(argc, argv, options_of_run, options, message);
}

static struct options good(const char *line) {
    struct options options;
    char message[MESSAGE_SIZE];
    CHECK_THAT(parse(line, &options, message) == EXIT_PASSED, "'%s': %s", line, message);
    return options;
}

/* The line is refused in one line that contains `part`. */
static void bad(const char *line, const char *part) {
    struct options options;
    char message[MESSAGE_SIZE];
    CHECK_THAT(parse(line, &options, message) == EXIT_USAGE, "'%s' was accepted", line);
    CHECK_THAT(strstr(message, part), "'%s': '%s' does not say '%s'", line, message, part);
    CHECK_THAT(!strchr(message, '\n'), "'%s': more than a line", line);
}

static void check_sizes(const char *line, int m, int n, int k) {
    const struct options o = good(line);
    const struct shape *s = &o.which.shape;
    CHECK_THAT(shape_size(s, PARAM_M) == m && shape_size(s, PARAM_N) == n &&
                   shape_size(s, PARAM_K) == k,
               "'%s' gave %s", line, lab_shape_text(&lab, s).of);
}

TEST(options_sizes_are_m_k_n) {
    check_sizes("", 1000, 1000, 1000);
    check_sizes("34", 34, 34, 34);
    check_sizes("2147483647 1 1", 2147483647, 1, 1);
    check_sizes("3 --json 4 5", 3, 5, 4);
}

/* Each of these lines. */
#define BAD(part, ...)                                                                             \
    for (const char *const lines[] = {__VA_ARGS__, NULL}, *const *line = lines; *line; line++)     \
    bad(*line, part)

TEST(bad_options) {
    BAD("is not a size", "0", "-5", "-.5", "abc", "12x", "1e3", "+5", "0x10");
    bad("3 0 5", "'0' is not a size");
    bad("-52 3 4", "'-52' is not a size");
    BAD("too large", "99999999999", "2147483648", "999999999999999999999999999999999999999999");
    bad("3 4 5 6", "4 sizes given");
    bad("65536 1 32768", "C would be");
    bad("1 65536 32768", "B would be");
    bad("65536 32768 1", "A would be 65536 x 32768 = 2,147,483,648 elements");
    bad("-x", "there is no option '-x'");
    bad("-h", "--help");
    bad("--json=1", "takes no value");
    BAD("needs a value", "--seed", "--fill");
    BAD("give a whole number from 0", "--seed -3", "--seed 0x", "--seed 12z",
        "--seed 18446744073709551616");
    bad("--fill zap", "random, ones-twos, identity, index, exact, extremes, counting");
    BAD("from 1 to", "--repeat 0", "--repeat -1", "--repeat 9999999999");
    bad("--verify maybe", "full or none");
    BAD("seconds above 0", "--timeout 0", "--timeout -1", "--timeout nan", "--timeout inf",
        "--timeout 1e9", "--timeout 1.2.3", "--timeout .");
}

TEST(options_values) {
    struct options o = good("--seed 0xFFFFFFFFFFFFFFFF --fill exact --repeat 7 --verify none "
                            "--timeout 2.5 --json 5");
    CHECK(o.which.seed == UINT64_MAX);
    CHECK_INT(o.which.fill, FILL_EXACT);
    CHECK_INT(o.repeat, 7);
    CHECK_INT(o.verify, VERIFY_NONE);
    CHECK(o.timeout == 2.5);
    CHECK(o.json && !o.help);
    CHECK(good("--seed 18446744073709551615").which.seed == UINT64_MAX);
    CHECK(good("--seed=010").which.seed == 10);
    CHECK(good("--help").help && good("--version").version);
    for (int i = 0; i < FILL_COUNT; i++) {
        char line[64];
        snprintf(line, sizeof line, "--fill %s", lab.fills[i].name);
        CHECK_INT(good(line).which.fill, i);
    }
}

TEST(options_defaults) {
    struct options o = good("");
    CHECK_INT(o.which.fill, FILL_RANDOM);
    CHECK_INT(o.verify, VERIFY_FULL);
    CHECK_INT(o.repeat, 0);
    CHECK(!o.json && !o.help);
    CHECK(o.which.seed <= UINT32_MAX); /* short; that it is fresh is tested in test_driver.py */
    CHECK(o.timeout == 10 + 1e9 / 20e6);
    CHECK(lab_truth.seconds(&(struct shape){{1, 1, 1}}) >= 10);
}

/* ---- matrices ---- */

/* A product, and a C that a test fills in. */
static struct {
    struct problem problem;
    float *A, *B, *C;
} f;

static void set_product(enum fill fill, uint64_t seed, int m, int n, int k) {
    f.A = realloc(f.A, (size_t)m * (size_t)k * sizeof(float));
    f.B = realloc(f.B, (size_t)k * (size_t)n * sizeof(float));
    f.C = realloc(f.C, (size_t)m * (size_t)n * sizeof(float));
    CHECK(f.A && f.B && f.C);
    fill_matrix(fill, seed, MATRIX_A, m, k, f.A);
    fill_matrix(fill, seed, MATRIX_B, k, n, f.B);
    f.problem =
        (struct problem){.m = m, .n = n, .k = k, .A = f.A, .B = f.B, .C = f.C, .seed = seed};
    f.problem.comparison = fill_comparison(fill, m, n, k);
}

TEST(fill_random_is_uniform_around_zero) {
    enum { ROWS = 600, COLS = 500, COUNT = ROWS * COLS };
    set_product(FILL_RANDOM, 1, ROWS, ROWS, COLS);
    for (int which = MATRIX_A; which <= MATRIX_B; which++) {
        const float *values = which == MATRIX_A ? f.A : f.B;
        int bins[10] = {0};
        for (int i = 0; i < COUNT; i++) {
            CHECK(values[i] > -1 && values[i] < 1 && values[i] != 0);
            CHECK(values[i] * 0x1p24f == floorf(values[i] * 0x1p24f));
            bins[(int)floor((values[i] + 1) * 5)]++;
        }
        for (int b = 0; b < 10; b++) /* five standard deviations */
            CHECK(abs(bins[b] - COUNT / 10) < 5 * sqrt(COUNT * 0.09));
    }
}

TEST(fill_is_the_same_for_any_number_of_threads) {
    enum { M = 333, N = 222, K = 777 };
    for (int fill = 0; fill < FILL_COUNT; fill++) {
        set_threads(4);
        set_product((enum fill)fill, 5, M, N, K);
        set_threads(0);
        for (int i = 0; i < M * K; i++)
            CHECK(f.A[i] == fill_element((enum fill)fill, 5, MATRIX_A, M, K, i / K, i % K));
        for (int i = 0; i < K * N; i++)
            CHECK(f.B[i] == fill_element((enum fill)fill, 5, MATRIX_B, K, N, i / N, i % N));
    }
}

/* Pinned, so that a seed that a student wrote down gives the same matrices in the next term. */
TEST(fill_values_are_pinned) {
    CHECK(fill_element(FILL_RANDOM, 1, MATRIX_A, 10, 10, 0, 0) == -0x1.51d534p-2f);
    CHECK(fill_element(FILL_RANDOM, 1, MATRIX_B, 10, 10, 3, 4) == 0x1.e54026p-1f);
}

TEST(fill_exact_sums_stay_exact) {
    const int shapes[][3] = {{5, 7, 11}, {3, 9, 4096}, {2, 6, 4097}, {2, 5, 20000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int m = shapes[s][0], n = shapes[s][1], k = shapes[s][2], used_rows = 0;
        int seen[3] = {0};
        set_product(FILL_EXACT, 3, m, n, k);
        /* twelve significant bits, where TF32 has 11 and BF16 8 */
        float largest = 0;
        for (int i = 0; i < m * k; i++) {
            CHECK(f.A[i] >= 2049 && f.A[i] <= 4095 && fmodf(f.A[i], 2) == 1);
            largest = fmaxf(largest, f.A[i]);
        }
        CHECK(largest > 3072);
        for (int p = 0; p < k; p++) {
            bool used = false;
            for (int j = 0; j < n; j++) {
                float b = f.B[p * n + j];
                CHECK(b == -1 || b == 0 || b == 1);
                seen[(int)b + 1]++;
                used = used || b != 0;
            }
            used_rows += used;
        }
        CHECK(used_rows <= 4096);            /* so a sum is below 2^24 */
        CHECK(k < 5000 || used_rows > 3800); /* spread, not just the first ones */
        CHECK(seen[0] && seen[1] && seen[2]);
    }
}

TEST(fill_places_name_themselves) {
    CHECK_INT(place_base(1), 10);
    CHECK_INT(place_base(10), 10);
    CHECK_INT(place_base(11), 100);
    CHECK_INT(place_base(700), 1000);
    CHECK(fill_element(FILL_IDENTITY, 0, MATRIX_B, 500, 700, 12, 34) == 12034);
    CHECK(fill_element(FILL_INDEX, 0, MATRIX_A, 500, 700, 12, 34) == 12034);
    CHECK(fill_element(FILL_IDENTITY, 0, MATRIX_A, 9, 4, 6, 2) == 1);
    CHECK(fill_element(FILL_IDENTITY, 0, MATRIX_A, 9, 4, 6, 1) == 0);
    CHECK(fill_element(FILL_INDEX, 0, MATRIX_B, 4, 9, 2, 6) == 1);
    CHECK(fill_element(FILL_INDEX, 0, MATRIX_B, 4, 9, 1, 6) == 0);
    CHECK(fill_element(FILL_INDEX, 0, MATRIX_A, 30000, 1000, 16777, 34) == 34);
    const int columns[] = {1, 10, 999, 1000, 1001, 70000, 20000000, 2147483647};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int rows = 2147483647 / columns[i];
        for (int j = 0; j < 200; j++) {
            int row = (int)((int64_t)(rows - 1) * j / 199);
            int col = (int)((int64_t)(columns[i] - 1) * j / 199);
            float value = fill_element(FILL_INDEX, 0, MATRIX_A, rows, columns[i], row, col);
            CHECK(value >= 0 && value < 0x1p24f && value == floorf(value));
        }
    }
}

TEST(fill_counting_counts) {
    CHECK(fill_element(FILL_COUNTING, 7, MATRIX_A, 4, 4, 0, 0) == 1);
    CHECK(fill_element(FILL_COUNTING, 8, MATRIX_B, 4, 3, 3, 2) == 12);
    CHECK(fill_element(FILL_COUNTING, 0, MATRIX_A, 4097, 4096, 4095, 4095) == 0x1p24f);
    CHECK(fill_element(FILL_COUNTING, 0, MATRIX_A, 4097, 4096, 4096, 0) == 1);
}

TEST(fill_extremes_span_without_overflow) {
    double smallest = INFINITY, largest = 0;
    int negative = 0;
    set_product(FILL_EXTREMES, 4, 1, 300, 300);
    for (int i = 0; i < 90000; i++) {
        double magnitude = fabs((double)f.B[i]);
        smallest = fmin(smallest, magnitude);
        largest = fmax(largest, magnitude);
        negative += f.B[i] < 0;
    }
    CHECK(smallest >= 0x1p-30 && smallest < 0x1p-29 && largest > 0x1p29 && largest <= 0x1p30);
    CHECK(negative > 40000 && negative < 50000);
}

TEST(guards_are_large_enough_and_bounded) {
    const struct shape shapes[] = {{{1, 1, 1}},    {{34, 34, 34}},  {{1000, 700, 500}},
                                   {{7, 4099, 3}}, {{1, 65536, 1}}, {{1, 2147483647, 1}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct host_layout layout = host_layout_of(&lab, &shapes[i], true);
        const size_t widest = (size_t)lab_widest(&lab, &shapes[i]);
        for (int array = 0; array < layout.arrays; array++) {
            const size_t guard = layout.guard[array];
            CHECK(guard % 256 == 0 && layout.offset[array] % 256 == 0);
            CHECK(guard >= 64 * widest * sizeof(float) || guard == 16u << 20);
            CHECK(guard <= 16u << 20);
            CHECK(layout.buffer[array] >= 2 * guard + layout.bytes[array]);
        }
    }
}

TEST(arrays_lie_one_behind_the_other) {
    const struct host_layout layout = host_layout_of(&lab, &(struct shape){{5, 6, 7}}, false);
    const size_t bytes[] = {5 * 7 * 4, 7 * 6 * 4, 5 * 6 * 4}; /* of A, B, C */
    CHECK(layout.arrays == 3 && layout.all == 3 * 256);
    for (int i = 0; i < 3; i++)
        CHECK(layout.bytes[i] == bytes[i] && layout.guard[i] == 0 &&
              layout.offset[i] == (size_t)i * 256);
}

TEST(guards_show_stray_writes) {
    const struct lab_case which = {.shape = {{7, 7, 5}}, .fill = FILL_COUNTING};
    struct host_data sent = data_new(&which, true), back = data_room(&sent);
    CHECK(sent.memory && back.memory);
    CHECK((uintptr_t)sent.elements[MATRIX_A] % 256 == 0);
    memcpy(back.memory, sent.memory, sent.layout.all);
    for (int i = 0; i < 3; i++) {
        const struct damage damage = data_damage(&sent, &back, i);
        CHECK(damage.before == 0 && damage.after == 0 && damage.elements == 0);
    }
    float *elements = back.elements[MATRIX_A];
    const size_t guard = sent.layout.guard[MATRIX_A] / sizeof(float);
    const uint32_t poison = POISON_BITS; /* not every NaN is the guard's */
    elements[-1] = 0;                    /* the last one before */
    elements[-(ptrdiff_t)guard] = 0;     /* the first one before */
    elements[35] = 1;                    /* the first one after */
    elements[3] += 1;                    /* an element */
    memcpy(&elements[35 + guard - 1], &poison, sizeof poison);
    const struct damage damage = data_damage(&sent, &back, MATRIX_A);
    CHECK_INT(damage.before, 2);
    CHECK_INT(damage.after, 2);
    CHECK_INT(damage.elements, 1);
    ((float *)back.elements[MATRIX_C])[0] = 1; /* an output may be written */
    CHECK_INT(data_damage(&sent, &back, MATRIX_C).elements, 0);
    /* 0 and -0 are equal as numbers, not as bits */
    ((float *)sent.elements[MATRIX_B])[0] = 0.0f;
    ((float *)back.elements[MATRIX_B])[0] = -0.0f;
    CHECK_INT(data_damage(&sent, &back, MATRIX_B).elements, 1);
    data_free(&sent);
    data_free(&back);
}

TEST(poison_and_guards_are_signalling_nans) {
    const struct lab_case which = {.shape = {{1, 3, 1}}};
    struct host_data data = data_new(&which, true);
    for (int i = 0; i < 3; i++) {
        uint32_t bits;
        memcpy(&bits, (float *)data.elements[MATRIX_C] + i, sizeof bits);
        CHECK(bits == POISON_BITS);
    }
    data_free(&data);
    const uint32_t quiet = 1u << 22;
    CHECK((POISON_BITS & 0x7F800000) == 0x7F800000 && !(POISON_BITS & quiet));
    CHECK((GUARD_BITS & 0x7F800000) == 0x7F800000 && !(GUARD_BITS & quiet));
    CHECK(POISON_BITS != GUARD_BITS);
}

/* ---- reference ---- */

static void naive(int row, int col, double *ref, double *G) {
    int n = f.problem.n, k = f.problem.k;
    *ref = *G = 0;
    for (int p = 0; p < k; p++) {
        double term = (double)f.A[row * k + p] * f.B[p * n + col];
        *ref += term;
        *G += fabs(term);
    }
}

/* Two sums in double, in any order, of terms whose magnitudes add up to G. */
static bool close_sums(double x, double y, double G, int k) {
    return fabs(x - y) <= 2.0 * (k + 1) * 0x1p-53 * G;
}

static void check_reference(int m, int n, int k, const int *rows, int row_count, const int *cols,
                            int col_count) {
    size_t count = (size_t)row_count * (size_t)col_count;
    double *ref = malloc(count * sizeof *ref), *G = malloc(count * sizeof *G);
    set_product(FILL_RANDOM, 7, m, n, k);
    CHECK(reference(f.A, f.B, n, k, rows, row_count, cols, col_count, ref, G));
    for (size_t at = 0; at < count; at++) {
        int row = (int)at / col_count, col = (int)at % col_count;
        double r, g;
        if (rows) row = rows[row];
        if (cols) col = cols[col];
        naive(row, col, &r, &g);
        CHECK_THAT(close_sums(ref[at], r, g, k) && close_sums(G[at], g, g, k),
                   "m %d n %d k %d: element (%d, %d) is %g, not %g", m, n, k, row, col, ref[at], r);
    }
    free(ref);
    free(G);
}

static void odd_shapes(void) {
    const int shapes[][3] = {{1, 1, 1},      {17, 17, 17},  {97, 257, 3}, {96, 256, 256},
                             {95, 255, 257}, {300, 1, 513}, {7, 19, 1},   {200, 530, 260}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_reference(shapes[i][0], shapes[i][1], shapes[i][2], NULL, shapes[i][0], NULL,
                        shapes[i][1]);
}

TEST(reference_equals_naive_on_odd_shapes) {
    odd_shapes();
    set_threads(3);
    odd_shapes();
    set_threads(0);
}

TEST(reference_takes_any_rows_and_columns) {
    const int rows[] = {0, 3, 50, 98}, cols[] = {299, 0, 17, 17, 31};
    check_reference(99, 300, 280, NULL, 99, cols, 5);
    check_reference(99, 300, 280, rows, 4, NULL, 300);
    int backwards[280]; /* longer than a tile in both directions */
    for (int i = 0; i < 280; i++) backwards[i] = 279 - i;
    check_reference(280, 300, 20, backwards, 280, backwards, 280);
}

/* ---- verification: what passes ---- */

static struct verdict judge(void) {
    struct verdict verdict;
    CHECK(verify(&f.problem, &verdict));
    return verdict;
}

/* How a legitimate kernel may add up. */
enum order { SEQUENTIAL, FUSED, BACKWARDS, TILE_SUMS, FOUR_SUMS, IN_DOUBLE, ORDERS };
static const char *const order_names[] = {"sequential", "fused",     "backwards",
                                          "tile sums",  "four sums", "double"};

static float sum_of(enum order order, const float *row, const float *column) {
    const int n = f.problem.n, k = f.problem.k;
    float sum = 0, tile = 0, four[4] = {0};
    double wide = 0;
    for (int i = 0; i < k; i++) {
        const int p = order == BACKWARDS ? k - 1 - i : i;
        const float a = row[p], b = column[(size_t)p * (size_t)n];
        volatile float product = a * b; /* or the compiler fuses */
        switch (order) {
        case FUSED: sum = fmaf(a, b, sum); break;
        case FOUR_SUMS: four[p % 4] += product; break;
        case IN_DOUBLE: wide += (double)a * b; break;
        case TILE_SUMS:
            tile += product;
            if (p % 16 < 15 && p < k - 1) break;
            sum += tile;
            tile = 0;
            break;
        default: sum += product;
        }
    }
    for (int s = 0; s < 4; s++) sum += four[s];
    return sum + (float)wide;
}

static void multiply(enum order order) {
    const int m = f.problem.m, n = f.problem.n, k = f.problem.k;
    for (int at = 0; at < m * n; at++) f.C[at] = sum_of(order, f.A + at / n * k, f.B + at % n);
}

static void check_orders(enum fill fill, int m, int n, int k) {
    set_product(fill, 11, m, n, k);
    for (int order = 0; order < ORDERS; order++) {
        multiply((enum order)order);
        struct verdict v = judge();
        CHECK_THAT(v.passed, "%s, %s, m %d n %d k %d: %llu wrong, errors up to %g u",
                   lab.fills[fill].name, order_names[order], m, n, k, (unsigned long long)v.wrong,
                   v.max_error_u);
        CHECK(v.compared == (uint64_t)m * (uint64_t)n);
        CHECK(v.wrong == 0 && v.unwritten == 0 && v.nan == 0 && v.first_count == 0);
    }
}

TEST(every_summation_order_passes_with_every_fill) {
    for (int fill = 0; fill < FILL_COUNT; fill++) {
        check_orders((enum fill)fill, 50, 45, 300);
        check_orders((enum fill)fill, 3, 5, 1);
    }
    check_orders(FILL_EXACT, 5, 6, 9000);
    check_orders(FILL_RANDOM, 40, 40, 8192);
}

/* Known by hand: 34 times 1 * 2; the product of 1, 2, 3, ... The next float32 is wrong. */
TEST(known_products_pass) {
    const float counted[16] = {90,  100, 110, 120, 202, 228, 254, 280,
                               314, 356, 398, 440, 426, 484, 542, 600};
    set_product(FILL_ONES_TWOS, 0, 34, 34, 34);
    for (int i = 0; i < 34 * 34; i++) f.C[i] = 68;
    CHECK(judge().passed);
    f.C[5] = nextafterf(68, 100);
    struct verdict v = judge();
    CHECK(!v.passed && v.wrong == 1 && v.first[0].expected == 68.0 && v.first[0].bound == 0);
    set_product(FILL_COUNTING, 0, 4, 4, 4);
    memcpy(f.C, counted, sizeof counted);
    CHECK(judge().passed);
    f.C[0] = nextafterf(90, 0);
    CHECK(!judge().passed);
}

TEST(exact_comparison_only_where_float32_is_exact) {
    CHECK_INT(fill_comparison(FILL_ONES_TWOS, 1, 1, 1 << 23), COMPARE_EXACT);
    CHECK_INT(fill_comparison(FILL_ONES_TWOS, 1, 1, (1 << 23) + 1), COMPARE_BOUND);
    CHECK_INT(fill_comparison(FILL_RANDOM, 1, 1, 1), COMPARE_FLOAT32);
    CHECK_INT(fill_comparison(FILL_EXTREMES, 1, 1, 1), COMPARE_BOUND);
    CHECK_INT(fill_comparison(FILL_EXACT, 1, 1, 1 << 30), COMPARE_EXACT);
    CHECK_INT(fill_comparison(FILL_INDEX, 1, 1, 1 << 30), COMPARE_EXACT);
    CHECK_INT(fill_comparison(FILL_IDENTITY, 1, 1, 1 << 30), COMPARE_EXACT);
    CHECK_INT(fill_comparison(FILL_COUNTING, 1, 1, 256), COMPARE_EXACT);
    CHECK_INT(fill_comparison(FILL_COUNTING, 1, 1, 257), COMPARE_BOUND);
    CHECK_INT(fill_comparison(FILL_COUNTING, 1 << 20, 1 << 20, 1 << 20), COMPARE_BOUND);
}

TEST(gamma_is_higham_s) {
    CHECK(gamma_bound(1) == 0x1p-24 / (1 - 0x1p-24));
    CHECK(gamma_bound(1 << 23) == 1.0);
    CHECK(isinf(gamma_bound(1 << 24)) && isinf(gamma_bound((int64_t)1 << 32)));
}

/* ---- verification: what fails ---- */

TEST(nan_and_infinity_fail) {
    const float values[] = {NAN, INFINITY, -INFINITY};
    set_product(FILL_RANDOM, 2, 40, 30, 20);
    for (int i = 0; i < 3; i++) {
        multiply(SEQUENTIAL);
        f.C[33] = values[i];
        struct verdict v = judge();
        CHECK(!v.passed && v.wrong == 1 && v.unwritten == 0);
        CHECK_INT(v.nan, i == 0);
        CHECK(v.first[0].row == 1 && v.first[0].col == 3);
    }
}

/* 0 / 0 was equal to everything in the old lab. */
TEST(zeros_are_compared_too) {
    set_product(FILL_RANDOM, 1, 2, 2, 2);
    memset(f.A, 0, 4 * sizeof *f.A);
    memset(f.C, 0, 4 * sizeof *f.C);
    for (int comparison = COMPARE_BOUND; comparison <= COMPARE_EXACT; comparison++) {
        f.problem.comparison = (enum comparison)comparison;
        f.C[3] = 0;
        struct verdict v = judge();
        CHECK(v.passed && v.compared == 4);
        f.C[3] = 1e-30f;
        CHECK_INT(judge().wrong, 1);
        f.C[3] = NAN;
        CHECK_INT(judge().wrong, 1);
    }
}

static void poison(float *value) {
    uint32_t bits = POISON_BITS;
    memcpy(value, &bits, sizeof bits);
}

TEST(unwritten_is_not_wrong_and_not_nan) {
    set_product(FILL_RANDOM, 2, 50, 60, 20);
    for (int i = 0; i < 3000; i++) poison(&f.C[i]);
    struct verdict v = judge();
    CHECK(!v.passed && v.unwritten == 3000 && v.wrong == 0 && v.nan == 0);
    CHECK(v.unwritten_box.row_last == 49 && v.unwritten_box.col_last == 59);
    multiply(SEQUENTIAL);
    poison(&f.C[48 * 60 + 7]);
    poison(&f.C[48 * 60 + 9]);
    f.C[10 * 60 + 1] = NAN; /* as C += x leaves behind: another NaN */
    v = judge();
    CHECK(!v.passed && v.unwritten == 2 && v.wrong == 1 && v.nan == 1);
    CHECK(v.unwritten_box.row_first == 48 && v.unwritten_box.row_last == 48);
    CHECK(v.unwritten_box.col_first == 7 && v.unwritten_box.col_last == 9);
    CHECK(v.wrong_box.row_first == 10 && v.wrong_box.col_last == 1);
}

/* C += x on the poison: no kernel may leave the poison's own bits by computing. */
TEST(adding_to_poison_is_wrong) {
    set_product(FILL_RANDOM, 2, 3, 3, 3);
    multiply(SEQUENTIAL);
    poison(&f.C[4]);
    volatile float poisoned = f.C[4];
    f.C[4] = poisoned + 1.0f;
    struct verdict v = judge();
    CHECK(v.unwritten == 0 && v.wrong == 1 && v.nan == 1);
}

/* An element just inside the bound passes, just outside fails. */
TEST(the_bound_is_gamma_of_k_plus_2) {
    set_product(FILL_RANDOM, 6, 4, 4, 100);
    f.problem.comparison = COMPARE_BOUND;
    double ref, G;
    multiply(SEQUENTIAL);
    naive(2, 1, &ref, &G);
    double bound = gamma_bound(102) * G;
    f.C[9] = (float)(ref + 0.999 * bound);
    CHECK(judge().passed);
    f.C[9] = (float)(ref + 1.001 * bound);
    struct verdict v = judge();
    CHECK(!v.passed && v.wrong == 1);
    CHECK(fabs(v.first[0].bound / bound - 1) < 1e-9 && fabs(v.first[0].expected - ref) < 1e-12);
    CHECK(v.first[0].got == f.C[9]);
    f.C[9] = (float)(ref - 1.001 * bound);
    CHECK(!judge().passed);
    const struct lab_case which = {.shape = {{4, 4, 100}}, .fill = FILL_RANDOM, .seed = 6};
    const void *const arrays[LAB_ARRAYS] = {f.A, f.B, f.C};
    struct wrong_element wrong[16];
    CHECK_INT(truth_wrong(&which, arrays, 16, wrong), 1);
    CHECK(wrong[0].row == 2 && wrong[0].col == 1 && fabs(wrong[0].expected - ref) < 1e-12);
    f.C[9] = (float)(ref + 0.999 * bound);
    CHECK_INT(truth_wrong(&which, arrays, 16, wrong), 0);
}

/* The gate's limits are on the largest error and on the root mean square, and only for random. */
TEST(the_float32_gate) {
    set_product(FILL_RANDOM, 6, 40, 40, 4000);
    double ref, G;
    multiply(IN_DOUBLE);
    naive(2, 1, &ref, &G);
    f.C[81] = (float)(ref + 31.5 * UNIT_ROUNDOFF * G);
    CHECK(judge().passed);
    f.C[81] = (float)(ref + 32.5 * UNIT_ROUNDOFF * G);
    struct verdict v = judge();
    CHECK(!v.passed && v.not_float32 && v.wrong == 0);
    CHECK(fabs(v.max_error_u - 32.5) < 0.2);
    char said[MESSAGE_SIZE];
    lab_truth.say_precision(&v, said);
    CHECK_THAT(strstr(said, "errors are up to 32.") && strstr(said, "below 32 u (rms 4 u)"), "%s",
               said);
    f.problem.comparison = COMPARE_BOUND;
    CHECK(judge().passed);
    f.problem.comparison = COMPARE_FLOAT32;
    for (int above = 0; above <= 1; above++) {
        for (int i = 0; i < 1600; i++) {
            naive(i / 40, i % 40, &ref, &G);
            f.C[i] = (float)(ref + (above ? 4.2 : 3.8) * UNIT_ROUNDOFF * G);
        }
        v = judge();
        CHECK(v.passed == !above && v.not_float32 == above);
    }
}

/* From k = 2^24 - 2 on the bound is infinite, yet neither infinity nor NaN is a result. */
TEST(infinity_fails_where_the_bound_is_infinite) {
    const float results[] = {0x1p25f, INFINITY, NAN};
    set_product(FILL_ONES_TWOS, 0, 1, 3, 1 << 24);
    memcpy(f.C, results, sizeof results);
    const struct verdict v = judge();
    CHECK(!v.passed && v.wrong == 2 && v.nan == 1 && v.compared == 3);
}

TEST(first_wrong_are_in_order_for_any_number_of_threads) {
    set_product(FILL_RANDOM, 8, 400, 700, 30);
    multiply(SEQUENTIAL);
    for (int i = 0; i < 400 * 700; i += 977) f.C[i] += 1;
    f.C[5] += 1;
    set_threads(1);
    const struct verdict one = judge();
    CHECK_INT(one.first_count, FIRST_WRONG);
    CHECK(one.first[0].row == 0 && one.first[0].col == 0 && one.first[1].col == 5);
    for (int i = 2; i < FIRST_WRONG; i++)
        CHECK(one.first[i].row * 700 + one.first[i].col == (i - 1) * 977);
    for (int threads = 2; threads <= 7; threads++) {
        set_threads(threads);
        const struct verdict many = judge();
        CHECK(fabs(many.rms_error_u / one.rms_error_u - 1) < 1e-12);
        CHECK(many.wrong == one.wrong && many.max_error_u == one.max_error_u);
        CHECK(memcmp(many.first, one.first, sizeof one.first) == 0);
        CHECK(memcmp(many.map, one.map, sizeof one.map) == 0);
        CHECK(memcmp(&many.wrong_box, &one.wrong_box, sizeof one.wrong_box) == 0);
    }
    set_threads(0);
}

TEST(the_map_and_the_boxes) {
    set_product(FILL_RANDOM, 8, 50, 100, 10);
    multiply(SEQUENTIAL);
    f.C[3 * 100 + 20] += 1;
    poison(&f.C[40 * 100 + 40]);
    f.C[40 * 100 + 60] += 1; /* beside one that was not written, and right ones */
    poison(&f.C[40 * 100 + 61]);
    for (int i = 16; i < 32; i++)
        for (int j = 96; j < 100; j++) f.C[i * 100 + j] += 1;      /* all of a narrow cell */
    for (int at = 48 * 100; at < 50 * 100; at++) poison(&f.C[at]); /* cells of two rows */
    f.C[49 * 100 + 97] = 1e9f; /* in one of them nothing is right */
    struct verdict v = judge();
    CHECK(v.cell_rows == 16 && v.cell_cols == 16 && v.map_rows == 4 && v.map_cols == 7);
    enum { R = IS_RIGHT, W = IS_WRONG, U = IS_UNWRITTEN };
    const unsigned char map[4][7] = {{R, W | R, R, R, R, R, R},
                                     {R, R, R, R, R, R, W},
                                     {R, R, U | R, U | W | R, R, R, R},
                                     {U, U, U, U, U, U, U | W}};
    for (int row = 0; row < 4; row++) CHECK(memcmp(v.map[row], map[row], 7) == 0);
    CHECK(v.wrong == 16 * 4 + 3 && v.unwritten == 201);
    CHECK(v.wrong_box.row_first == 3 && v.wrong_box.row_last == 49);
    CHECK(v.wrong_box.col_first == 20 && v.wrong_box.col_last == 99);
    CHECK(v.unwritten_box.row_first == 40 && v.unwritten_box.col_first == 0);
}

TEST(the_map_fits_a_terminal) {
    const int sizes[] = {1, 17, 320, 321, 961, 65536};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const int m = i % 2 ? 1 : sizes[i / 2], n = i % 2 ? sizes[i / 2] : 1;
        set_product(FILL_ONES_TWOS, 0, m, n, 1);
        for (int at = 0; at < m * n; at++) f.C[at] = 2;
        struct verdict v = judge();
        CHECK(v.passed && v.map_rows <= MAP_ROWS && v.map_cols <= MAP_COLS);
        CHECK(v.cell_rows % 16 == 0 && v.cell_cols % 16 == 0);
        CHECK((int64_t)v.map_rows * v.cell_rows >= m && (int64_t)v.map_cols * v.cell_cols >= n);
        for (int cell = 0; cell < v.map_rows * v.map_cols; cell++)
            CHECK_INT(v.map[cell / v.map_cols][cell % v.map_cols], IS_RIGHT);
    }
}

/* ---- report: its text is tested in test_driver.py ---- */

/* What a file or a device may be called: UTF-8 stays, anything else becomes Latin-1. NaN and
 * infinities are strings; and a comma is before every value but the first. */
TEST(json_is_written) {
    static const char *const strings[] = {
        "kernel.cu",
        "a\"b\\c\nd\x01",
        "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
        "caf\xe9",      /* Latin-1 */
        "\xc3",         /* cut off */
        "\xc0\xaf",     /* longer than need be */
        "\xed\xa0\x80", /* half of a pair */
        "\xf5\x80\x80\x80",
        "",
    };
    static const double numbers[] = {0.375, NAN, INFINITY, -INFINITY};
    char *text = NULL;
    size_t length = 0;
    struct json json = {open_memstream(&text, &length), false};
    json_open(&json, NULL, '{');
    json_open(&json, "strings", '[');
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        json_text(&json, NULL, strings[i]);
    json_close(&json, ']');
    json_open(&json, "empty", '[');
    json_close(&json, ']');
    json_text_lines(&json, "lines", "one\ntwo");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_real(&json, "number", numbers[i]);
    json_value(&json, "value", "[%d, true]", 7);
    json_close(&json, '}');
    fclose(json.out);
    CHECK_STRING(text,
                 "{\"strings\": [\"kernel.cu\", \"a\\\"b\\\\c\\nd\\u0001\", "
                 "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\", \"caf\\u00e9\", \"\\u00c3\", "
                 "\"\\u00c0\\u00af\", \"\\u00ed\\u00a0\\u0080\", "
                 "\"\\u00f5\\u0080\\u0080\\u0080\", null], \"empty\": [], "
                 "\"lines\": [\"one\", \"two\"], \"number\": 0.375, \"number\": \"NaN\", "
                 "\"number\": \"Infinity\", \"number\": \"-Infinity\", \"value\": [7, true]}");
    free(text);
}

static void check_described(struct finding_launch launch, int rows, int cols,
                            const char *expected) {
    char text[LAUNCH_TEXT];
    launch.kernel[0] = 'f';
    launch.output[0] = 'C';
    launch.dimensions = 2;
    launch.extent[0] = rows;
    launch.extent[1] = cols;
    launch_describe(&launch, text);
    CHECK_STRING(text, expected);
}

/* The usual ones: test_record.c and test_driver.py. */
TEST(a_launch_is_described_beside_the_size_of_c) {
    check_described((struct finding_launch){.kernel = "f<16>",
                                            .grid = {3, 2, 1},
                                            .block = {32, 1, 1},
                                            .shared_bytes = 128,
                                            .static_bytes = 64},
                    1, 1,
                    "f<16><<<(3, 2), 32, 128>>>: 6 blocks of 32 threads; C has 1 column and 1 row");
    check_described((struct finding_launch){.grid = {2147483647, 65535, 1}, .block = {16, 16, 1}},
                    8, 4,
                    "f<<<(2147483647, 65535), (16, 16)>>>: 34359738352 x 1048560 threads (x, y); "
                    "C has 4 columns and 8 rows");
}

/* In a child, because what the watchdog waits for ends with its process. */
TEST(a_launch_that_ends_in_time_is_left_alone) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct options options = good("5");
        struct report *report = report_begin(&options, "cpu", 1);
        for (int i = 0; i < 3; i++) { /* longer than the limit, all of them together */
            watchdog_start(0.5);
            nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
            watchdog_stop();
        }
        nanosleep(&(struct timespec){.tv_nsec = 600 * 1000 * 1000}, NULL);
        report->is_complete = true;
        _exit(7);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 7);
}
