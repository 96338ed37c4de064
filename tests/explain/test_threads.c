/* Tests of engine/report/words/threads.c: a set of threads is described by the condition that a
 * kernel would select it with, and by no condition that selects others. */
#include "../../engine/report/words/threads.c"

#include "../check.h"

typedef bool chooser(unsigned x, unsigned y, unsigned z);

struct row {
    const char *expected;
    chooser *chosen;
    struct finding_index block;
};

static struct threads choose(chooser *chosen, struct finding_index block) {
    struct threads set = {{0}};
    for (unsigned i = 0; i < block.x * block.y * block.z; i++)
        if (chosen(i % block.x, i / block.x % block.y, i / block.x / block.y)) threads_add(&set, i);
    return set;
}

static void check_row(const struct row *row) {
    const struct threads set = choose(row->chosen, row->block);
    char text[200];
    threads_describe(text, sizeof text, &set, row->block);
    CHECK_STRING(text, row->expected);
}

#define CHECK_ROWS(rows)                                                                           \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) check_row(&(rows)[i])

/* A condition as a function. */
#define CHOOSER(name, condition)                                                                   \
    static bool name(unsigned x, unsigned y, unsigned z) {                                         \
        (void)x, (void)y, (void)z;                                                                 \
        return condition;                                                                          \
    }

static const struct finding_index square = {16, 16, 1}, flat = {256, 1, 1}, odd = {10, 7, 1},
                                  deep = {8, 4, 4}, largest = {32, 32, 1}, single = {1, 1, 1};

CHOOSER(all, true)
CHOOSER(none, false)
CHOOSER(one, x == 3 && y == 1)
CHOOSER(first_of_all, x == 0 && y == 0 && z == 0)

TEST(all_none_and_one) {
    static const struct row rows[] = {
        {"all 256 threads", all, square},
        {"all 1024 threads", all, largest},
        {"no thread", none, square},
        {"thread (3,1)", one, square},
        {"thread (0,0,0)", first_of_all, deep},
        {"thread (0,0)", all, single},
    };
    CHECK_ROWS(rows);
}

CHOOSER(row_1, y == 1)
CHOOSER(column_0, x == 0)
CHOOSER(left, x < 2)
CHOOSER(right, x >= 14)
CHOOSER(below, y >= 2)
CHOOSER(middle, x >= 3 && x <= 7)
CHOOSER(not_first, x != 0)
CHOOSER(not_fifth, y != 5)
CHOOSER(plane, z == 2)

TEST(one_coordinate) {
    static const struct row rows[] = {
        {"the 16 threads with threadIdx.y = 1", row_1, square},
        {"the 16 threads with threadIdx.x = 0", column_0, square},
        {"the 32 threads with threadIdx.x < 2", left, square},
        {"the 32 threads with threadIdx.x >= 14", right, square},
        {"the 224 threads with threadIdx.y >= 2", below, square},
        {"the 80 threads with threadIdx.x from 3 to 7", middle, square},
        {"the 240 threads with threadIdx.x >= 1", not_first, square},
        {"the 240 threads with threadIdx.y != 5", not_fifth, square},
        {"the 242 threads with threadIdx.x >= 14", right, flat},
        {"the 2 threads with threadIdx.x < 2", left, flat},
        {"the 32 threads with threadIdx.z = 2", plane, deep},
    };
    CHECK_ROWS(rows);
}

CHOOSER(even, x % 2 == 0)
CHOOSER(odd_rows, y % 2 == 1)
CHOOSER(fourth, x % 4 == 0)
CHOOSER(not_fourth, x % 4 != 3)
CHOOSER(lane_0, x % 32 == 0)
CHOOSER(third, x % 3 == 1)

TEST(remainders) {
    static const struct row rows[] = {
        {"the 128 threads with threadIdx.x % 2 = 0", even, square},
        {"the 128 threads with threadIdx.y % 2 = 1", odd_rows, square},
        {"the 64 threads with threadIdx.x % 4 = 0", fourth, square},
        {"the 192 threads with threadIdx.x % 4 != 3", not_fourth, square},
        {"the 8 threads with threadIdx.x % 32 = 0", lane_0, flat},
        {"the 21 threads with threadIdx.x % 3 = 1", third, odd},
    };
    CHECK_ROWS(rows);
}

CHOOSER(corner, x < 2 && y < 2)
CHOOSER(outside_corner, !(x < 2 && y < 2))
CHOOSER(even_row_0, x % 2 == 0 && y == 0)
CHOOSER(edge, x == 15 || y >= 14)
CHOOSER(box, x >= 2 && y < 2 && z == 1)
CHOOSER(outside_box, x < 2 || y >= 2 || z != 1)

TEST(several_coordinates) {
    static const struct row rows[] = {
        {"the 4 threads with threadIdx.x < 2 and threadIdx.y < 2", corner, square},
        {"the 252 threads with threadIdx.x >= 2 or threadIdx.y >= 2", outside_corner, square},
        {"the 8 threads with threadIdx.x % 2 = 0 and threadIdx.y = 0", even_row_0, square},
        {"the 46 threads with threadIdx.x = 15 or threadIdx.y >= 14", edge, square},
        {"the 12 threads with threadIdx.x >= 2 and threadIdx.y < 2 and threadIdx.z = 1", box, deep},
        {"the 116 threads with threadIdx.x < 2 or threadIdx.y >= 2 or threadIdx.z != 1",
         outside_box, deep},
    };
    CHECK_ROWS(rows);
}

CHOOSER(tile_left, x % 16 < 2)
CHOOSER(tile_not_left, x % 16 >= 2)
CHOOSER(tile_corner, x % 16 < 2 && x / 16 >= 3)
CHOOSER(outside_tile_corner, !(x % 16 < 2 && x / 16 < 2))
CHOOSER(tile_row, x / 16 == 3)
CHOOSER(triangle, x % 16 > x / 16)

/* Of a block in one row. */
TEST(tiles_of_a_block_in_one_row) {
    static const struct row rows[] = {
        {"the 32 threads with threadIdx.x % 16 < 2", tile_left, flat},
        {"the 224 threads with threadIdx.x % 16 >= 2", tile_not_left, flat},
        {"the 26 threads with threadIdx.x % 16 < 2 and threadIdx.x / 16 >= 3", tile_corner, flat},
        {"the 252 threads with threadIdx.x % 16 >= 2 or threadIdx.x / 16 >= 2", outside_tile_corner,
         flat},
        {"the 16 threads with threadIdx.x from 48 to 63", tile_row, flat},
        {"120 threads, such as (1,0),", triangle, flat},
    };
    CHECK_ROWS(rows);
}

CHOOSER(warp_1, (y * 10 + x) / 32 == 1)
CHOOSER(part, y * 10 + x >= 4 && y * 10 + x < 14)
CHOOSER(diagonal, x == y)
CHOOSER(scattered, x == 1 || x == 4 || x == 5)

TEST(linear_indices_and_the_rest) {
    static const struct row rows[] = {
        {"the 32 threads of warp 1", warp_1, odd},
        {"the 10 threads (4,0) to (3,1)", part, odd},
        {"16 threads, such as (0,0),", diagonal, square},
        {"48 threads, such as (1,0),", scattered, square},
    };
    CHECK_ROWS(rows);
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
    const struct threads set = choose(outside_box, deep);
    for (size_t size = 1; size < 80; size++) {
        char text[81];
        memset(text, '#', sizeof text);
        threads_describe(text, size, &set, deep);
        CHECK(memchr(text, 0, size));
        CHECK_INT(text[size], '#');
    }
}
