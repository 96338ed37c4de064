/* Tests of engine/watch/shadow/cells.c: which reads of a word are remembered. A write races with
 * one that is kept if, and only if, it races with any that was made. And of order.c, which says
 * what is ordered. */
#include <stdlib.h>

#include "../../engine/watch/block.h"
#include "../../engine/watch/machine.c"

static bool no_memory;
static void *calloc_if_possible(size_t count, size_t size) {
    return no_memory ? NULL : calloc(count, size);
}
static void *malloc_if_possible(size_t size) { return no_memory ? NULL : malloc(size); }
#define calloc calloc_if_possible
#define malloc malloc_if_possible
#include "../../engine/watch/shadow/cells.c"
#include "../../engine/watch/shadow/order.c"
#include "../../engine/watch/shadow/release.c"

#include "../check.h"

extern const char __executable_start[];
__thread struct running_index running_index;

enum { BLOCKS = 3, THREADS = 64, WORDS = 16, FIRST_LANES = 3, ROUNDS = 20000 };

static struct epochs epochs[BLOCKS];
static struct order *order[BLOCKS];
static struct cells cells;
static uint64_t seed = 1;

static unsigned draw(unsigned below) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % below;
}

static void begin_interval(unsigned block, epoch interval) {
    epochs[block].interval = interval;
    epochs[block].has_pairs = false;
    for (unsigned i = 0; i < epochs[block].threads; ++i)
        epochs[block].thread[i] = interval | (epoch)i << THREAD_BIT;
}

static void begin_launch(unsigned threads) {
    order_begin_launch();
    for (unsigned b = 0; b < BLOCKS; ++b) {
        if (!order[b]) order[b] = order_make(&epochs[b]);
        epochs[b].block = b;
        epochs[b].threads = threads;
        order_begin_block(order[b]);
        begin_interval(b, EPOCH_INTERVAL(FIRST_INTERVAL));
    }
    if (!cells.part) cells_make(&cells, WORDS);
}

static void barrier(unsigned block) {
    order_end_interval(order[block]);
    begin_interval(block, epochs[block].interval + EPOCH_INTERVAL(1));
}

static struct shadow_cell *cell_of(unsigned bytes) {
    struct shadow_cell *cell[WORD];
    CHECK(cells_find(&cells, 0, bytes, cell) == 1);
    return cell[0];
}

/* By the running thread, of word 0. */
static struct conflict access(unsigned block, bool write, bool strong, struct stamp *now) {
    const struct access made = {.address = 4,
                                .size = WORD,
                                .write = write,
                                .strong = strong,
                                .code = __executable_start + 1};
    *now = order_now(order[block], &made);
    return cell_access(order[block], cell_of(ALL_BYTES), &made, now);
}

static struct stamp read_by(unsigned block, unsigned thread) {
    struct stamp now;
    running_index.linear = thread;
    access(block, false, false, &now);
    return now;
}

static void atomic(unsigned block, uintptr_t flag) {
    order_release(order[block], flag, false);
    order_acquire(order[block], flag, false);
}

/* One of a few, so that the same ones meet. */
static unsigned any_thread(void) { return draw(2) * WARP_SIZE + draw(FIRST_LANES); }

static void do_what_orders(unsigned block, bool pairs) {
    const unsigned warp = running_index.linear / WARP_SIZE;
    switch (draw(pairs ? 12 : 2)) {
    case 0: barrier(block); break;
    case 1: order_warp_met(order[block], warp, ~0u); break;
    case 2:
    case 3: order_warp_met(order[block], warp, 1 + draw(7)); break;
    default:
        if (draw(2)) order_fence(order[block], draw(3));
        if (draw(2)) atomic(block, 64);
        if (draw(2)) order_fence(order[block], draw(3));
    }
}

static bool races_in_shared(epoch read) {
    const struct stamp stamp = order_stamp(order[0], read);
    return read >= epochs[0].interval && !order_before(order[0], &stamp, NULL);
}

enum where { GLOBAL, GLOBAL_WITH_PAIRS, SHARED };

