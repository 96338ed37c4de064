/* Tests of what ./clock does without a GPU: the recording (what is written is read back, and
 * whatever else is read does no harm: the text comes out of a process that a submission shares),
 * the plan made of it, the judgement, and the process in which it is replayed. Each is one promise
 * of a header in grader/clock. */
#define _GNU_SOURCE /* open_memstream */
#include "../../../grader/clock/judgement.c"
#include "../../../grader/clock/plan.c"
#include "../../../grader/clock/player.c"
#include "../../../grader/clock/recording.c"
#include "../../../grader/clock/samples.c"

#include "../../check.h"

#include <ctype.h>
#include <sys/wait.h>

/* ---- what is written is read ---- */

static char whole[] =
    "sgemm recording 1\n"
    "product 8 4 16\n"
    "allocate 3 4096\n"
    "set 3 0 1024 1000 4 255\n"
    "copy 3 16 128 0 0 64 64 2\n"
    "write 3 8 00010203ffffffff0000000000000000000000000000000000ff 8=1+12 16=3+0\n"
    "variable _ZL9constants 4 0a0b\n"
    "carveout _Z7mysgemmiii 50\n"
    "launch _Z7mysgemmiii 2 3 4 32 8 1 49152 0100000000000000 0=2+128\n"
    "launch no.parameters$1 1 1 1 1 1 1 0 -\n"
    "end\n";

static struct recording *reading(const char *text, size_t size, const char *part) {
    char reason[REASON_SIZE] = "";
    struct recording *recording = recording_read(text, size, reason);
    if (!part) CHECK_THAT(recording, "%s", reason);
    if (!part) return recording;
    CHECK_THAT(!recording, "'%.40s' was accepted", text);
    CHECK_THAT(strstr(reason, part), "'%s' does not say '%s'", reason, part);
    return NULL;
}

static struct recording *good(const char *text) { return reading(text, strlen(text), NULL); }

/* `part` of the reason, for a recording with this one step. */
static void bad(const char *step, const char *part) {
    char text[4096];
    snprintf(text, sizeof text, RECORDING_FIRST_LINE "\nproduct 1 2 3\n%s\nend\n", step);
    reading(text, strlen(text), part);
}

static void write_again(FILE *out, const struct recording *r) {
    recording_begin(out, r->m, r->n, r->k);
    for (int i = 0; i < r->count; i++) recording_step(out, &r->steps[i]);
    if (r->end == RECORDING_ENDED) recording_end(out);
    if (r->end == RECORDING_STOPPED) recording_stop(out, r->state, r->reason);
}

static void check_round_trip(const char *text, const char *expected) {
    char *again;
    size_t size;
    struct recording *recording = good(text);
    FILE *out = open_memstream(&again, &size);
    write_again(out, recording);
    fclose(out);
    recording_free(recording);
    CHECK_STRING(again, expected);
    free(again);
}

/* Where a pointer is, bytes say nothing. */
TEST(what_is_written_is_read) {
    char expected[sizeof whole];
    memcpy(expected, whole, sizeof whole);
    char *pointer = strstr(expected, "0100000000000000 0=");
    memcpy(pointer, "00", 2);
    check_round_trip(whole, expected);
}

TEST(each_field_has_its_place) {
    struct recording *r = good(whole);
    CHECK_INT(r->m, 8);
    CHECK_INT(r->k, 4);
    CHECK_INT(r->n, 16);
    CHECK_INT(r->count, 8);
    CHECK_INT(r->end, RECORDING_ENDED);
    const struct step *copy = &r->steps[2], *launch = &r->steps[6], *write = &r->steps[3];
    CHECK(copy->kind == STEP_COPY && copy->to.buffer == 3 && copy->to.offset == 16);
    CHECK(copy->to.pitch == 128 && copy->from.buffer == 0 && copy->from.pitch == 64);
    CHECK(copy->width == 64 && copy->height == 2);
    CHECK(launch->kind == STEP_LAUNCH && launch->grid[1] == 3 && launch->block[0] == 32);
    CHECK_INT(launch->shared, 49152);
    CHECK_STRING(launch->name, "_Z7mysgemmiii");
    CHECK_INT(launch->data.pointer_count, 1);
    CHECK_INT(launch->data.pointers[0].offset, 128);
    CHECK(write->data.size == 26 && write->data.pointers[1].at == 16);
    CHECK_INT(write->data.bytes[3], 3);
    CHECK_INT(r->steps[1].value, 255);
    recording_free(r);
}

