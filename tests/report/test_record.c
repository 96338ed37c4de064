/* Tests of engine/report/: what a finding's words are made of, and that no bytes of another
 * process's make them, or JSON, do what they must not. */
#include "../../engine/report/record/finding.c"
#include "../../engine/report/words/print.h"

#include "../check.h"
#include "example.h"
#include <stdlib.h>

/* --- random bytes ----------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next(void) { /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t below(uint64_t limit) { return next() % limit; }

/* Numbers that bounds lie at, more often than others. */
static int64_t odd_number(void) {
    static const int64_t odd[] = {0,         1,         -1,        255,       1025,      INT32_MAX,
                                  INT32_MIN, INT64_MAX, INT64_MIN, 1ll << 31, 1ll << 32, 1ll << 62};
    return below(4) ? odd[below(sizeof odd / sizeof *odd)] : (int64_t)next();
}

/* One to eight places of it are others. */
static void mutate(struct finding *f) {
    unsigned char *bytes = (unsigned char *)f;
    for (uint64_t i = below(8) + 1; i > 0; i--) {
        const int64_t number = odd_number();
        const size_t width = (size_t[]){1, 4, 8}[below(3)];
        memcpy(bytes + below(sizeof *f / width) * width, &number, width);
    }
}

/* Everything that is done with a record that has been taken. */
static void use(const struct finding *f) {
    static FILE *nowhere;
    struct finding_words words;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    struct json json = {nowhere, false};
    finding_say(f, &words);
    CHECK(memchr(words.what, '\0', sizeof words.what) && words.what[0]);
    CHECK(memchr(words.detail, '\0', sizeof words.detail));
    CHECK(memchr(words.hint, '\0', sizeof words.hint));
    for (const char *c = words.detail; *c; c++)
        CHECK_THAT(*c == '\n' || (*c >= ' ' && *c <= '~'), "%s", words.detail);
    json_open(&json, NULL, '{');
    json_words(&json, f, &words);
    json_parties(&json, f);
    json_launch(&json, &f->launch);
    json_slots(&json, f->slot);
    json_close(&json, '}');
    CHECK(finding_barrier_after(f) >= 0);
}

static struct finding any_example(void) {
    struct finding f = example((enum finding_kind)(1 + below(FINDING_KINDS - 1)));
    f.object.form = (enum finding_object_form)below(OBJECT_FORMS);
    return f;
}

/* Returns whether it was taken. */
static bool try(struct finding *f) {
    if (!finding_check(f)) {
        CHECK(f->kind == FINDING_NONE && !f->at.file[0] && !f->slot[0].name);
        return false;
    }
    use(f);
    struct finding again = *f;
    CHECK(finding_check(&again)); /* what is taken once is taken again, and is the same */
    CHECK(memcmp(&again, f, sizeof again) == 0);
    return true;
}

/* --- tests ------------------------------------------------------------------------------------ */

TEST(a_record_is_taken_as_it_is) {
    for (int kind = 1; kind < FINDING_KINDS; kind++) {
        struct finding f = example((enum finding_kind)kind), same = f;
        CHECK(try(&f));
        CHECK(memcmp(&f, &same, sizeof f) == 0);
    }
}

TEST(random_bytes_are_no_record) {
    state = 0x5EED;
    for (int i = 0; i < 2000; i++) {
        struct finding f;
        for (size_t at = 0; at + 8 <= sizeof f; at += 8) {
            const uint64_t bytes = next();
            memcpy((char *)&f + at, &bytes, 8);
        }
        CHECK(!finding_check(&f) && f.kind == FINDING_NONE);
    }
}

TEST(changed_bytes_do_no_harm) {
    int taken = 0;
    state = 0x5EED;
    for (int i = 0; i < 30000; i++) {
        struct finding f = any_example();
        mutate(&f);
        taken += try(&f);
    }
    CHECK_THAT(taken > 1000 && taken < 29000, "%d taken", taken);
}

TEST(any_slots_do_no_harm) {
    int taken = 0;
    state = 0x5EED;
    for (int i = 0; i < 100000; i++) {
        struct finding f = any_example();
        for (int at = 0, count = (int)below(6); at < count; at++)
            f.slot[at] = (struct finding_slot){(enum slot_name)below(SLOTS + 1), odd_number()};
        taken += try(&f);
    }
    CHECK_THAT(taken > 5000, "%d taken", taken);
}

static bool slot_is_taken(enum slot_name name, int64_t value) {
    struct finding f = example(FINDING_SHARED_RACE);
    f.slot[0] = (struct finding_slot){name, value};
    return finding_check(&f);
}