/* Reads, and what orders them, and one write. Returns whether that raced with a read. */
static bool round_of(enum where where) {
    struct stamp stamp[MANY_READS], now;
    struct shared_word word = {0, 0, 0, 0};
    epoch read[MANY_READS];
    unsigned reads = 0;
    const bool pairs = where == GLOBAL_WITH_PAIRS;
    bool races_with_any = false, found;
    begin_launch(THREADS);
    cells_reset(&cells, 0);
    for (unsigned steps = draw(pairs ? 60 : 30); steps > 0 && reads < MANY_READS; --steps) {
        const unsigned block = where == SHARED ? 0 : draw(BLOCKS);
        running_index.linear = any_thread();
        if (draw(3) >= (pairs ? 1 : 2)) {
            do_what_orders(block, pairs);
        } else if (where == SHARED) {
            read[reads] = epoch_now(&epochs[0], __executable_start + 1);
            shared_word_read(&word, epochs[0].interval, read[reads++]);
        } else {
            access(block, false, !draw(4), &stamp[reads++]);
        }
    }
    const unsigned block = draw(BLOCKS);
    const struct access write = {.address = 4, .write = true, .strong = !draw(3)};
    running_index.linear = any_thread();
    for (unsigned i = 0; i < reads; ++i)
        races_with_any |=
            where == SHARED ? races_in_shared(read[i]) : races(order[block], &stamp[i], &write);
    if (where == SHARED)
        found = races_in_shared(word.read) || races_in_shared(word.other_read);
    else
        found = access(block, true, write.strong, &now).with.when != 0;
    CHECK(found == races_with_any);
    return found;
}

static void rounds(enum where where) {
    unsigned found = 0;
    begin_launch(THREADS);
    for (int i = 0; i < ROUNDS; ++i) found += round_of(where);
    CHECK(found > ROUNDS / 20 && found < ROUNDS - ROUNDS / 20); /* both come about */
    cells_drop(&cells);
    CHECK(more_bytes == 0);
}

TEST(no_read_is_lost_where_warps_and_blocks_are_ordered) {
    CHECK(!order_has_pairs());
    rounds(GLOBAL);
    CHECK(!order_has_pairs());
}

TEST(no_read_is_lost_where_threads_are_ordered) {
    order_expect_fences();
    rounds(GLOBAL_WITH_PAIRS);
}

TEST(two_readers_of_a_shared_word_stand_for_all) { rounds(SHARED); }

/* --- bounds ----------------------------------------------------------------------------------- */

static void all_read(unsigned threads) {
    order_expect_fences();
    begin_launch(threads);
    cells_reset(&cells, 0);
    for (unsigned i = 0; i < threads; ++i) read_by(0, i);
}

TEST(of_many_reads_two_of_each_warp_are_kept) {
    all_read(MAX_BLOCK_THREADS);
    const struct shadow_cell *cell = cell_of(ALL_BYTES);
    CHECK(cell->more_count <= MOST_READS);
    for (unsigned warp = 0; warp < MAX_BLOCK_THREADS / WARP_SIZE; ++warp) {
        unsigned kept = epoch_thread(cell->other_read.when) / WARP_SIZE == warp;
        for (unsigned i = 0; i < cell->more_count; ++i)
            kept += epoch_thread(cell->more[i].when) / WARP_SIZE == warp;
        CHECK(kept >= 2);
    }
    cells_drop(&cells);
}

TEST(an_atomic_store_of_another_thread_is_not_forgotten_behind_two_of_ones_own) {
    const unsigned stored_by[] = {WARP_SIZE + 8, 0, 0};
    struct stamp now;
    begin_launch(THREADS);
    cells_reset(&cells, 0);
    for (int i = 0; i < 3; ++i) {
        running_index.linear = stored_by[i];
        access(0, true, true, &now);
    }
    CHECK_INT(epoch_thread(access(0, false, false, &now).with.when), WARP_SIZE + 8);
    cells_drop(&cells);
}

TEST(the_bytes_of_a_word_have_been_read_as_the_word_has) {
    all_read(4);
    const struct shadow_cell *byte = cell_of(1 << 2);
    CHECK(byte->more_count == 2 && epoch_thread(byte->more[1].when) == 3);
    cells_drop(&cells);
    CHECK(more_bytes == 0);
}