TEST(a_stop_is_read) {
    const char *text = RECORDING_FIRST_LINE "\nproduct 1 2 3\nstopped refused a stream: no\n";
    struct recording *r = good(text);
    CHECK_INT(r->end, RECORDING_STOPPED);
    CHECK_INT(r->state, STATE_REFUSED);
    CHECK_STRING(r->reason, "a stream: no");
    recording_free(r);
    check_round_trip(text, text);
}

/* The recorder's process was ended: by the submission, or by a limit. */
TEST(no_end_is_seen) {
    struct recording *r = good(RECORDING_FIRST_LINE "\nproduct 1 2 3\nallocate 3 4\n");
    CHECK_INT(r->end, RECORDING_BROKEN);
    recording_free(r);
}

/* ---- what is refused ---- */

TEST(nothing_is_no_recording) { reading("", 0, "empty"); }

TEST(another_version_is_refused) {
    reading("sgemm recording 2\n", 18, "line 1 is not");
    reading("sgemm\n", 6, "line 1 is not");
}

TEST(a_cut_line_is_refused) {
    const size_t size = strlen(whole);
    reading(whole, size - 1, "cut off");
    reading(whole, size - 5, "line 10 is cut off");
}

/* One line each, and a part of the reason. */
TEST(malformed_lines_are_refused) {
    static const char *const lines[][2] = {
        {"allocate 3 18446744073709551616", "too large"},
        {"allocate 2147483648 1", "too large"},
        {"launch k 4294967296 1 1 1 1 1 0 -", "too large"},
        {"set 3 0 0 1 1 256", "too large"},
        {"carveout k 101", "too large"},
        {"allocate 3 -1", "lacks a number"},
        {"allocate 3 +1", "lacks a number"},
        {"allocate 3 0x10", "lacks a number"},
        {"allocate 3", "lacks a number"},
        {"allocate  3 4", "lacks a number"},
        {"allocate 3 4 5", "more words"},
        {"jump 3", "no known word"},
        {"", "no known word"},
        {"end", "after the end"},
        {"stopped machine it is the machine's fault", "no known reason"},
        {"stopped timed no", "no known reason"},
        {"launch a,b 1 1 1 1 1 1 0 -", "lacks a name"},
        {"launch \x1b[31m 1 1 1 1 1 1 0 -", "lacks a name"},
        {"launch  1 1 1 1 1 1 0 -", "lacks a name"},
        {"write 3 0 0 0", "lacks its bytes"},
        {"write 3 0", "lacks its bytes"},
        {"write 3 0 0g", "hexadecimal"},
        {"write 3 0 AB", "hexadecimal"},
        {"write 3 0 00112233445566 0=0+0", "no room"},
        {"write 3 0 - 0=0+0", "no room"},
        {"write 3 0 0011223344556677 1=0+0", "no room"},
        {"write 3 0 0011223344556677 4294967295=0+0", "no room"},
        {"write 3 0 00112233445566778899 0=0+0 2=0+0", "no room"},
        {"write 3 0 0011223344556677 0=0+0 0=0+0", "no room"},
        {"write 3 0 0011223344556677 0=0", "malformed pointer"},
        {"write 3 0 0011223344556677 =0+0", "malformed pointer"},
        {"write 3 0 0011223344556677 0=+0", "malformed pointer"},
        {"write 3 0 0011223344556677 0=0+", "malformed pointer"},
    };
    char long_name[RECORDING_NAME + 100] = "carveout ";
    for (int i = 0; i < LENGTH(lines); i++) bad(lines[i][0], lines[i][1]);
    memset(long_name + strlen(long_name), 'a', RECORDING_NAME);
    strcat(long_name, " 1");
    bad(long_name, "lacks a name");
}

TEST(the_largest_numbers_are_read) {
    struct recording *r = good(RECORDING_FIRST_LINE "\nproduct 2147483647 2 3\n"
                                                    "allocate 3 18446744073709551615\n");
    CHECK(r->m == INT32_MAX && r->steps[0].width == UINT64_MAX);
    recording_free(r);
}

TEST(steps_are_bounded) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    recording_begin(out, 1, 2, 3);
    for (int i = 0; i <= RECORDING_STEPS; i++) fputs("allocate 3 4\n", out);
    recording_end(out);
    fclose(out);
    reading(text, size, "one step too many");
    free(text);
}

