/* Tests of engine/watch/surplus.c: of a launch with far more blocks than write anything, all that
 * write are chosen, and of the others the first, the last, those at corners and edges, and some
 * that are drawn; and what another process says of them is looked at before it is used. */
#include "../../engine/watch/surplus.c"

#include "../check.h"

static int launches = 1;
int launches_made(void) { return launches; }
bool program_has_variables(void) { return false; }

static struct writers said;
static const struct writers *say(void) { return &said; }
static const struct writers *say_nothing(void) { return NULL; }

enum { X = 80, Y = 60, C_X = 3, C_Y = 2 };

static struct launch launch(void) {
    return (struct launch){
        .grid = {X, Y, 1}, .block = {16, 16, 1}, .block_threads = 256, .blocks = X * Y};
}

/* C has 3 x 2 tiles. */
static void begin(void) {
    launches = 1;
    said = (struct writers){.count = 1, .runs = C_Y};
    said.launch[0] = (struct writers_launch){1, {X, Y, 1}, {16, 16, 1}, 0, C_Y};
    for (uint64_t y = 0; y < C_Y; y++) said.run[y] = (struct block_run){y * X, y * X + C_X - 1};
    launches = 0;
    surplus_begin(say);
    launches = 1;
}

static bool has(const struct block_runs *only, uint64_t block) {
    for (size_t i = 0; only && i < only->count; i++)
        if (only->run[i].first <= block && block <= only->run[i].last) return true;
    return false;
}

static const struct block_runs *choose(void) {
    const struct launch l = launch();
    return surplus_choose(&l);
}

TEST(all_that_write_are_chosen_and_a_sample_of_the_others) {
    begin();
    const struct block_runs *only = choose();
    for (uint64_t y = 0; y < C_Y; y++)
        for (uint64_t x = 0; x < C_X; x++) CHECK(has(only, y * X + x));
    CHECK(has(only, C_X));     /* the first one, and the first in x */
    CHECK(has(only, C_Y * X)); /* the first in y */
    CHECK(has(only, X - 1));   /* the corners */
    CHECK(has(only, (Y - 1) * X));
    CHECK(has(only, X * Y - 1));  /* and the last one */
    uint64_t next = 0, count = 0; /* in order */
    for (size_t i = 0; i < only->count; i++) {
        CHECK(only->run[i].first >= next && only->run[i].last >= only->run[i].first);
        next = only->run[i].last + 1;
        count += next - only->run[i].first;
    }
    CHECK(next == X * Y && count > C_X * C_Y + 5 && count <= C_X * C_Y + SAMPLE);
    const struct engine_blocks seen = surplus_seen();
    CHECK(seen.all == X * Y && seen.writing == C_X * C_Y && seen.watched == count);
    CHECK_INT(surplus_passed_over(), X * Y - count);
}

/* All of the first row write, and the first of the second. */
TEST(a_sample_is_of_all_three_directions) {
    enum { Z = 9 };
    const struct launch deep = {
        .grid = {X, Y, Z}, .block = {16, 16, 1}, .block_threads = 256, .blocks = X * Y * Z};
    begin();
    said.launch[0] = (struct writers_launch){1, {X, Y, Z}, {16, 16, 1}, 0, 1};
    said.run[0] = (struct block_run){0, X};
    const struct block_runs *only = surplus_choose(&deep);
    CHECK(has(only, X + 1));           /* the first one */
    CHECK(has(only, 2 * X));           /* the first in y */
    CHECK(has(only, X * Y));           /* the first in z */
    CHECK(has(only, (Z - 1) * X * Y)); /* a corner */
}

static unsigned drawn(uint64_t seed, uint64_t block[64]) {
    unsigned count = 0;
    begin();
    said.sample = seed;
    const struct block_runs *only = choose();
    for (uint64_t b = 0; b < X * Y && count < 64; b++)
        if (has(only, b)) block[count++] = b;
    return count;
}

TEST(the_seed_decides_which_are_drawn_and_all_are_in_the_end) {
    static bool seen[X * Y];
    uint64_t one[64], again[64], other[64];
    unsigned all = 0;
    const unsigned count = drawn(1, one);
    CHECK(drawn(1, again) == count && memcmp(one, again, count * sizeof *one) == 0);
    CHECK(drawn(2, other) != count || memcmp(one, other, count * sizeof *one) != 0);
    for (uint64_t seed = 0; seed < 3000; seed++)
        for (unsigned i = drawn(seed, one); i-- > 0;) seen[one[i]] = true;
    for (int i = 0; i < X * Y; i++) all += seen[i];
    CHECK_INT(all, X * Y);
}

TEST(where_nothing_is_known_all_blocks_are_watched) {
    begin();
    launches = 2; /* another launch */
    CHECK(!choose());
    begin();
    said.launch[0].grid[1]--; /* another grid */
    CHECK(!choose());
    launches = 0;
    surplus_begin(say_nothing);
    launches = 1;
    CHECK(!choose());
}

TEST(what_cannot_be_is_not_believed) {
    static const struct block_run bad[][2] = {
        {{0, 2}, {2, 4}},      /* twice */
        {{5, 4}, {6, 7}},      /* none */
        {{80, 82}, {0, 2}},    /* not in order */
        {{0, 2}, {80, X * Y}}, /* not in the grid */
        {{0, UINT64_MAX}, {0, 0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin();
        memcpy(said.run, bad[i], sizeof bad[i]);
        CHECK_THAT(!choose(), "number %zu", i);
    }
    for (int i = 0; i < 3; i++) {
        begin();
        if (i == 0)
            said.launch[0].count = WRITERS_RUNS + 1;
        else
            said.launch[0].first = i == 1 ? WRITERS_RUNS : UINT32_MAX;
        CHECK_THAT(!choose(), "number %d", i);
    }
}
