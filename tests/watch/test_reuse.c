/* Tests of engine/watch/record/reuse.c: where a word comes from, after calls that copy some of its
 * bytes, and which launches are counted then. */
#include "../../engine/watch/record/reuse.c"

#include "../check.h"

enum { WORDS = 64 };
static _Alignas(WORD) char from[WORDS * WORD], to[WORDS * WORD];
static struct cells cells_from = {.words = WORDS}, cells_to = {.words = WORDS};
static struct region output;

static bool is_in(const char *memory, uintptr_t address) {
    return address - (uintptr_t)memory < sizeof from;
}

struct cells *global_cells(uintptr_t address, uintptr_t *begin) {
    *begin = (uintptr_t)(is_in(from, address) ? from : to);
    return is_in(from, address) ? &cells_from : is_in(to, address) ? &cells_to : NULL;
}
struct region *region_find(uintptr_t address) {
    (void)address;
    return NULL;
}
const struct region *region_output(void) { return &output; }
_Noreturn void machine_fault(const char *what) {
    (void)what;
    abort();
}

static void all_are(char *memory, origin of) {
    for (size_t at = 0; at < sizeof from; at += WORD) origin_set((uintptr_t)memory + at, of);
}

/* `to` if all its words have one origin. */
static bool all_to_are(origin of) {
    size_t count = 0;
    for (size_t at = 0; at < sizeof to; at += WORD) count += origin_of((uintptr_t)to + at) == of;
    return count == WORDS;
}

/* As cudaMemcpy2D with a pitch of a word does, and cudaMemset2D. */
static void copy_of_each_word(size_t first, const char *source, size_t bytes) {
    for (size_t at = 0; at < sizeof to; at += WORD)
        origin_copied(to + at + first, source ? source + at : NULL, bytes);
}

TEST(whole_words_bring_their_origin) {
    all_are(from, ORIGIN_INPUT);
    all_are(to, ORIGIN_LAUNCH + 3);
    origin_copied(to, from, sizeof to);
    CHECK(all_to_are(ORIGIN_INPUT));
    origin_copied(to, NULL, sizeof to);
    CHECK(all_to_are(ORIGIN_HOST));
}

TEST(a_part_of_a_word_takes_no_origin_away) {
    for (size_t first = 0; first < WORD; ++first)
        for (size_t bytes = 1; bytes < WORD && first + bytes <= WORD; ++bytes)
            for (origin before = ORIGIN_HOST; before <= ORIGIN_LAUNCH; ++before) {
                all_are(to, before);
                copy_of_each_word(first, NULL, bytes);
                CHECK(all_to_are(before));
                all_are(from, ORIGIN_INPUT);
                copy_of_each_word(first, from, bytes);
                CHECK(all_to_are(before > ORIGIN_INPUT ? before : ORIGIN_INPUT));
            }
}

TEST(a_copy_that_is_not_at_a_words_begin_brings_its_origin_to_all_that_it_meets) {
    all_are(from, ORIGIN_INPUT);
    all_are(to, ORIGIN_HOST);
    origin_copied(to + 1, from, sizeof to - WORD);
    CHECK(all_to_are(ORIGIN_INPUT));
    all_are(to, ORIGIN_HOST);
    origin_copied(to, from + 3, sizeof to - 3);
    CHECK(all_to_are(ORIGIN_INPUT));
}

/* Loads that are counted where copies of what launches have stored are the halves of each word of
 * the output. The first has a hundred, the second one. */
static uint64_t loads_of(origin first_half, origin second_half) {
    const struct counted_reuse hundred = {.loads = 100}, one = {.loads = 1};
    memset(stages, 0, sizeof stages);
    running = 0;
    output.begin = (uintptr_t)to;
    output.bytes = sizeof to;
    reuse_launch_ended(&hundred);
    reuse_launch_ended(&one);
    all_are(to, ORIGIN_HOST);
    all_are(from, first_half);
    copy_of_each_word(0, from, WORD / 2);
    all_are(from, second_half);
    copy_of_each_word(WORD / 2, from, WORD / 2);
    return reuse_counted().loads;
}

TEST(a_word_of_two_launches_comes_from_both) {
    CHECK(loads_of(ORIGIN_LAUNCH, ORIGIN_LAUNCH) == 100);
    CHECK(loads_of(ORIGIN_LAUNCH + 1, ORIGIN_LAUNCH + 1) == 1);
    CHECK(loads_of(ORIGIN_LAUNCH, ORIGIN_LAUNCH + 1) == 101);
    CHECK(loads_of(ORIGIN_LAUNCH + 1, ORIGIN_LAUNCH) == 101);
    CHECK(loads_of(ORIGIN_HOST, ORIGIN_LAUNCH + 1) == 1);
}