TEST(size_is_bounded) {
    char byte = 0;
    reading(&byte, (size_t)RECORDING_BYTES + 1, "larger than"); /* and not a byte of it is read */
}

/* ---- plans: what is replayed ---- */

static struct judgement judgement;
static struct plan plan;

/* Planned for 8 x 4 times 4 x 16; the caller frees the recording. */
static struct recording *planned(const char *steps, bool expected) {
    char text[4096];
    snprintf(text, sizeof text, RECORDING_FIRST_LINE "\nproduct 8 4 16\n%s", steps);
    struct recording *recording = good(text);
    memset(&judgement, 0, sizeof judgement);
    const bool fine = plan_make(recording, 8, 16, 4, &plan, &judgement);
    CHECK_THAT(fine == expected, "'%s': '%s'", steps, judgement.reason);
    return recording;
}

#define LAUNCH "launch k 1 1 1 1 1 1 0 -\n"

/* These steps, followed by a launch, are refused in words that contain `part`. */
static void refused_in(enum state state, const char *part, const char *steps) {
    recording_free(planned(steps, false));
    CHECK_STRING(state_name(judgement.state), state_name(state));
    CHECK_THAT(strstr(judgement.reason, part), "'%s': '%s' does not say '%s'", steps,
               judgement.reason, part);
}

static void refused(const char *step, const char *part) {
    char text[2048];
    snprintf(text, sizeof text, "%s\n" LAUNCH "end\n", step);
    refused_in(STATE_REFUSED, part, text);
}

static void allowed(const char *steps) {
    char text[2048];
    snprintf(text, sizeof text, "%s\n" LAUNCH "end\n", steps);
    recording_free(planned(text, true));
}

TEST(a_plan_has_what_takes_time_in_order) {
    struct recording *r = planned("allocate 3 4096\nallocate 4 10\nset 3 0 4096 4096 1 0\n"
                                  "launch one 2 1 1 32 1 1 1000 0000000000000000 0=3+16\n"
                                  "launch two 1 1 1 1 1 1 0 -\ncarveout two 50\n"
                                  "launch one 1 1 1 1 1 1 2000 0000000000000000 0=2+0\nend\n",
                                  true);
    CHECK_INT(plan.buffer_count, 5);
    CHECK(plan.bytes[0] == 8 * 4 * 4 && plan.bytes[1] == 4 * 16 * 4 && plan.bytes[2] == 512);
    CHECK(plan.bytes[3] == 4096 && plan.bytes[4] == 10);
    CHECK_INT(plan.count, 4);
    CHECK(plan.steps[0]->kind == STEP_SET && plan.steps[2]->kind == STEP_LAUNCH);
    CHECK_INT(plan.kernel_count, 2);
    CHECK_INT(plan.kernel_of[3], plan.kernel_of[1]);
    CHECK_STRING(plan.kernels[plan.kernel_of[2]].name, "two");
    CHECK_INT(plan.kernels[plan.kernel_of[1]].shared, 2000);
    CHECK_INT(plan.kernels[plan.kernel_of[1]].carveout, -1);
    CHECK_INT(plan.kernels[plan.kernel_of[2]].carveout, 50);
    CHECK_INT(plan.launch_count, 3);
    CHECK_INT(judgement.launches, 3);
    recording_free(r);
}

/* ---- plans: what is refused ---- */

TEST(what_the_recorder_stopped_is_judged_so) {
    refused_in(STATE_REFUSED, "a stream of its own", "stopped refused a stream of its own\n");
    refused_in(STATE_FAULTED, "illegal", LAUNCH "stopped faulted an illegal address\n");
    refused_in(STATE_TIME_LIMIT, "time limit", LAUNCH "stopped time-limit its time limit\n");
}

TEST(ending_the_program_is_seen) { refused_in(STATE_REFUSED, "instead of returning", LAUNCH); }

TEST(another_product_is_refused) {
    struct recording *r = good(whole);
    CHECK(!plan_make(r, 8, 4, 16, &plan, &judgement));
    CHECK_THAT(strstr(judgement.reason, "another product"), "%s", judgement.reason);
    recording_free(r);
}

TEST(no_launch_is_refused) {
    refused_in(STATE_REFUSED, "launches no kernel", "set 2 0 512 512 1 0\nend\n");
}