TEST(a_word_is_written_where_any_of_its_bytes_is) {
    struct stamp now;
    for (unsigned byte = 0; byte <= WORD; ++byte) {
        begin_launch(THREADS);
        cells_reset(&cells, 0);
        access(0, false, false, &now);
        cell_of(1 << 1);
        CHECK(!cells_are_written(&cells, 0));
        if (byte == WORD) continue;
        const struct access made = {.address = 4 + byte, .size = 1, .write = true};
        now = order_now(order[0], &made);
        cell_access(order[0], cell_of(1u << byte), &made, &now);
        CHECK(cells_are_written(&cells, 0));
    }
    cells_drop(&cells);
}

/* --- what is ordered -------------------------------------------------------------------------- */

/* Of an access that the thread makes now. */
static struct stamp now_of(unsigned block, unsigned thread) {
    const struct access made = {.address = 4, .size = WORD, .code = __executable_start + 1};
    running_index.linear = thread;
    return order_now(order[block], &made);
}

/* Whether it happens before what the thread does next. */
static bool knows(unsigned block, unsigned thread, struct stamp earlier) {
    running_index.linear = thread;
    return order_before(order[block], &earlier, NULL);
}

static void atomic_between_fences(unsigned block, uintptr_t flag) {
    running_index.linear = 0;
    order_fence(order[block], true);
    atomic(block, flag);
    order_fence(order[block], true);
}

/* But not what is released later at the same address. */
TEST(what_has_been_acquired_is_released_again) {
    for (unsigned early = 0; early < 2; ++early) {
        begin_launch(THREADS);
        const struct stamp first = now_of(0, 0);
        atomic_between_fences(0, 64);
        if (early) atomic_between_fences(2, 128);
        atomic_between_fences(1, 64);
        atomic_between_fences(1, 128);
        if (!early) atomic_between_fences(2, 128);
        CHECK(knows(1, 0, first) && knows(2, 0, first) == !early);
        atomic_between_fences(2, 128); /* behind block 1's, which may be the second one there */
        CHECK(knows(2, 0, first));
    }
}

TEST(what_was_released_at_two_addresses_is_acquired_in_either_order) {
    for (unsigned last = 0; last < 2; ++last) {
        begin_launch(THREADS);
        const struct stamp by[] = {now_of(0, 0), now_of(1, 0)};
        atomic_between_fences(0, 64);
        atomic_between_fences(1, 128);
        atomic_between_fences(2, last ? 64 : 128);
        CHECK(knows(2, 0, by[!last]) && !knows(2, 0, by[last]));
        atomic_between_fences(2, last ? 128 : 64);
        CHECK(knows(2, 0, by[0]) && knows(2, 0, by[1]));
    }
}

TEST(what_there_is_no_memory_for_has_not_been_released) {
    begin_launch(THREADS);
    const struct stamp first = now_of(0, 0);
    no_memory = true;
    atomic_between_fences(0, 64);
    no_memory = false;
    atomic_between_fences(1, 64);
    CHECK(!knows(1, 0, first));
}

TEST(a_stamp_has_room_for_more_steps_than_an_epoch) {
    begin_launch(THREADS);
    for (unsigned step = 0; step < EPOCH_STEPS * HIGH_STEPS - 1; ++step)
        order_warp_met(order[0], 0, ~0u);
    const struct stamp last = now_of(0, 1);
    CHECK(stamp_step(&last) == EPOCH_STEPS * HIGH_STEPS - 1);
    CHECK(knows(0, 1, last) && !knows(0, 0, last));
}

TEST(a_release_behind_a_barrier_is_of_what_came_before_the_fence) {
    for (unsigned steps = 0; steps < 8; ++steps) {
        begin_launch(THREADS);
        for (unsigned i = 0; i < steps; ++i) order_warp_met(order[0], 1, ~0u);
        const struct stamp without_fence[] = {now_of(0, WARP_SIZE - 1), now_of(0, WARP_SIZE + 1)},
                           before = now_of(0, WARP_SIZE);
        order_fence(order[0], true);
        const struct stamp behind = now_of(0, WARP_SIZE);
        barrier(0);
        running_index.linear = 0;
        order_release(order[0], 64, false);
        atomic_between_fences(1, 64);
        CHECK(knows(1, 0, before) && !knows(1, 0, behind));
        CHECK(!knows(1, 0, without_fence[0]) && !knows(1, 0, without_fence[1]));
    }
}

