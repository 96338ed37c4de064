/* Tests of engine/report/words/vocabulary.h: with a lab, words are that lab's, and without one the
 * engine's own, which know no lab (tests/test_no_lab_in_engine.py). */
#include "../../engine/lab.h"
#include "../../engine/report/launch.h"
#include "../../engine/report/words/vocabulary.h"

#include "../check.h"

static const struct launch_limits limits = {
    .grid = {8, 8, 8}, .block = {64, 64, 64}, .threads = 64, .shared = 1024};

/* Without blocks, without threads, too many threads, too many blocks. */
static const struct finding_launch refused[] = {
    {.grid = {0, 1, 1}, .block = {16, 1, 1}},
    {.grid = {1, 1, 1}, .block = {0, 1, 1}},
    {.grid = {1, 1, 1}, .block = {65, 1, 1}},
    {.grid = {9, 1, 1}, .block = {16, 1, 1}},
};
enum { REFUSED = sizeof refused / sizeof *refused };

static void check_hints(const struct vocabulary *words) {
    const char *const hints[] = {words->no_blocks, words->no_threads, words->many_threads,
                                 words->many_blocks};
    for (int i = 0; i < REFUSED; i++) {
        char text[MESSAGE_SIZE];
        CHECK_STRING(launch_refusal(&refused[i], &limits, text), hints[i]);
    }
}

TEST(with_a_lab_it_is_in_the_labs_words) {
    const struct vocabulary *own = vocabulary();
    CHECK_STRING(own->array, "array");
    check_hints(own);
    vocabulary_use(&lab.words);
    CHECK_STRING(vocabulary()->phase, "tile phase");
    CHECK_STRING(vocabulary()->hints[FINDING_UNWRITTEN], lab.words.hints[FINDING_UNWRITTEN]);
    check_hints(&lab.words);
    vocabulary_use(&(struct vocabulary){.output = "c"}); /* the others are the engine's own */
    CHECK_STRING(vocabulary()->output, "c");
    CHECK_STRING(vocabulary()->phase, "phase");
    CHECK(!vocabulary()->hints[FINDING_UNWRITTEN]);
    check_hints(own);
    vocabulary_use(NULL);
    CHECK(vocabulary() == own);
    check_hints(own);
}

TEST(an_element_is_wrong_beyond_what_rounding_explains) {
    const float A[] = {1, 2, 3, 4}, B[] = {5, 6, 7, 8};
    float C[] = {19, 22, 43, 50};
    const void *const arrays[LAB_ARRAYS] = {A, B, C};
    const struct shape two = {{2, 2, 2}};
    double right = 0;
    for (int i = 0; i < 4; i++) CHECK(!lab_truth.is_wrong(&two, arrays, i, &right));
    CHECK(right == 50);
    C[1] = 22.00001f;
    CHECK(lab_truth.is_wrong(&two, arrays, 1, &right) && right == 22);
    CHECK(!lab_truth.is_wrong(&two, arrays, 2, &right) && right == 43);
}