TEST(allocations_are_bounded) {
    allowed("allocate 3 8589934592");
    refused("allocate 3 8589934593", "8 GiB");
    refused("allocate 3 4294967297\nallocate 4 4294967296", "8 GiB");
    refused("allocate 3 18446744073709551615", "8 GiB");
    refused("allocate 3 1\nallocate 4 18446744073709551615", "8 GiB");
    refused("allocate 3 0", "tampered");
    refused("allocate 4 1", "tampered");
    refused("allocate 0 1", "tampered");
}

TEST(buffers_are_bounded) {
    char steps[2048] = "";
    for (int i = MATRIX_COUNT; i <= PLAN_BUFFERS; i++)
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps), "%sallocate %d 1",
                 i > MATRIX_COUNT ? "\n" : "", i);
    refused(steps, "more than 61 times");
}

TEST(areas_stay_in_their_buffers) {
    static const char *const inside[] = {
        "set 2 0 512 512 1 0",          "set 2 500 12 12 1 0",
        "set 2 0 100 12 6 0",           "allocate 3 128\ncopy 3 0 16 0 0 16 16 8",
        "allocate 3 4\nwrite 3 2 0001",
    };
    static const char *const outside[][2] = {
        {"set 2 0 513 513 1 0", "cudaMemset"},
        {"set 2 501 12 12 1 0", "cudaMemset"},
        {"set 2 0 101 12 6 0", "cudaMemset"},
        {"set 2 1 100 12 6 0", "cudaMemset"},
        {"set 2 0 11 12 2 0", "cudaMemset"},
        {"set 2 18446744073709551615 2 2 1 0", "cudaMemset"},
        {"set 2 0 9223372036854775808 8 3 0", "cudaMemset"},
        {"set 2 0 12 12 18446744073709551615 0", "cudaMemset"},
        {"set 3 0 1 1 1 0", "cudaMemset"},
        {"set 2147483647 0 1 1 1 0", "cudaMemset"},
        {"allocate 3 127\ncopy 3 0 16 0 0 16 16 8", "copy on the device"},
        {"allocate 3 999\ncopy 3 0 16 0 1 16 16 8", "copy on the device"},
        {"copy 3 0 16 0 0 16 16 8", "copy on the device"},
        {"copy 2 0 16 3 0 16 16 8", "copy on the device"},
        {"allocate 3 4\nwrite 3 3 0001", "copy from the host"},
        {"allocate 3 4\nwrite 3 18446744073709551615 0001", "copy from the host"},
        {"write 3 0 00", "copy from the host"},
    };
    for (int i = 0; i < LENGTH(inside); i++) allowed(inside[i]);
    for (int i = 0; i < LENGTH(outside); i++) refused(outside[i][0], outside[i][1]);
}

TEST(little_is_written_from_the_host) {
    static char text[4 * PLAN_WRITTEN + 200];
    int length = sprintf(text, RECORDING_FIRST_LINE "\nproduct 8 4 16\nallocate 3 1000000\n"
                                                    "write 3 0 ");
    memset(text + length, '0', 2 * PLAN_WRITTEN);
    strcpy(text + length + 2 * PLAN_WRITTEN, "\nvariable v 0 00\n" LAUNCH "end\n");
    struct recording *r = good(text);
    CHECK(!plan_make(r, 8, 16, 4, &plan, &judgement));
    CHECK_THAT(strstr(judgement.reason, "64 KB"), "%s", judgement.reason);
    recording_free(r);
}

TEST(pointers_point_into_live_buffers) {
    const char *const pointer = "launch k 1 1 1 1 1 1 0 000000000000000000000000 ";
    const char *const into[] = {"0=0+128", "0=2+512", "0=1+0"}; /* one past the end is fine */
    const char *const outside[] = {"0=0+129", "0=3+0", "0=2+18446744073709551615", "4=0+0",
                                   "0=2147483647+0"};
    char text[200];
    for (int i = 0; i < LENGTH(into); i++) {
        snprintf(text, sizeof text, "%s%s", pointer, into[i]);
        allowed(text);
    }
    for (int i = 0; i < LENGTH(outside); i++) {
        snprintf(text, sizeof text, "%s%s", pointer, outside[i]);
        refused(text, "none of A, B, C");
    }
    refused("variable v 0 0000000000000000 0=3+0", "none of A, B, C");
    refused("allocate 3 8\nwrite 3 0 0000000000000000 0=4+0", "none of A, B, C");
}

