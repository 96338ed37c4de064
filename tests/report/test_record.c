/* Tests of engine/report/: what a finding's words are made of, and that no bytes of another
 * process's make them, or JSON, do what they must not. */
#include "../../engine/report/record/finding.c"
#include "../../engine/report/words/print.h"
#include "../../engine/report/words/threads.h"

#include "../check.h"
#include <stdlib.h>

/* --- records ---------------------------------------------------------------------------------- */

/* One of each kind, in which everything that any kind looks at is set. */
static struct finding complete(enum finding_kind kind) {
    struct finding f = {.kind = kind,
                        .at = {.known = true, .in_kernel = true, .line = 12},
                        .other = {.known = true, .in_kernel = true, .line = 14},
                        .block_size = {16, 16, 1},
                        .grid_size = {3, 2, 1},
                        .phase = 1,
                        .phases = 3};
    strcpy(f.at.file, "kernel.cu");
    strcpy(f.at.function, "mysgemm");
    strcpy(f.other.file, "kernel.cu");
    f.at.access = FINDING_READ;
    f.other.access = FINDING_WRITE;
    f.object = (struct finding_object){
        .form = OBJECT_ARRAY, .name = "C", .dimensions = 2, .extent = {35, 20}, .index = {35, 3}};
    f.launch = (struct finding_launch){.kernel = "mysgemm",
                                       .grid = {3, 2, 1},
                                       .block = {16, 16, 1},
                                       .file = "kernel.cu",
                                       .line = 40,
                                       .number = 2,
                                       .of = 3,
                                       .output = "C",
                                       .dimensions = 2,
                                       .extent = {35, 20}};
    for (unsigned i = 0; i < 256; i++) threads_add(i < 32 ? &f.waiting : &f.returned, i);
    strcpy(f.named, "float [16][16]");
    return f;
}

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
    static const int64_t odd[] = {
        0,         1,         -1,        2,         16,        255,
        1024,      1025,      INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
        1ll << 31, 1ll << 32, 1ll << 62, -32768,    0x7FF8ll,  0x7FF8ll << 48,
        4096};
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

/* Slots as no finding has them together. */
static void mutate_slots(struct finding *f) {
    for (int i = 0; i < FINDING_SLOTS; i++)
        f->slot[i] = (struct finding_slot){(enum slot_name)below(SLOTS + 1), odd_number()};
}

static FILE *nowhere;

/* Everything that is done with a record that has been taken. */
static void use(const struct finding *f) {
    struct finding_words words;
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
    nowhere = fopen("/dev/null", "w");
    for (int kind = 1; kind < FINDING_KINDS; kind++) {
        struct finding f = complete((enum finding_kind)kind), same = f;
        CHECK(try(&f));
        CHECK(memcmp(&f, &same, sizeof f) == 0);
    }
    fclose(nowhere);
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
    nowhere = fopen("/dev/null", "w");
    int taken = 0, refused = 0;
    state = 0x5EED;
    for (int i = 0; i < 30000; i++) {
        struct finding f = complete((enum finding_kind)(1 + below(FINDING_KINDS - 1)));
        f.object.form = (enum finding_object_form)below(OBJECT_FORMS);
        mutate(&f);
        if (try(&f))
            taken++;
        else
            refused++;
    }
    fclose(nowhere);
    CHECK_THAT(taken > 1000 && refused > 1000, "%d taken, %d refused", taken, refused);
}

TEST(any_slots_do_no_harm) {
    nowhere = fopen("/dev/null", "w");
    int taken = 0;
    state = 0x5EED;
    for (int i = 0; i < 100000; i++) {
        struct finding f = complete((enum finding_kind)(1 + below(FINDING_KINDS - 1)));
        f.object.form = (enum finding_object_form)below(OBJECT_FORMS);
        mutate_slots(&f);
        for (uint64_t from = below(6), at = from; at < FINDING_SLOTS; at++)
            f.slot[at] = (struct finding_slot){SLOT_NONE, 0};
        taken += try(&f);
    }
    fclose(nowhere);
    CHECK_THAT(taken > 5000, "%d taken", taken);
}