TEST(each_slot_has_the_values_of_its_type) {
    static const struct {
        enum slot_name name;
        int64_t taken, refused;
    } rows[] = {
        {SLOT_OVERWRITTEN, 1, 2},
        {SLOT_BARRIER_AFTER, 1, 0},
        {SLOT_BARRIER_AFTER, 1, 1ll << 31},
        {SLOT_COUNT, 0, -1},
        {SLOT_ROW_WORDS, 1, 0},
        {SLOT_UNSTORED, UNSTORED_SOME, UNSTORED_KINDS},
        {SLOT_WRAPPED, WRAPPED_BYTES, WRAPPED_BYTES + 1},
        {SLOT_FAULT, FAULTS - 1, FAULTS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_THAT(slot_is_taken(rows[i].name, rows[i].taken), "row %zu", i);
        CHECK_THAT(!slot_is_taken(rows[i].name, rows[i].refused), "row %zu", i);
    }
    CHECK(slot_is_taken(SLOT_INDEX, INT64_MIN));
    CHECK(!slot_is_taken(SLOTS, 1) && !slot_is_taken((enum slot_name) - 1, 1));
}

/* Where this is done to a record of a race. */
#define CHECK_REFUSED(change)                                                                      \
    do {                                                                                           \
        struct finding f = example(FINDING_SHARED_RACE);                                           \
        change;                                                                                    \
        CHECK_THAT(!finding_check(&f), "taken: %s", #change);                                      \
    } while (0)

TEST(what_is_out_of_range_is_refused) {
    const struct finding_slot atomic = {SLOT_ATOMIC, 1};
    CHECK_REFUSED(f.kind = FINDING_KINDS);
    CHECK_REFUSED(f.kind = (enum finding_kind) - 1);
    CHECK_REFUSED(f.at.access = (enum finding_access)3);
    CHECK_REFUSED(f.object.form = OBJECT_FORMS);
    CHECK_REFUSED(f.object.dimensions = FINDING_DIMENSIONS + 1);
    CHECK_REFUSED(f.object.extent[0] = -35);
    CHECK_REFUSED(f.object.extent[0] = f.object.extent[1] = 1ll << 40); /* too many elements */
    CHECK_REFUSED(f.launch.extent[0] = 0);
    CHECK_REFUSED(f.block_size.x = 1025);
    CHECK_REFUSED(f.block_size.y = 0);
    CHECK_REFUSED(threads_add(&f.elsewhere, 256)); /* of 256 */
    CHECK_REFUSED(f.phase = -1);
    CHECK_REFUSED(f.phase = f.phases);
    CHECK_REFUSED(f.slot[0] = f.slot[1] = atomic); /* twice */
    CHECK_REFUSED(f.slot[1] = atomic);             /* behind the last */
    CHECK_REFUSED(memset(&f.other.known, 77, 1));  /* an odd bool */
}

TEST(a_name_that_is_none_is_empty) {
    static const char *const none[] = {"a\nb", "\33[31m", "<b>\"",    "a\\b",
                                       "`a`",  "$(a)",    "\xC3\xA4", "a;b"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct finding f = example(FINDING_FAILED_CALL);
        strcpy(f.object.name, none[i]);
        strcpy(f.at.file, none[i]);
        strcpy(f.launch.kernel, none[i]);
        strcpy(f.named, none[i]);
        CHECK(finding_check(&f));
        CHECK_THAT(!f.object.name[0] && !f.at.file[0] && !f.at.line && !f.launch.kernel[0] &&
                       !f.named[0],
                   "%s", none[i]);
    }
    struct finding f = example(FINDING_SHARED_RACE);
    memset(f.object.name, 'x', sizeof f.object.name); /* without an end */
    memset(f.at.function, 'x', sizeof f.at.function);
    CHECK(finding_check(&f) && !f.object.name[0] && !f.at.function[0]);
}

TEST(names_of_the_language_are_names) {
    static const char *const names[] = {
        "A_s", "ns::f<int, 4>", "(anonymous namespace)::f(int*)", "p->data", "rows[i + 1]", "~T",
        "a.b", "dir/kernel.cu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct finding f = example(FINDING_FAILED_CALL);
        strcpy(f.named, names[i]);
        CHECK(finding_check(&f));
        CHECK_STRING(f.named, names[i]);
    }
}

static struct finding_words words_of(struct finding *f) {
    struct finding_words words;
    CHECK(finding_check(f));
    finding_say(f, &words);
    return words;
}

TEST(an_array_has_the_extent_of_its_type) {
    struct finding f = example(FINDING_SHARED_OUT_OF_BOUNDS);
    strcpy(f.named, "'float [16][17]'"); /* as compilers write it */
    slot_set(f.slot, SLOT_INDEX, 16);
    CHECK_STRING(words_of(&f).what, "index 16 into a shared array whose indices are 0 to 15");
}

TEST(an_allocation_of_no_whole_elements_has_bytes) {
    struct finding f = example(FINDING_OUT_OF_BOUNDS);
    f.object = (struct finding_object){
        .form = OBJECT_POINTED_TO, .name = "sums", .dimensions = 1, .bytes = 5, .element_bytes = 4};
    slot_set(f.slot, SLOT_ADDRESS, 1 << 20);
    CHECK(strstr(words_of(&f).detail, ", but sums has 5 bytes"));
    f.object.bytes = 8;
    CHECK(strstr(words_of(&f).detail, ", but sums has 2 elements"));
}

TEST(of_a_long_path_the_end_is_said) {
    struct finding f = example(FINDING_SHARED_RACE);
    for (int i = 0; i < 20; i++) strcpy(f.other.file + 20 * i, "/home/me/my programs");
    strcat(f.other.file, "/atomics.cu");
    CHECK(strstr(words_of(&f).detail, "stores at ...") &&
          strstr(words_of(&f).detail, "/atomics.cu:14, with no"));
    f.object = (struct finding_object){
        .form = OBJECT_ALLOCATED, .bytes = 4000000, .byte = 3999999, .line = 12345};
    strcpy(f.object.file, f.other.file);
    CHECK(strstr(words_of(&f).detail, "/atomics.cu:12345, which"));
    strcpy(f.other.file,
           "/home/me/programs of the course on parallel programming/week 7/atomics.cu");
    CHECK(strstr(words_of(&f).detail, f.other.file));
}

TEST(what_is_asserted_may_be_a_condition) {
    struct finding f = example(FINDING_KERNEL_FAULT);
    strcpy(f.named, "i < n && p[i] != 0");
    slot_set(f.slot, SLOT_FAULT, FAULT_ASSERTION);
    CHECK_STRING(words_of(&f).what, "the assertion i < n && p[i] != 0 failed");
    strcpy(f.named, "\33[31m");
    CHECK_STRING(words_of(&f).what, "an assertion of the kernel failed");
}

TEST(words_are_of_the_record_alone) {
    struct finding f = example(FINDING_SHARED_RACE);
    struct finding_words words, again;
    memset(&again, 0x55, sizeof again);
    slot_set(f.slot, SLOT_BARRIER_BEFORE, 20);
    slot_set(f.slot, SLOT_BARRIER_AFTER, 17);
    finding_say(&f, &words);
    finding_say(&f, &again);
    CHECK(memcmp(&words, &again, sizeof words) == 0);
    CHECK_STRING(words.what, "race on shared memory");
    CHECK_STRING(
        words.detail,
        "thread (1,2) reads A_s[35][3], which thread (3,2) stores at kernel.cu:14, with no "
        "__syncthreads() in between\na __syncthreads() is missing after line 17, before line "
        "20");
    CHECK_INT(finding_barrier_after(&f), 19);
}

static struct finding_words words_of_unwritten(int64_t count) {
    struct finding f = {.kind = FINDING_UNWRITTEN};
    struct finding_words words;
    slot_set(f.slot, SLOT_OF, 700000);
    slot_set(f.slot, SLOT_COUNT, count);
    slot_set(f.slot, SLOT_ROW_FIRST, 0);
    slot_set(f.slot, SLOT_ROW_LAST, 11);
    slot_set(f.slot, SLOT_COLUMN_FIRST, 0);
    slot_set(f.slot, SLOT_COLUMN_LAST, 999);
    finding_say(&f, &words);
    return words;
}

/* An L of them has a rectangle around it, and is not that. */
TEST(unwritten_elements_are_within_a_rectangle_or_all_of_it) {
    const struct finding_words all = words_of_unwritten(12000), some = words_of_unwritten(9999);
    CHECK_STRING(all.what, "12,000 of the 700,000 elements of the result are never written");
    CHECK_STRING(all.detail, "they are all of rows 0 to 11, columns 0 to 999");
    CHECK_STRING(some.what, "9999 of the 700,000 elements of the result are never written");
    CHECK_STRING(some.detail, "they lie within rows 0 to 11, columns 0 to 999");
}

/* In two dimensions a kernel may count the other way. */
TEST(a_grid_suffices_in_each_direction) {
    struct finding f = {.kind = FINDING_UNWRITTEN, .launch = example(FINDING_LEAK).launch};
    struct finding_words words;
    f.launch.grid[1] = 3;
    finding_say(&f, &words);
    CHECK(strstr(words.hint, "if x counts its columns and y its rows. Does the kernel count"));
    f.launch.dimensions = 1;
    finding_say(&f, &words);
    CHECK(
        strstr(words.hint, "for each element of the result: which threads do not reach the store"));
}

TEST(a_launch_is_refused_alone) {
    struct finding_launch l = example(FINDING_LEAK).launch;
    char text[LAUNCH_TEXT];
    CHECK(finding_launch_check(&l));
    finding_launch_say(&l, text, sizeof text);
    CHECK_STRING(text,
                 "mysgemm<<<(3, 2), (16, 16)>>>: 48 x 32 threads (x, y); C has 20 columns and "
                 "35 rows; launch 2 of 3");
    l.dimensions = -1;
    CHECK(!finding_launch_check(&l) && !l.kernel[0]);
    finding_launch_say(&l, text, sizeof text);
    CHECK_STRING(text, "");
}