TEST(launches_and_kernels_are_bounded) {
    char text[PLAN_LAUNCHES * sizeof LAUNCH + 200];
    int length = sprintf(text, RECORDING_FIRST_LINE "\nproduct 8 4 16\n");
    for (int i = 0; i <= PLAN_LAUNCHES; i++) length += sprintf(text + length, LAUNCH);
    strcpy(text + length, "end\n");
    struct recording *r = good(text);
    CHECK(!plan_make(r, 8, 16, 4, &plan, &judgement));
    CHECK_THAT(strstr(judgement.reason, "more than 256 kernels"), "%s", judgement.reason);
    recording_free(r);
    char steps[2000] = "";
    for (int i = 0; i <= PLAN_KERNELS; i++)
        snprintf(steps + strlen(steps), sizeof steps - strlen(steps), "%scarveout k%d 1",
                 i ? "\n" : "", i);
    refused(steps, "64 different kernels");
}

/* ---- any bytes ---- */

static uint64_t drawn;

static uint32_t draw(uint32_t below) { return (uint32_t)(random64(28, drawn++) % below); }

static const char *const pieces[] = {
    " ",        "\n",    "0",  "18446744073709551615", "=",          "+", "-", "launch ",
    "stopped ", "end\n", "ff", "4294967295",           "allocate 3", "9", "1"};

/* Another digit, so that the form stays. */
static void mutate_number(char *text, size_t size) {
    for (;;) {
        char *c = &text[draw((uint32_t)size)];
        if (!isdigit((unsigned char)*c)) continue;
        *c = (char)('0' + draw(10));
        return;
    }
}

/* Some digits become others; or some bytes, some are cut out, some pieces put in. */
static size_t mutate(char *text, size_t size, size_t room) {
    const bool numbers = draw(2);
    for (uint32_t changes = 1 + draw(4); changes; changes--) {
        if (numbers) {
            mutate_number(text, size);
            continue;
        }
        const size_t at = draw((uint32_t)size);
        const char *piece = pieces[draw(LENGTH(pieces))];
        const size_t cut = draw(2) ? 0 : draw(12), length = draw(2) ? strlen(piece) : 0;
        const size_t rest = size - at - min_size(cut, size - at);
        if (at + length + rest >= room || at + length + rest == 0) continue;
        memmove(text + at + length, text + size - rest, rest);
        memcpy(text + at, piece, length);
        size = at + length + rest;
        if (draw(4) == 0) text[draw((uint32_t)size)] = (char)draw(256);
    }
    return size;
}

__extension__ typedef unsigned __int128 wide;

/* Computed in another way than in plan.c. */
static void check_inside(const struct area *area, uint64_t width, uint64_t height) {
    CHECK(area->buffer >= 0 && area->buffer < plan.buffer_count);
    const wide end = (wide)area->offset + (wide)area->pitch * (height - 1) + width;
    CHECK(width > 0 && height > 0 && end <= plan.bytes[area->buffer]);
}

static void check_plan(void) {
    for (int i = 0; i < plan.count; i++) {
        const struct step *step = plan.steps[i];
        struct area to = step->to;
        if (step->kind == STEP_WRITE) check_inside(&to, step->data.size, 1);
        if (step->kind == STEP_SET || step->kind == STEP_COPY)
            check_inside(&to, step->width, step->height);
        if (step->kind == STEP_COPY) check_inside(&step->from, step->width, step->height);
        for (int j = 0; j < step->data.pointer_count; j++) {
            const struct pointer *p = &step->data.pointers[j];
            CHECK(p->at + 8 <= step->data.size && p->buffer < plan.buffer_count);
            CHECK(p->offset <= plan.bytes[p->buffer]);
        }
    }
}

/* Each from a block of exactly its size, so that a sanitizer sees a read behind it. */
TEST(any_bytes_do_no_harm) {
    enum { TRIALS = 20000, ROOM = 2 * sizeof whole };
    int taken = 0, at_fault = 0, plans = 0;
    for (int i = 0; i < TRIALS; i++) {
        char text[ROOM], reason[REASON_SIZE] = "";
        memcpy(text, whole, sizeof whole);
        const size_t size = mutate(text, strlen(whole), ROOM);
        char *copy = malloc(size);
        memcpy(copy, text, size);
        struct recording *recording = recording_read(copy, size, reason);
        free(copy);
        CHECK_THAT(recording || reason[0], "refused without a reason");
        at_fault += !recording;
        if (!recording) continue;
        taken++;
        CHECK(recording->count <= RECORDING_STEPS);
        memset(&judgement, 0, sizeof judgement);
        const bool fine = plan_make(recording, 8, 16, 4, &plan, &judgement);
        CHECK_THAT(fine || judgement.reason[0], "refused without a reason");
        plans += fine;
        if (fine) check_plan();
        recording_free(recording);
    }
    CHECK_THAT(taken > 500 && at_fault > 500 && plans > 100 && plans < taken,
               "%d taken, %d refused, %d planned: no test", taken, at_fault, plans);
}

