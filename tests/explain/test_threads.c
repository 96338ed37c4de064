/* Tests of engine/report/words/threads.c: a set of threads is described by the condition that a
 * kernel would select it with, and by no condition that selects others. */
#include "../../engine/report/words/threads.c"

#include "../check.h"

static const struct finding_index square = {16, 16, 1}, flat = {256, 1, 1}, odd = {10, 7, 1},
                                  deep = {8, 4, 4}, single = {1, 1, 1};

/* Declares the set of a block's threads (x, y, z) for which this is true. */
#define CHOOSE(set, block, condition)                                                              \
    struct threads set = {{0}};                                                                    \
    for (unsigned i = 0; i < (block).x * (block).y * (block).z; i++) {                             \
        const unsigned x = i % (block).x, y = i / (block).x % (block).y,                           \
                       z = i / (block).x / (block).y;                                              \
        (void)x, (void)y, (void)z;                                                                 \
        if (condition) threads_add(&set, i);                                                       \
    }

#define CHECK_TEXT(block, condition, expected)                                                     \
    do {                                                                                           \
        CHOOSE(set, block, condition)                                                              \
        char text[200];                                                                            \
        threads_describe(text, sizeof text, &set, block);                                          \
        CHECK_STRING(text, expected);                                                              \
    } while (0)

TEST(all_none_and_one) {
    CHECK_TEXT(square, true, "all 256 threads");
    CHECK_TEXT(square, false, "no thread");
    CHECK_TEXT(square, x == 3 && y == 1, "thread (3,1)");
    CHECK_TEXT(deep, x == 0 && y == 0 && z == 0, "thread (0,0,0)");
    CHECK_TEXT(single, true, "thread (0,0)");
}

TEST(one_coordinate) {
    CHECK_TEXT(square, x == 0, "the 16 threads with threadIdx.x = 0");
    CHECK_TEXT(square, x < 2, "the 32 threads with threadIdx.x < 2");
    CHECK_TEXT(square, x >= 14, "the 32 threads with threadIdx.x >= 14");
    CHECK_TEXT(square, x >= 3 && x <= 7, "the 80 threads with threadIdx.x from 3 to 7");
    CHECK_TEXT(square, x != 0, "the 240 threads with threadIdx.x >= 1");
    CHECK_TEXT(square, y != 5, "the 240 threads with threadIdx.y != 5");
    CHECK_TEXT(deep, z == 2, "the 32 threads with threadIdx.z = 2");
    CHECK_TEXT(square, x % 2 == 0, "the 128 threads with threadIdx.x % 2 = 0");
    CHECK_TEXT(square, x % 4 == 0, "the 64 threads with threadIdx.x % 4 = 0");
    CHECK_TEXT(square, x % 4 != 3, "the 192 threads with threadIdx.x % 4 != 3");
    CHECK_TEXT(odd, x % 3 == 1, "the 21 threads with threadIdx.x % 3 = 1");
}

TEST(several_coordinates) {
    CHECK_TEXT(square, x < 2 && y < 2, "the 4 threads with threadIdx.x < 2 and threadIdx.y < 2");
    CHECK_TEXT(square, x >= 2 || y >= 2,
               "the 252 threads with threadIdx.x >= 2 or threadIdx.y >= 2");
    CHECK_TEXT(square, x % 2 == 0 && y == 0,
               "the 8 threads with threadIdx.x % 2 = 0 and threadIdx.y = 0");
    CHECK_TEXT(deep, x >= 2 && y < 2 && z == 1,
               "the 12 threads with threadIdx.x >= 2 and threadIdx.y < 2 and threadIdx.z = 1");
    CHECK_TEXT(deep, x < 2 || y >= 2 || z != 1,
               "the 116 threads with threadIdx.x < 2 or threadIdx.y >= 2 or threadIdx.z != 1");
}

TEST(tiles_of_a_block_in_one_row) {
    CHECK_TEXT(flat, x % 16 < 2 && x / 16 >= 3,
               "the 26 threads with threadIdx.x % 16 < 2 and threadIdx.x / 16 >= 3");
    CHECK_TEXT(flat, x % 16 >= 2 || x / 16 >= 2,
               "the 252 threads with threadIdx.x % 16 >= 2 or threadIdx.x / 16 >= 2");
    CHECK_TEXT(flat, x / 16 == 3, "the 16 threads with threadIdx.x from 48 to 63");
    CHECK_TEXT(flat, x % 16 > x / 16, "120 threads, such as (1,0),");
}

TEST(linear_indices_and_the_rest) {
    CHECK_TEXT(odd, (y * 10 + x) / 32 == 1, "32 threads, such as (2,3),");
    CHECK_TEXT(odd, y * 10 + x >= 4 && y * 10 + x < 14, "10 threads, such as (4,0),");
    CHECK_TEXT(square, x == y, "16 threads, such as (0,0),");
    CHECK_TEXT(square, x == 1 || x == 4 || x == 5, "48 threads, such as (1,0),");
}

/* The words of a condition, evaluated. */
static bool holds(const char *condition, const unsigned at[3]) {
    bool any = !!strstr(condition, " or "), result = !any;
    char copy[200];
    snprintf(copy, sizeof copy, "%s", condition);
    for (char *part = copy, *next; part; part = next) {
        unsigned a, b = 1, value;
        char axis, kind = '%';
        next = strstr(part, any ? " or " : " and ");
        if (next) {
            *next = '\0';
            next += any ? 4 : 5;
        }
        CHECK(sscanf(part, "threadIdx.%c", &axis) == 1);
        value = at[axis - 'x'];
        const char *rest = part + strlen("threadIdx.x ");
        int width = 0;
        if (sscanf(rest, "%c %u %n", &kind, &a, &width) == 2 && strchr("%/", kind)) {
            value = kind == '%' ? value % a : value / a;
            rest += width;
        }
        bool one = sscanf(rest, "= %u", &a) == 1    ? value == a
                   : sscanf(rest, "!= %u", &a) == 1 ? value != a
                   : sscanf(rest, "< %u", &a) == 1  ? value < a
                   : sscanf(rest, ">= %u", &a) == 1 ? value >= a
                   : sscanf(rest, "from %u to %u", &a, &b) == 2
                       ? value >= a && value <= b
                       : (CHECK_THAT(0, "%s", rest), false);
        result = any ? result || one : result && one;
    }
    return result;
}

/* Every set of threads of a small block: a condition holds for just these threads. */
TEST(conditions_select_just_these_threads) {
    static const struct finding_index blocks[] = {{12, 1, 1}, {1, 12, 1}, {4, 3, 1}, {2, 3, 2}};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        const struct finding_index block = blocks[b];
        int found = 0;
        for (unsigned bits = 0; bits < 1u << 12; bits++) {
            const struct threads set = {{bits}};
            char text[200];
            if (!threads_condition(text, sizeof text, &set, block)) {
                CHECK_STRING(text, "");
                continue;
            }
            found++;
            for (unsigned i = 0; i < 12; i++) {
                const unsigned at[3] = {i % block.x, i / block.x % block.y, i / block.x / block.y};
                CHECK_THAT(holds(text, at) == threads_has(&set, i), "%#x: %s", bits, text);
            }
        }
        CHECK(found > 50);
    }
}

TEST(text_is_cut_to_its_size) {
    CHOOSE(set, deep, x < 2 || y >= 2 || z != 1)
    for (size_t size = 1; size < 80; size++) {
        char text[81];
        memset(text, '#', sizeof text);
        threads_describe(text, size, &set, deep);
        CHECK(memchr(text, 0, size));
        CHECK_INT(text[size], '#');
    }
}
