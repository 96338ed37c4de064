/* Tests of engine/form/cause.c and sentences.c: a cause says what its rows
 * say, and no bytes of another process's make it say anything else. */
#include "../../lab/mistakes/situation.h"

#include "../check.h"
#include <stdlib.h>

#define SAY(...) SENTENCES_ADD(&cause.said, &lab_lessons.sentences, __VA_ARGS__)

static struct cause complete(void) {
    struct cause cause = {.kind = CAUSE_ROW_LENGTH,
                          .file = "kernel.cu",
                          .line = 26,
                          .shape = {{37, 29, 53}}}; /* m, n, k */
    SAY(ROW_LENGTH, W("A"), W("k"), W("n"));
    SAY(ROW_MAJOR, W("loads A[(16 * blockIdx.y + threadIdx.y) * n + threadIdx.x % 16]"), W("A"),
        W("m"), W("k"), W("A"));
    return cause;
}

TEST(it_says_what_its_rows_say) {
    struct cause cause = complete();
    struct finding_words words;
    CHECK(cause_check(&cause));
    cause_say(&cause, &words);
    CHECK_STRING(words.what, "a row of A has k elements, but here rows are n elements apart");
    CHECK_STRING(words.detail, "loads A[(16 * blockIdx.y + threadIdx.y) * n + threadIdx.x % 16]\n"
                               "A is m x k, row-major\n(from a run with m=37 k=53 n=29)");
    CHECK_STRING(words.hint, "where does the next row of A begin?");
}

TEST(numbers_and_words_stay_in_order) {
    struct cause cause = {.kind = CAUSE_TILE_SIZE};
    struct finding_words words;
    SAY(TILE_TOO_SMALL, W("A_s"), W((size_t)16), W(8), W(32u), W(1ll));
    SAY(NOT_STORED, W("A_s"), W("B_s"));
    SAY(THREADS_ARE, W("loads A[0]"), W(31), W(0));
    CHECK(cause_check(&cause));
    cause_say(&cause, &words);
    CHECK_STRING(words.what, "A_s[16][8] is too small for blocks of 32 x 1 threads"
                             "no thread stores any element of A_s, which is read here");
    CHECK_STRING(words.detail, "loads A[0]\nthreadIdx.x is 0 to 31, threadIdx.y 0 to 0");
    CHECK_STRING(words.hint, "which line should fill B_s, and is it reached?");
}

TEST(what_has_no_room_is_left_out) {
    struct cause cause = {.kind = CAUSE_TILE_SIZE};
    struct finding_words words;
    char text[SENTENCES_TEXT / 2 + 1];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < 3; i++) SAY(ACCESS, W(text));
    CHECK_INT(cause.said.count, 1);
    for (int i = 0; i < 2 * SENTENCES_SAID; i++) SAY(EXISTS);
    CHECK_INT(cause.said.count, SENTENCES_SAID);
    CHECK(cause_check(&cause));
    cause_say(&cause, &words);
}

/* Where this is done to a cause. */
#define CHECK_REFUSED(change)                                                                      \
    do {                                                                                           \
        struct cause cause = complete(), *c = &cause;                                              \
        change;                                                                                    \
        CHECK_THAT(!cause_check(c), "taken: %s", #change);                                         \
        CHECK(c->kind == CAUSE_NONE && !c->said.count && !c->line);                                \
    } while (0)

TEST(what_no_row_says_is_refused) {
    CHECK_REFUSED(c->kind = CAUSES);
    CHECK_REFUSED(c->line = -1);
    CHECK_REFUSED(memset(c->file, 'x', sizeof c->file)); /* without an end */
    CHECK_REFUSED(strcpy(c->file, "\33[31m"));
    CHECK_REFUSED(c->shape.of[2] = -1);
    CHECK_REFUSED(memset(&c->shows_launch, 9, 1)); /* an odd bool */
    CHECK_REFUSED(c->said.count = SENTENCES_SAID + 1);
    CHECK_REFUSED(c->said.numbers = -1);
    CHECK_REFUSED(c->said.bytes = SENTENCES_TEXT + 1);
    CHECK_REFUSED(c->said.row[1] = lab_lessons.sentences.count);
    CHECK_REFUSED(c->said.row[1] = -1);
    CHECK_REFUSED(c->said.row[0] = SAY_ROW_MAJOR);   /* which has more words */
    CHECK_REFUSED(c->said.row[1] = SAY_THREADS_ARE); /* which has numbers */
    CHECK_REFUSED(c->said.count--);                  /* more text than rows */
    CHECK_REFUSED(c->said.text[1] = ' ');            /* a sentence for a word */
    CHECK_REFUSED(c->said.text[10] = '\33');
}

TEST(texts_are_among_the_details_alone) {
    for (int i = 0; i < lab_lessons.sentences.count; i++) {
        const struct sentence_row *row = &lab_lessons.sentences.rows[i];
        const char *what = row->part[SENTENCE_WHAT], *hint = row->part[SENTENCE_HINT];
        CHECK_THAT(!strstr(what, "%t") && !strstr(hint, "%t"), "%s", what);
    }
}

TEST(an_explanations_hint_is_not_believed) {
    struct cause cause = complete();
    struct finding_words words;
    strcpy(cause.hint, "you are great");
    CHECK(cause_check(&cause));
    cause_say(&cause, &words);
    CHECK_STRING(words.hint, "where does the next row of A begin?");
}

/* --- random bytes ----------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next(void) { /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* One to six places of it are others: of the numbers that bounds lie at, or any. */
static void mutate(struct cause *cause) {
    static const int64_t odd[] = {0, 1, -1, 2, 20, 48, 1600, INT32_MAX, INT32_MIN, INT64_MAX};
    const size_t head = offsetof(struct cause, said), tail = offsetof(struct cause, hint) - head;
    for (uint64_t i = next() % 6 + 1; i > 0; i--) {
        const int64_t number = next() % 2 ? odd[next() % 10] : (int64_t)next();
        const size_t width = (size_t[]){1, 4, 8}[next() % 3];
        const size_t at = next() % 4 ? head + next() % tail : next() % sizeof *cause;
        memcpy((char *)cause + at / width * width % (sizeof *cause - 8), &number, width);
    }
}

TEST(changed_bytes_do_no_harm) {
    int taken = 0;
    state = 0x5EED;
    for (int i = 0; i < 200000; i++) {
        struct cause cause = complete();
        struct finding_words words;
        mutate(&cause);
        if (!cause_check(&cause)) continue;
        taken++;
        cause_say(&cause, &words);
        CHECK(memchr(words.what, '\0', sizeof words.what));
        CHECK(memchr(words.detail, '\0', sizeof words.detail));
        CHECK(memchr(words.hint, '\0', sizeof words.hint));
    }
    CHECK_THAT(taken > 1000, "%d taken", taken);
}

TEST(random_bytes_are_no_cause) {
    state = 0x5EED;
    for (int i = 0; i < 5000; i++) {
        struct cause cause;
        for (size_t at = 0; at + 4 <= sizeof cause; at += 4) {
            const uint64_t bytes = next();
            memcpy((char *)&cause + at, &bytes, 4);
        }
        cause.kind = CAUSE_ROW_LENGTH;
        CHECK(!cause_check(&cause));
    }
}