/* ---- judgements ---- */

static char *printed(const struct judgement *j) {
    static char text[4096];
    char *json;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    judgement_print(out, j);
    fclose(out);
    snprintf(text, sizeof text, "%s", json);
    free(json);
    return text;
}

static const struct judgement timed = {
    .state = STATE_TIMED,
    .device = "a \"GPU\"",
    .m = 1000,
    .n = 500,
    .k = 2000,
    .launches = 2,
    .samples = 11,
    .seconds = {.n = 11, .median = 0.5, .minimum = 0.25, .quartile_1 = 0.375, .quartile_3 = 0.75},
    .cublas_seconds =
        {.n = 11, .median = 0.25, .minimum = 0.125, .quartile_1 = 0.25, .quartile_3 = 0.25},
};

TEST(a_time_is_printed_with_its_ratio) {
    CHECK_STRING(printed(&timed),
                 "{\"state\": \"timed\", \"reason\": \"\", \"device\": \"a \\\"GPU\\\"\", "
                 "\"launches\": 2, \"samples\": 11, "
                 "\"seconds\": {\"median\": 0.5, \"minimum\": 0.25, \"quartile_1\": 0.375, "
                 "\"quartile_3\": 0.75}, "
                 "\"cublas_seconds\": {\"median\": 0.25, \"minimum\": 0.125, \"quartile_1\": 0.25, "
                 "\"quartile_3\": 0.25}, \"ratio\": 0.5, \"gflops\": 4}\n");
}

TEST(no_time_is_printed_unless_all_is_well) {
    struct judgement j = timed;
    CHECK(!judge(&j, STATE_WRONG, "C is wrong"));
    CHECK_STRING(printed(&j), "{\"state\": \"wrong\", \"reason\": \"C is wrong\", "
                              "\"device\": \"a \\\"GPU\\\"\", \"launches\": 2, \"samples\": 0, "
                              "\"seconds\": null, \"cublas_seconds\": null, \"ratio\": null, "
                              "\"gflops\": null}\n");
}

/* A kernel of 10 ms: by the events, by the host. */
TEST(the_slower_clock_counts_where_they_differ) {
    const struct {
        struct times times;
        double counted;
    } cases[] = {{{10e-3, 10.1e-3}, 10e-3},
                 {{1e-3, 10.1e-3}, 10.1e-3},
                 {{10e-3, 1e-3}, 10e-3},
                 {{0, 10e-3}, 10e-3}};
    for (int i = 0; i < LENGTH(cases); i++) {
        CHECK(counted_seconds(&cases[i].times) == cases[i].counted);
    }
}

TEST(reasons_are_one_short_line_of_ascii) {
    struct judgement j = timed;
    char name[1000];
    memset(name, 'x', sizeof name - 1);
    memcpy(name, "\x1b[2J\n::error::\xc3\xa4\x7f", 17);
    name[sizeof name - 1] = '\0';
    judge(&j, STATE_REFUSED, "%s", name);
    CHECK_INT((long long)strlen(j.reason), REASON_SIZE - 1);
    CHECK_THAT(strncmp(j.reason, "?[2J?::error::???xx", 19) == 0, "%s", j.reason);
    for (const char *c = j.reason; *c; c++) CHECK(*c >= 0x20 && *c < 0x7f);
}

TEST(states_have_their_names) {
    for (int i = 0; i < STATES; i++) CHECK_INT(state_named(state_name((enum state)i)), i);
    CHECK(state_named("time") == STATES && state_named("") == STATES);
}

/* ---- statistics of times ---- */