TEST(each_thread_may_have_another_last_fence_than_its_neighbors) {
    struct stamp before[MAX_BLOCK_THREADS];
    begin_launch(MAX_BLOCK_THREADS);
    for (unsigned i = 0; i < MAX_BLOCK_THREADS; ++i) {
        before[i] = now_of(0, i);
        for (unsigned fence = 0; fence <= i % 2; ++fence) order_fence(order[0], true);
    }
    barrier(0);
    running_index.linear = 0;
    order_release(order[0], 64, false);
    atomic_between_fences(1, 64);
    for (unsigned i = 0; i < MAX_BLOCK_THREADS; ++i) CHECK(knows(1, 0, before[i]));
}

TEST(behind_the_fence_only_the_store_that_releases_is_ordered) {
    const struct access read = {.address = 128, .size = WORD, .strong = true};
    for (unsigned other = 0; other < 2; ++other) {
        struct stamp stored;
        begin_launch(THREADS);
        cells_reset(&cells, 0);
        running_index.linear = 0;
        order_fence(order[0], true);
        access(0, true, true, &stored);
        order_release(order[0], other ? 64 : 128, false);
        running_index.linear = 0;
        order_acquire(order[1], other ? 64 : 128, false);
        order_fence(order[1], true);
        CHECK(order_before(order[1], &stored, &read) == !other);
    }
    cells_drop(&cells);
}

TEST(what_lanes_did_before_they_returned_is_known_to_all_that_meet_later_in_their_name) {
    const unsigned some = 1 << 1 | 1 << 2, gone[] = {0, 3};
    begin_launch(THREADS);
    order_warp_met(order[0], 0, some); /* and so not all lanes know the same */
    const struct stamp last[] = {now_of(0, gone[0]), now_of(0, gone[1])};
    for (int i = 0; i < 2; ++i) CHECK(!knows(0, 1, last[i]));
    for (int i = 0; i < 2; ++i) threads_add(&epochs[0].returned, gone[i]);
    order_warp_met(order[0], 0, some);
    for (int i = 0; i < 2; ++i) CHECK(!knows(0, 1, last[i]));
    order_warp_met(order[0], 0, some | 1 << gone[0] | 1 << gone[1]);
    for (int i = 0; i < 2; ++i) CHECK(knows(0, 1, last[i]));
    epochs[0].returned = (struct threads){{0}};
}

/* Each link takes some of the stack. */
TEST(a_chain_of_releases_is_followed_over_so_many_links) {
    begin_launch(THREADS);
    const struct stamp first = now_of(0, 0);
    order_fence(order[0], true);
    order_release(order[0], 64, false);
    for (unsigned i = 0; i < 2 * MOST_LINKS; ++i) { /* each of another thread */
        running_index.linear = i % THREADS;
        order_acquire(order[1 + i / THREADS], 64 + i * WORD, false);
        order_fence(order[1 + i / THREADS], true);
        order_release(order[1 + i / THREADS], 64 + (i + 1) * WORD, false);
        CHECK(knows(1 + i / THREADS, i % THREADS, first) == (i <= MOST_LINKS));
    }
}

TEST(a_fence_is_of_its_block) {
    begin_launch(THREADS);
    running_index.linear = 0;
    order_fence(order[0], true);
    CHECK(order_is_behind_fence(order[0]));
    order_begin_block(order[0]);
    CHECK(!order_is_behind_fence(order[0]));
}

TEST(the_numbers_of_launches_begin_again) {
    launch_number = LAUNCHES - 4;
    for (struct stamp last, now = {0, 0}; launch_number < LAUNCHES + 2; now = last) {
        begin_launch(THREADS);
        last = now_of(0, 0);
        CHECK(stamp_block(&last) == 0 && order_other_launch(order[0], &now));
    }
}

TEST(what_was_released_is_forgotten_at_the_next_launch) {
    CHECK(release_memory(1) && all.arena);
    begin_launch(THREADS);
    CHECK(!all.arena);
}

static jmp_buf faulted;
static void go_on(const char *what) {
    CHECK(strstr(what, "out of memory"));
    longjmp(faulted, 1);
}

TEST(no_memory_for_cells_is_the_machines_fault) {
    struct cells few;
    struct shadow_cell *cell[WORD];
    cells_make(&few, WORDS);
    machine_on_fault(go_on);
    no_memory = true;
    const bool first = !setjmp(faulted);
    if (first) cells_find(&few, 0, WORD, cell);
    no_memory = false;
    machine_on_fault(NULL);
    cells_drop(&few);
    CHECK(!first);
}