TEST(each_slot_has_the_values_of_its_type) {
    static const struct {
        enum slot_name name;
        int64_t value;
        bool taken;
    } rows[] = {
        {SLOT_OVERWRITTEN, 1, true},
        {SLOT_OVERWRITTEN, 2, false},
        {SLOT_BARRIER_AFTER, 1, true},
        {SLOT_BARRIER_AFTER, 0, false},
        {SLOT_BARRIER_AFTER, 1ll << 31, false},
        {SLOT_COUNT, 0, true},
        {SLOT_COUNT, -1, false},
        {SLOT_ROW_WORDS, 1, true},
        {SLOT_ROW_WORDS, 0, false},
        {SLOT_INDEX, INT64_MIN, true},
        {SLOT_UNSTORED, UNSTORED_SOME, true},
        {SLOT_UNSTORED, UNSTORED_KINDS, false},
        {SLOT_WRAPPED, WRAPPED_BYTES, true},
        {SLOT_WRAPPED, WRAPPED_BYTES + 1, false},
        {SLOT_FAULT, FAULTS - 1, true},
        {SLOT_FAULT, FAULTS, false},
        {SLOTS, 1, false},
        {(enum slot_name) - 1, 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct finding f = complete(FINDING_SHARED_RACE);
        f.slot[0] = (struct finding_slot){rows[i].name, rows[i].value};
        CHECK_THAT(finding_check(&f) == rows[i].taken, "row %zu", i);
    }
}

static bool is_taken(void (*change)(struct finding *f)) {
    struct finding f = complete(FINDING_SHARED_RACE);
    change(&f);
    return finding_check(&f);
}

static void no_kind(struct finding *f) { f->kind = FINDING_NONE; }
static void unknown_kind(struct finding *f) { f->kind = FINDING_KINDS; }
static void negative_kind(struct finding *f) { f->kind = (enum finding_kind) - 1; }
static void unknown_access(struct finding *f) { f->at.access = (enum finding_access)3; }
static void unknown_form(struct finding *f) { f->object.form = OBJECT_FORMS; }
static void many_dimensions(struct finding *f) { f->object.dimensions = FINDING_DIMENSIONS + 1; }
static void no_extent(struct finding *f) { f->object.extent[1] = 0; }
static void negative_extent(struct finding *f) { f->object.extent[0] = -35; }
static void too_many_elements(struct finding *f) {
    f->object.extent[0] = f->object.extent[1] = 1ll << 40;
}
static void no_launch_extent(struct finding *f) { f->launch.extent[0] = 0; }
static void block_too_large(struct finding *f) { f->block_size.x = 1025; }
static void block_of_many(struct finding *f) { f->block_size.z = 1 << 30; }
static void thread_outside(struct finding *f) { threads_add(&f->elsewhere, 256); }
static void no_block(struct finding *f) { f->block_size.y = 0; }
static void negative_phase(struct finding *f) { f->phase = -1; }
static void phase_beyond(struct finding *f) { f->phase = f->phases; }
static void slot_twice(struct finding *f) {
    f->slot[0] = f->slot[1] = (struct finding_slot){SLOT_ATOMIC, 1};
}
static void slot_behind_the_last(struct finding *f) {
    f->slot[1] = (struct finding_slot){SLOT_ATOMIC, 1};
}
static void odd_bool(struct finding *f) { memset(&f->other.known, 77, 1); }

TEST(what_is_out_of_range_is_refused) {
    static void (*const changes[])(struct finding * f) = {
        no_kind,         unknown_kind,  negative_kind,        unknown_access,    unknown_form,
        many_dimensions, no_extent,     negative_extent,      too_many_elements, no_launch_extent,
        block_too_large, block_of_many, thread_outside,       no_block,          negative_phase,
        phase_beyond,    slot_twice,    slot_behind_the_last, odd_bool};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        CHECK_THAT(!is_taken(changes[i]), "change %zu is taken", i);
}

TEST(a_name_that_is_none_is_empty) {
    static const char *const none[] = {"a\nb",     "\33[31m", "<b>\"", "a\\b", "`a`", "$(a)",
                                       "\xC3\xA4", "a;b",     "a#b",   "{a}",  "a=b"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct finding f = complete(FINDING_FAILED_CALL);
        strcpy(f.object.name, none[i]);
        strcpy(f.at.file, none[i]);
        strcpy(f.launch.kernel, none[i]);
        strcpy(f.named, none[i]);
        CHECK(finding_check(&f));
        CHECK_THAT(!f.object.name[0] && !f.at.file[0] && !f.at.line && !f.launch.kernel[0] &&
                       !f.named[0],
                   "%s", none[i]);
    }
}

TEST(names_of_the_language_are_names) {
    static const char *const names[] = {
        "A_s", "ns::f<int, 4>", "(anonymous namespace)::f(int*)", "p->data", "rows[i + 1]", "~T",
        "a.b", "dir/kernel.cu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct finding f = complete(FINDING_FAILED_CALL);
        strcpy(f.named, names[i]);
        CHECK(finding_check(&f));
        CHECK_STRING(f.named, names[i]);
    }
}

TEST(an_array_has_the_extent_of_its_type) {
    struct finding f = complete(FINDING_SHARED_OUT_OF_BOUNDS);
    struct finding_words words;
    strcpy(f.named, "'float [16][17]'"); /* as compilers write it */
    slot_set(f.slot, SLOT_INDEX, 16);
    CHECK(finding_check(&f));
    finding_say(&f, &words);
    CHECK_STRING(words.what, "index 16 into a shared array whose indices are 0 to 15");
}

TEST(an_allocation_of_no_whole_elements_has_bytes) {
    struct finding f = complete(FINDING_OUT_OF_BOUNDS);
    struct finding_words words;
    f.object = (struct finding_object){.form = OBJECT_POINTED_TO, .name = "sums", .dimensions = 1};
    f.object.bytes = 5, f.object.element_bytes = 4;
    slot_set(f.slot, SLOT_ADDRESS, 1 << 20);
    CHECK(finding_check(&f));
    finding_say(&f, &words);
    CHECK_THAT(strstr(words.detail, ", but sums has 5 bytes"), "%s", words.detail);
    f.object.bytes = 8;
    finding_say(&f, &words);
    CHECK_THAT(strstr(words.detail, ", but sums has 2 elements"), "%s", words.detail);
}

TEST(a_text_without_an_end_is_empty) {
    struct finding f = complete(FINDING_SHARED_RACE);
    memset(f.object.name, 'x', sizeof f.object.name);
    memset(f.at.function, 'x', sizeof f.at.function);
    CHECK(finding_check(&f));
    CHECK(!f.object.name[0] && !f.at.function[0]);
}

TEST(what_is_asserted_may_be_a_condition) {
    struct finding f = complete(FINDING_KERNEL_FAULT);
    struct finding_words words;
    strcpy(f.named, "i < n && p[i] != 0");
    slot_set(f.slot, SLOT_FAULT, FAULT_ASSERTION);
    CHECK(finding_check(&f));
    finding_say(&f, &words);
    CHECK_STRING(words.what, "the assertion i < n && p[i] != 0 failed");
    strcpy(f.named, "\33[31m");
    CHECK(finding_check(&f));
    finding_say(&f, &words);
    CHECK_STRING(words.what, "an assertion of the kernel failed");
}

TEST(words_are_of_the_record_alone) {
    struct finding f = complete(FINDING_SHARED_RACE);
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
        "thread (0,0) reads C[35][3], which thread (0,0) stores at kernel.cu:14, with no "
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

TEST(a_launch_is_refused_alone) {
    struct finding_launch l = complete(FINDING_LEAK).launch;
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