/* As Python's statistics.quantiles(times, n=4, method="inclusive") has them. */
TEST(statistics_are_those_of_python) {
    const struct {
        int n;
        double times[6], minimum, quartile_1, median, quartile_3;
    } cases[] = {{1, {0.25}, 0.25, 0.25, 0.25, 0.25},
                 {2, {3, 1}, 1, 1.5, 2, 2.5},
                 {4, {4, 2, 1, 3}, 1, 1.75, 2.5, 3.25},
                 {5, {5, 1, 4, 2, 3}, 1, 2, 3, 4},
                 {6, {1, 1, 7, 2, 4, 9}, 1, 1.25, 3, 6.25}};
    for (int i = 0; i < LENGTH(cases); i++) {
        double times[6];
        memcpy(times, cases[i].times, sizeof times);
        const struct summary s = summarise(times, cases[i].n);
        CHECK(s.n == cases[i].n && s.minimum == cases[i].minimum && s.median == cases[i].median);
        CHECK(s.quartile_1 == cases[i].quartile_1 && s.quartile_3 == cases[i].quartile_3);
    }
}

TEST(other_numbers_have_no_statistics) {
    double bad[][2] = {{1, 0}, {1, -1}, {1, (double)NAN}, {(double)INFINITY, 1}};
    CHECK_INT(summarise(bad[0], 0).n, 0);
    for (int i = 0; i < LENGTH(bad); i++) CHECK_INT(summarise(bad[i], 2).n, 0);
}

TEST(clocks_that_cannot_both_be_right_are_seen) {
    const struct {
        struct times times; /* by the events, by the host */
        bool agree;
    } cases[] = {
        {{20e-6, 78e-6}, true}, /* as an H200 does: the hold, and being woken */
        {{20e-6, 25e-6}, true},    {{0.190, 0.1901}, true},
        {{20e-6, 400e-6}, false}, /* something ran that the events do not enclose */
        {{1.2e-6, 3.1e-3}, false}, {{10e-3, 20e-3}, false},
        {{20e-6, 10e-6}, false}, /* the events cannot last longer than what encloses them */
        {{10e-3, 5e-3}, false},    {{0, 1e-5}, false},
        {{(double)NAN, 1}, false}, {{1, (double)NAN}, false}};
    for (int i = 0; i < LENGTH(cases); i++)
        CHECK_THAT(clocks_agree(&cases[i].times) == cases[i].agree, "case %d", i);
}

TEST(no_gpu_is_faster_than_its_peak) {
    CHECK(fabs(fastest_possible(1000, 700, 500, 7e11) - 1e-3) < 1e-9);
    CHECK(fabs(fastest_possible(40000, 40000, 40000, 1.28e14) - 1) < 1e-6); /* beyond an int */
}

/* ---- the player: a process that replays, here without a GPU ---- */

static enum { RIGHT, HANGS, CRASHES, ENDS, IS_KILLED, FAILS, PRINTS } behavior;
static int given, loaded;

struct replay *replay_new(const void *image, const struct plan *made, struct judgement *j) {
    (void)made;
    if (image) return (struct replay *)image;
    judge(j, STATE_MACHINE, "no GPU for the kernels");
    return NULL;
}

bool replay_give(struct replay *r, const float *A, const float *B, struct judgement *j) {
    (void)r, (void)j;
    given = A[31] == 31 && B[63] == 163;
    return true;
}

bool replay_load(struct replay *r, struct judgement *j) {
    (void)r;
    return !loaded++ || judge(j, STATE_MACHINE, "it was loaded before");
}

bool replay_unload(struct replay *r, struct judgement *j) {
    (void)r, (void)j;
    loaded = 0;
    return true;
}

bool replay_run(struct replay *r, struct judgement *j) {
    (void)r, (void)j;
    return true;
}

bool replay_time(struct replay *r, struct times *times, struct judgement *j) {
    (void)r;
    *times = (struct times){loaded ? 0.25 : 0, 0.5};
    if (behavior == HANGS) sleep(60);
    if (behavior == CRASHES) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (behavior == IS_KILLED) raise(SIGKILL);
    if (behavior == ENDS) _exit(0);
    if (behavior == PRINTS) printf("{\"state\": \"timed\"}\n"), fflush(stdout);
    if (behavior == FAILS) return judge(j, STATE_FAULTED, "an illegal address");
    return true;
}

bool replay_take(struct replay *r, float *C, struct judgement *j) {
    (void)r, (void)j;
    for (int i = 0; i < 8 * 16; i++) C[i] = given ? (float)i : -1;
    return true;
}

/* Two samples of a player that behaves so. */
static bool sampled(int how, double limit, struct times *times) {
    static const char image[] = "kernels";
    behavior = how;
    recording_free(planned(LAUNCH "end\n", true));
    fflush(stdout);
    struct player *p = player_new(image, &plan, limit, &judgement);
    CHECK_THAT(p, "%s", judgement.reason);
    for (int i = 0; i < 64; i++) {
        if (i < 32) player_matrix(p, MATRIX_A)[i] = (float)i;
        player_matrix(p, MATRIX_B)[i] = (float)(100 + i);
    }
    bool fine = player_give(p, &judgement);
    for (int i = 0; fine && i < 2; i++)
        fine = player_warm_up(p, &judgement) && player_sample(p, times, &judgement);
    if (fine) CHECK_INT((long long)player_matrix(p, MATRIX_C)[127], 127);
    player_free(p);
    return fine;
}

TEST(a_sample_goes_there_and_back) {
    struct times times = {0, 0};
    CHECK_THAT(sampled(RIGHT, 60, &times), "%s", judgement.reason);
    CHECK(times.event_seconds == 0.25 && times.host_seconds == 0.5);
}

/* A process that does not come back ends at the limit, and no sooner. */
TEST(a_kernel_that_hangs_is_reported) {
    struct times times;
    const double begun = clock_seconds();
    CHECK(!sampled(HANGS, 0.3, &times));
    CHECK_STRING(state_name(judgement.state), "time-limit");
    CHECK(clock_seconds() - begun > 0.25 && clock_seconds() - begun < 10);
}

TEST(ends_of_all_kinds_are_reported) {
    const struct {
        int how;
        const char *state, *part;
    } cases[] = {{CRASHES, "faulted", "crashed"},
                 {ENDS, "faulted", "by itself"},
                 {IS_KILLED, "machine", "killed"},
                 {FAILS, "faulted", "illegal address"}};
    struct times times;
    for (int i = 0; i < LENGTH(cases); i++) {
        CHECK(!sampled(cases[i].how, 60, &times));
        CHECK_STRING(state_name(judgement.state), cases[i].state);
        CHECK_THAT(strstr(judgement.reason, cases[i].part), "%s", judgement.reason);
    }
}

TEST(what_kernels_print_goes_nowhere) {
    int ends[2], kept = dup(STDOUT_FILENO);
    struct times times;
    char text[100];
    fflush(stdout);
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
    const bool fine = sampled(PRINTS, 60, &times);
    dup2(kept, STDOUT_FILENO);
    close(ends[1]);
    const ssize_t count = read(ends[0], text, sizeof text);
    close(ends[0]);
    close(kept);
    CHECK(fine && count == 0);
}

TEST(a_player_without_a_gpu_says_so) {
    recording_free(planned(LAUNCH "end\n", true));
    fflush(stdout);
    struct player *p = player_new(NULL, &plan, 60, &judgement);
    CHECK(p && !player_give(p, &judgement));
    CHECK_STRING(state_name(judgement.state), "machine");
    CHECK_STRING(judgement.reason, "no GPU for the kernels");
    player_free(p);
}

/* Whatever is in an answer, it does not make a time, nor an unknown state. */
TEST(answers_are_not_trusted) {
    const struct answer bad_ones[] = {{0, STATE_TIMED, {0, 0}, "timed"},
                                      {2, STATE_TIMED, {0, 0}, "timed"},
                                      {0, STATES, {0, 0}, "who knows"},
                                      {0, UINT32_MAX, {0, 0}, "who knows"},
                                      {0, STATE_WRONG, {0, 0}, ""}};
    for (int i = 0; i < LENGTH(bad_ones); i++) {
        struct answer answer = bad_ones[i];
        CHECK(!understand(&answer, &judgement));
        CHECK_STRING(state_name(judgement.state), "faulted");
    }
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    struct answer cut = {.fine = 1};
    CHECK(send(ends[1], &cut, sizeof cut - 1, 0) > 0);
    struct player player = {.socket = ends[0], .process = -1, .seconds_left = 1};
    CHECK(!ask(&player, TIME, &cut, &judgement));
    CHECK_THAT(strstr(judgement.reason, "ended by itself"), "%s", judgement.reason);
    close(ends[0]);
    close(ends[1]);
    struct answer endless = {0, STATE_WRONG, {0, 0}, ""};
    memset(endless.reason, '\x1b', sizeof endless.reason);
    CHECK(!understand(&endless, &judgement));
    CHECK(judgement.state == STATE_WRONG && strlen(judgement.reason) == REASON_SIZE - 1);
    CHECK(judgement.reason[0] == '?');
}
