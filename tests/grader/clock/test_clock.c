/* Tests of what ./clock does without a GPU: the recording (what is written is read back, and
 * whatever else is read does no harm: the file comes out of a process that a submission shares),
 * the plan made of it, the judgement, and the process in which it is replayed. Each is one promise
 * of a header in grader/clock. */
#define _GNU_SOURCE /* open_memstream, memfd_create */
#include "../../../grader/clock/judgement.c"
#include "../../../grader/clock/plan.c"
#include "../../../grader/clock/player.c"
#include "../../../grader/clock/recording.c"

#include "../../../lab/sgemm.h"
#include "../../check.h"

#include <sys/stat.h>
#include <sys/wait.h>

/* ---- a recording ---- */

static const struct shape shape = {{8, 16, 4}}; /* m n k */
static struct recording *made;
static char reason[REASON_SIZE];

/* One of no step, which ends well. */
static void begin(void) {
    free(made);
    made = calloc(1, sizeof *made);
    made->magic = RECORDING_MAGIC;
    made->shape = shape;
    made->end = RECORDING_ENDED;
}

static bool has_name(const struct step *step) {
    return step->kind == STEP_LAUNCH || step->kind == STEP_CARVEOUT || step->kind == STEP_VARIABLE;
}

static void add(struct step step) {
    CHECK(recording_add(made, &step, has_name(&step) ? "k" : NULL, NULL));
}

/* Of bytes 0, 1, 2, ... */
static void add_data(struct step step, uint32_t size, const struct pointer *pointers, int count) {
    static unsigned char bytes[RECORDING_DATA];
    for (uint32_t i = 0; i < size; i++) bytes[i] = (unsigned char)i;
    const struct data data = {bytes, size, (struct pointer *)pointers, (uint32_t)count};
    CHECK(recording_add(made, &step, has_name(&step) ? "k" : NULL, &data));
}

#define ALLOCATE(number, size)                                                                     \
    ((struct step){.kind = STEP_ALLOCATE, .to = {number, 0, 0}, .width = size})
#define SET(number, offset, pitch, size, rows)                                                     \
    ((struct step){.kind = STEP_SET, .to = {number, offset, pitch}, .width = size, .height = rows})
/* 8 rows of 16 bytes. */
#define COPY(to_number, from_number, from_offset)                                                  \
    ((struct step){.kind = STEP_COPY,                                                              \
                   .to = {to_number, 0, 16},                                                       \
                   .from = {from_number, from_offset, 16},                                         \
                   .width = 16,                                                                    \
                   .height = 8})
#define WRITE(number, offset) ((struct step){.kind = STEP_WRITE, .to = {number, offset, 0}})
#define VARIABLE ((struct step){.kind = STEP_VARIABLE})
#define CARVEOUT ((struct step){.kind = STEP_CARVEOUT, .value = 50})
#define LAUNCH ((struct step){.kind = STEP_LAUNCH, .grid = {1, 1, 1}, .block = {1, 1, 1}})
#define NO_STEP ((struct step){.kind = STEP_KINDS})

/* Steps of each kind. */
static void begin_whole(void) {
    begin();
    add(ALLOCATE(3, 4096));
    add(SET(3, 0, 1024, 1000, 4));
    add(COPY(3, 0, 0));
    add_data(WRITE(3, 8), 26, (struct pointer[]){{8, 1, 12}, {16, 3, 0}}, 2);
    add_data(VARIABLE, 2, NULL, 0);
    add(CARVEOUT);
    add_data(LAUNCH, 8, (struct pointer[]){{0, 2, 128}}, 1);
    add(LAUNCH);
}

static void checks(bool expected, const char *part) {
    const bool fine = recording_check(made, sizeof *made, reason);
    CHECK_THAT(fine == expected, "%s: '%s'", part, fine ? "" : reason);
    CHECK_THAT(expected || strstr(reason, part), "'%s' does not say '%s'", reason, part);
}

/* ---- what is written is read ---- */

TEST(what_is_written_is_in_the_file) {
    const int file = memfd_create("recording", 0);
    struct stat about;
    CHECK(fstat(file, &about) == 0 && about.st_size == 0);
    struct recording *r = recording_begin(file, &shape), *back = malloc(sizeof *back);
    CHECK(r && back && r->end == RECORDING_BROKEN); /* as long as nobody says otherwise */
    const struct data data = {(unsigned char *)"12345678abcdefgh", 16,
                              (struct pointer[]){{8, 2, 64}}, 1};
    const struct step launch = {.kind = STEP_LAUNCH, .grid = {2, 3, 4}, .shared = 49152};
    CHECK(recording_add(r, &CARVEOUT, "_Z7mysgemmiii", NULL) &&
          recording_add(r, &launch, "b$.1", &data));
    CHECK(pread(file, back, sizeof *back, 0) == (ssize_t)sizeof *back);
    CHECK_THAT(recording_check(back, sizeof *back, reason), "%s", reason);
    CHECK(back->count == 2 && memcmp(&back->shape, &shape, sizeof shape) == 0);
    CHECK_STRING(step_name(back, &back->steps[0]), "_Z7mysgemmiii");
    const struct step *step = &back->steps[1];
    CHECK_STRING(step_name(back, step), "b$.1");
    CHECK(step->grid[2] == 4 && step->shared == 49152 && step->data.bytes == 16);
    CHECK(memcmp(recording_at(back, &step->data), "12345678abcdefgh", 16) == 0);
    CHECK(step_pointer_count(step) == 1 && step_pointers(back, step)->offset == 64);
    recording_stop(r, STATE_REFUSED, "a stream: no");
    CHECK(pread(file, back, sizeof *back, 0) == (ssize_t)sizeof *back);
    CHECK(back->end == RECORDING_STOPPED && back->state == STATE_REFUSED);
    CHECK_STRING(back->reason, "a stream: no");
    munmap(r, sizeof *r);
    close(file);
    free(back);
}

TEST(what_has_no_room_is_not_written) {
    static char name[RECORDING_NAME];
    begin();
    for (int i = 0; i < RECORDING_STEPS; i++) add(LAUNCH);
    CHECK(!recording_add(made, &LAUNCH, "k", NULL));
    checks(true, "as many as there may be");
    begin();
    memset(name, 'a', sizeof name - 1);
    while (recording_add(made, &LAUNCH, name, NULL)) continue;
    CHECK_INT(made->count, RECORDING_STORE / RECORDING_NAME);
    checks(true, "full");
}

/* ---- what is refused ---- */

TEST(other_files_are_refused) {
    begin_whole();
    checks(true, "whole");
    CHECK(!recording_check(made, 0, reason) && strstr(reason, "empty"));
    CHECK(!recording_check(made, sizeof *made - 1, reason) && strstr(reason, "is none"));
    made->magic++;
    checks(false, "is none");
}

TEST(ends_of_no_known_kind_are_refused) {
    begin();
    made->end = RECORDING_STOPPED + 1;
    checks(false, "no known way");
    made->end = RECORDING_STOPPED;
    for (uint32_t state = 0; state <= STATES; state++) {
        made->state = state;
        checks(state == STATE_REFUSED || state == STATE_FAULTED || state == STATE_TIME_LIMIT,
               "no known reason");
    }
    made->state = STATE_REFUSED;
    memset(made->reason, 'a', REASON_SIZE);
    checks(false, "without an end");
}

TEST(malformed_steps_are_refused) {
    const struct {
        size_t at; /* of a number of the step, */
        uint32_t becomes;
        const char *part;
    } cases[] = {
        {offsetof(struct step, kind), STEP_KINDS, "no known kind"},
        {offsetof(struct step, name.at), RECORDING_STORE, "name"},
        {offsetof(struct step, name.at), UINT32_MAX, "name"},
        {offsetof(struct step, name.bytes), 0, "name"},
        {offsetof(struct step, name.bytes), 3, "name"}, /* no 0 where it should end */
        {offsetof(struct step, name.bytes), RECORDING_NAME + 1, "name"},
        {offsetof(struct step, name.bytes), UINT32_MAX, "name"},
        {offsetof(struct step, data.at), RECORDING_STORE - 23, "data outside"},
        {offsetof(struct step, data.bytes), RECORDING_DATA + 1, "data outside"},
        {offsetof(struct step, data.bytes), UINT32_MAX, "data outside"},
        {offsetof(struct step, data.bytes), 23, "no room"},
        {offsetof(struct step, pointers.at), RECORDING_STORE - 24, "pointers outside"},
        {offsetof(struct step, pointers.at), 4, "pointers outside"}, /* torn */
        {offsetof(struct step, pointers.bytes), UINT32_MAX, "pointers outside"},
        {offsetof(struct step, value), 256, "too large"},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        begin();
        add_data(LAUNCH, 24, (struct pointer[]){{0, 0, 0}, {16, 0, 0}}, 2);
        made->store[0] = 0x6b6b; /* "kk" */
        made->steps[0].name.bytes = 3;
        checks(true, "as it was");
        ((unsigned char *)made->store)[2] = ',';
        if (cases[i].at != offsetof(struct step, name.bytes)) ((unsigned char *)made->store)[2] = 0;
        memcpy((char *)&made->steps[0] + cases[i].at, &cases[i].becomes, sizeof cases[i].becomes);
        checks(false, cases[i].part);
    }
    begin();
    made->count = RECORDING_STEPS + 1;
    checks(false, "too many steps");
}

TEST(names_are_those_of_symbols) {
    static const char *const names[] = {"a,b", "\x1b[31m", "a b", ""};
    for (int i = 0; i < LENGTH(names); i++) {
        begin();
        CHECK(recording_add(made, &LAUNCH, names[i], NULL));
        checks(false, "name");
    }
}

TEST(pointers_lie_side_by_side) {
    const struct pointer bad[][2] = {{{8, 0, 0}, {0, 0, 0}},
                                     {{0, 0, 0}, {0, 0, 0}},
                                     {{0, 0, 0}, {4, 0, 0}},
                                     {{0, 0, 0}, {17, 0, 0}},
                                     {{0, 0, 0}, {UINT32_MAX, 0, 0}}};
    for (int i = 0; i < LENGTH(bad); i++) {
        begin();
        add_data(LAUNCH, 24, bad[i], 2);
        checks(false, "no room");
    }
}

/* ---- plans: what is replayed ---- */

static struct judgement judgement;
static struct plan plan;

static void plans(bool expected, const char *part) {
    checks(true, part);
    memset(&judgement, 0, sizeof judgement);
    const bool fine = plan_make(made, &shape, &plan, &judgement);
    CHECK_THAT(fine == expected, "%s: '%s'", part, judgement.reason);
    CHECK_THAT(expected || strstr(judgement.reason, part), "'%s' does not say '%s'",
               judgement.reason, part);
}

/* Of these steps and a launch. */
static void plans_of(const struct step *steps, bool expected, const char *part) {
    begin();
    for (; steps->kind != STEP_KINDS; steps++)
        if (steps->kind == STEP_WRITE)
            add_data(*steps, 2, NULL, 0);
        else
            add(*steps);
    add(LAUNCH);
    plans(expected, part);
}

#define ALLOWED(...) plans_of((struct step[]){__VA_ARGS__, NO_STEP}, true, "allowed")
#define REFUSED(part, ...) plans_of((struct step[]){__VA_ARGS__, NO_STEP}, false, part)

TEST(a_plan_has_what_takes_time_in_order) {
    begin();
    add(ALLOCATE(3, 4096));
    add(ALLOCATE(4, 10));
    add(SET(3, 0, 4096, 4096, 1));
    struct step launch = LAUNCH;
    launch.shared = 1000;
    CHECK(recording_add(made, &launch, "one", NULL) && recording_add(made, &LAUNCH, "two", NULL) &&
          recording_add(made, &CARVEOUT, "two", NULL));
    launch.shared = 2000;
    CHECK(recording_add(made, &launch, "one", NULL));
    plans(true, "in order");
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
}

/* ---- plans: what is refused ---- */

TEST(what_the_recorder_stopped_is_judged_so) {
    const enum state states[] = {STATE_REFUSED, STATE_FAULTED, STATE_TIME_LIMIT};
    for (int i = 0; i < LENGTH(states); i++) {
        begin();
        add(LAUNCH);
        recording_stop(made, states[i], "an illegal address");
        plans(false, "an illegal address");
        CHECK_INT(judgement.state, states[i]);
    }
}

TEST(what_is_no_run_of_the_submission_is_refused) {
    begin();
    add(LAUNCH);
    made->end = RECORDING_BROKEN; /* its process was ended: by the submission, or by a limit */
    plans(false, "basicSgemm ended the program instead of returning");
    CHECK_INT(judgement.state, STATE_REFUSED);
    begin();
    add(SET(2, 0, 512, 512, 1));
    plans(false, "launches no kernel");
    begin_whole();
    plans(true, "whole");
    made->shape.of[PARAM_K]++;
    plans(false, "another shape");
}

TEST(allocations_are_bounded) {
    ALLOWED(ALLOCATE(3, 8589934592));
    REFUSED("8 GiB", ALLOCATE(3, 8589934593));
    REFUSED("8 GiB", ALLOCATE(3, 4294967297), ALLOCATE(4, 4294967296));
    REFUSED("8 GiB", ALLOCATE(3, UINT64_MAX));
    REFUSED("8 GiB", ALLOCATE(3, 1), ALLOCATE(4, UINT64_MAX));
    REFUSED("tampered", ALLOCATE(3, 0));
    REFUSED("tampered", ALLOCATE(4, 1));
    REFUSED("tampered", ALLOCATE(0, 1));
    REFUSED("tampered", ALLOCATE(-1, 1));
}

TEST(buffers_are_bounded) {
    begin();
    for (int i = MATRIX_COUNT; i <= PLAN_BUFFERS; i++) add(ALLOCATE(i, 1));
    plans(false, "more than 61 times");
}

TEST(areas_stay_in_their_buffers) {
    ALLOWED(SET(2, 0, 512, 512, 1));
    ALLOWED(SET(2, 500, 12, 12, 1));
    ALLOWED(SET(2, 0, 100, 12, 6));
    ALLOWED(ALLOCATE(3, 128), COPY(3, 0, 0));
    ALLOWED(ALLOCATE(3, 4), WRITE(3, 2));
    REFUSED("cudaMemset", SET(2, 0, 513, 513, 1));
    REFUSED("cudaMemset", SET(2, 501, 12, 12, 1));
    REFUSED("cudaMemset", SET(2, 0, 101, 12, 6));
    REFUSED("cudaMemset", SET(2, 1, 100, 12, 6));
    REFUSED("cudaMemset", SET(2, 0, 11, 12, 2));
    REFUSED("cudaMemset", SET(2, UINT64_MAX, 2, 2, 1));
    REFUSED("cudaMemset", SET(2, 0, UINT64_C(1) << 63, 8, 3));
    REFUSED("cudaMemset", SET(2, 0, 12, 12, UINT64_MAX));
    REFUSED("cudaMemset", SET(2, 0, 12, 0, 1));
    REFUSED("cudaMemset", SET(3, 0, 1, 1, 1));
    REFUSED("cudaMemset", SET(INT32_MAX, 0, 1, 1, 1));
    REFUSED("cudaMemset", SET(-1, 0, 1, 1, 1));
    REFUSED("copy on the device", ALLOCATE(3, 127), COPY(3, 0, 0));
    REFUSED("copy on the device", ALLOCATE(3, 999), COPY(3, 0, 1));
    REFUSED("copy on the device", COPY(3, 0, 0));
    REFUSED("copy on the device", COPY(2, 3, 0));
    REFUSED("copy from the host", ALLOCATE(3, 4), WRITE(3, 3));
    REFUSED("copy from the host", ALLOCATE(3, 4), WRITE(3, UINT64_MAX));
    REFUSED("copy from the host", WRITE(3, 0));
}

TEST(little_is_written_from_the_host) {
    begin();
    add(ALLOCATE(3, 1000000));
    add_data(WRITE(3, 0), PLAN_WRITTEN, NULL, 0);
    add(LAUNCH);
    plans(true, "as much as may be");
    add_data(VARIABLE, 1, NULL, 0);
    plans(false, "64 KB");
}

static void plans_pointer(struct step step, struct pointer pointer, bool expected) {
    begin();
    add(ALLOCATE(3, 8));
    add_data(step, 12, &pointer, 1);
    add(LAUNCH);
    plans(expected, "neither in an array nor in what it has allocated");
}

TEST(pointers_point_into_live_buffers) {
    const struct pointer into[] = {{0, 0, 128}, {0, 2, 512}, {0, 1, 0}}; /* the end is fine */
    const struct pointer outside[] = {{0, 0, 129}, {0, 4, 0},         {0, 2, UINT64_MAX},
                                      {4, 0, 0},   {0, INT32_MAX, 0}, {0, -1, 0}};
    for (int i = 0; i < LENGTH(into); i++) plans_pointer(LAUNCH, into[i], true);
    for (int i = 0; i < LENGTH(outside); i++) plans_pointer(LAUNCH, outside[i], false);
    plans_pointer(VARIABLE, outside[1], false);
    plans_pointer(WRITE(2, 0), outside[1], false);
}

TEST(launches_and_kernels_are_bounded) {
    begin();
    for (int i = 0; i <= PLAN_LAUNCHES; i++) add(LAUNCH);
    plans(false, "more than 256 kernels");
    begin();
    for (int i = 0; i <= PLAN_KERNELS; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        CHECK(recording_add(made, &CARVEOUT, name, NULL));
    }
    plans(false, "64 different kernels");
}

/* ---- any bytes ---- */

static uint64_t drawn;

static uint32_t draw(uint32_t below) { return (uint32_t)(random64(28, drawn++) % below); }

enum { WHOLE_STEPS = 8, WHOLE_STORE = 512 }; /* of begin_whole(): so much is damaged */
static const size_t whole_steps =
    offsetof(struct recording, steps) + WHOLE_STEPS * sizeof(struct step);

/* Numbers of the header, of steps and of the store become others. */
static void damage(void) {
    static const uint32_t odd[] = {0, 1, 8, RECORDING_STORE, INT32_MAX, UINT32_MAX};
    for (uint32_t changes = 1 + draw(3); changes; changes--) {
        uint32_t value, *at = (uint32_t *)made + draw((uint32_t)whole_steps / 4);
        if (draw(8) == 0) at = (uint32_t *)made + draw(offsetof(struct recording, steps) / 4);
        if (draw(4) == 0) at = (uint32_t *)made->store + draw(WHOLE_STORE / 4);
        value = draw(2) ? *at + 1 - draw(3) : draw(200);
        *at = draw(2) ? odd[draw(LENGTH(odd))] : value;
    }
}

/* Whether its last byte is in its buffer, computed in another way than in plan.c. */
static void check_inside(const struct area *area, uint64_t width, uint64_t height) {
    __extension__ typedef unsigned __int128 wide;
    CHECK(area->buffer >= 0 && area->buffer < plan.buffer_count);
    const wide end = (wide)area->offset + (wide)area->pitch * (height - 1) + width;
    CHECK(width > 0 && height > 0 && end <= plan.bytes[area->buffer]);
}

/* Reads all that a replay reads. */
static void check_plan(void) {
    for (int i = 0; i < plan.count; i++) {
        const struct step *step = plan.steps[i];
        struct area to = step->to;
        if (step->kind == STEP_WRITE) check_inside(&to, step->data.bytes, 1);
        if (step->kind == STEP_SET || step->kind == STEP_COPY)
            check_inside(&to, step->width, step->height);
        if (step->kind == STEP_COPY) check_inside(&step->from, step->width, step->height);
        if (has_name(step)) CHECK(strlen(step_name(made, step)) < RECORDING_NAME);
        static unsigned char copy[RECORDING_DATA];
        CHECK(step->data.bytes <= sizeof copy);
        memcpy(copy, recording_at(made, &step->data), step->data.bytes);
        for (uint32_t j = 0; j < step_pointer_count(step); j++) {
            const struct pointer *p = &step_pointers(made, step)[j];
            CHECK(p->at + UINT64_C(8) <= step->data.bytes && p->buffer < plan.buffer_count);
            CHECK(p->offset <= plan.bytes[p->buffer]);
        }
    }
}

/* A block of exactly its size, so that a sanitizer sees a read behind it. */
TEST(any_bytes_do_no_harm) {
    enum { TRIALS = 20000 };
    static unsigned char steps[sizeof(struct recording)], store[WHOLE_STORE];
    int taken = 0, at_fault = 0, planned = 0;
    begin_whole();
    CHECK(made->count == WHOLE_STEPS && made->used <= WHOLE_STORE);
    memcpy(steps, made, whole_steps);
    memcpy(store, made->store, WHOLE_STORE);
    for (int i = 0; i < TRIALS; i++) {
        damage();
        const bool fine = recording_check(made, sizeof *made, reason);
        CHECK_THAT(fine || reason[0], "refused without a reason");
        at_fault += !fine;
        taken += fine;
        memset(&judgement, 0, sizeof judgement);
        if (fine && plan_make(made, &shape, &plan, &judgement)) {
            planned++;
            check_plan();
        } else if (fine) {
            CHECK_THAT(judgement.reason[0], "refused without a reason");
        }
        memcpy(made, steps, whole_steps);
        memcpy(made->store, store, WHOLE_STORE);
    }
    CHECK_THAT(taken > 500 && at_fault > 500 && planned > 100 && planned < taken,
               "%d taken, %d refused, %d planned: no test", taken, at_fault, planned);
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
    .launches = 2,
    .samples = 11,
    .seconds =
        {.count = 11, .median = 0.5, .minimum = 0.25, .quartile_1 = 0.375, .quartile_3 = 0.75},
    .beside_seconds =
        {.count = 11, .median = 0.25, .minimum = 0.125, .quartile_1 = 0.25, .quartile_3 = 0.25},
};

TEST(a_time_is_printed_with_its_ratio) {
    CHECK_STRING(printed(&timed),
                 "{\"state\": \"timed\", \"reason\": \"\", \"device\": \"a \\\"GPU\\\"\", "
                 "\"launches\": 2, \"samples\": 11, "
                 "\"seconds\": {\"median\": 0.5, \"minimum\": 0.25, \"quartile_1\": 0.375, "
                 "\"quartile_3\": 0.75}, "
                 "\"beside_seconds\": {\"median\": 0.25, \"minimum\": 0.125, \"quartile_1\": 0.25, "
                 "\"quartile_3\": 0.25}, \"ratio\": 0.5}\n");
}

TEST(no_time_is_printed_unless_all_is_well) {
    struct judgement j = timed;
    CHECK(!judge(&j, STATE_WRONG, "C is wrong"));
    CHECK_STRING(printed(&j), "{\"state\": \"wrong\", \"reason\": \"C is wrong\", "
                              "\"device\": \"a \\\"GPU\\\"\", \"launches\": 2, \"samples\": 0, "
                              "\"seconds\": null, \"beside_seconds\": null, \"ratio\": null}\n");
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

/* ---- statistics of times ---- */

/* As Python's statistics.quantiles(times, n=4, method="inclusive") has them. */
TEST(statistics_are_those_of_python) {
    double one[] = {0.25}, six[] = {1, 1, 7, 2, 4, 9};
    struct summary s = summarise(one, 1);
    CHECK(s.count == 1 && s.minimum == 0.25 && s.quartile_1 == 0.25 && s.quartile_3 == 0.25);
    s = summarise(six, 6);
    CHECK(s.count == 6 && s.minimum == 1 && s.median == 3);
    CHECK(s.quartile_1 == 1.25 && s.quartile_3 == 6.25);
    double odd[] = {5, 1, 4, 2, 3};
    CHECK(summarise(odd, 5).median == 3);
    double bad[][2] = {{1, 0}, {1, -1}, {1, (double)NAN}, {(double)INFINITY, 1}};
    for (int i = 0; i < LENGTH(bad); i++) CHECK_INT(summarise(bad[i], 2).count, 0);
    CHECK_INT(summarise(bad[0], 0).count, 0);
}

TEST(clocks_that_cannot_both_be_right_are_seen_and_the_slower_one_counts) {
    const struct {
        struct times times; /* by the events, by the host */
        bool agree;
        double counted; /* 0: is not asked for */
    } cases[] = {
        {{20e-6, 78e-6}, true, 20e-6}, /* as an H200 does: the hold, and being woken */
        {{0.190, 0.1901}, true, 0.190},
        {{20e-6, 400e-6}, false, 400e-6}, /* something ran that the events do not enclose */
        {{1e-3, 10.1e-3}, false, 10.1e-3},
        {{20e-6, 10e-6}, false, 20e-6}, /* the events cannot last longer than what encloses them */
        {{0, 1e-5}, false, 1e-5},
        {{(double)NAN, 1}, false, 0},
        {{1, (double)NAN}, false, 0}};
    for (int i = 0; i < LENGTH(cases); i++) {
        CHECK_THAT(clocks_agree(&cases[i].times) == cases[i].agree, "case %d", i);
        if (cases[i].counted) CHECK(counted_seconds(&cases[i].times) == cases[i].counted);
    }
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

bool replay_give(struct replay *r, void *const arrays[LAB_ARRAYS], struct judgement *j) {
    const float *A = arrays[MATRIX_A], *B = arrays[MATRIX_B];
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

bool replay_take(struct replay *r, void *const arrays[LAB_ARRAYS], struct judgement *j) {
    float *C = arrays[MATRIX_C];
    (void)r, (void)j;
    for (int i = 0; i < 8 * 16; i++) C[i] = given ? (float)i : -1;
    return true;
}

/* Two samples of a player that behaves so. */
static bool sampled(int how, double limit, struct times *times) {
    static const char image[] = "kernels";
    behavior = how;
    begin();
    add(LAUNCH);
    plans(true, "one launch");
    fflush(stdout);
    struct player *p = player_new(image, &plan, limit, &judgement);
    CHECK_THAT(p, "%s", judgement.reason);
    float *A = player_array(p, MATRIX_A), *B = player_array(p, MATRIX_B);
    for (int i = 0; i < 64; i++) {
        if (i < 32) A[i] = (float)i;
        B[i] = (float)(100 + i);
    }
    bool fine = player_give(p, &judgement);
    for (int i = 0; fine && i < 2; i++)
        fine = player_warm_up(p, &judgement) && player_sample(p, times, &judgement);
    if (fine) CHECK_INT((long long)((float *)player_array(p, MATRIX_C))[127], 127);
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
    CHECK_STRING(state_names[judgement.state], "time-limit");
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
        CHECK_STRING(state_names[judgement.state], cases[i].state);
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
    begin();
    add(LAUNCH);
    plans(true, "one launch");
    fflush(stdout);
    struct player *p = player_new(NULL, &plan, 60, &judgement);
    CHECK(p && !player_give(p, &judgement));
    CHECK_STRING(state_names[judgement.state], "machine");
    CHECK_STRING(judgement.reason, "no GPU for the kernels");
    player_free(p);
}

/* Whatever is in an answer, it does not make a time, nor an unknown state. */
TEST(answers_are_not_trusted) {
    const struct answer bad_ones[] = {{0, STATE_TIMED, {0, 0}, "timed"},
                                      {0, UINT32_MAX, {0, 0}, "who knows"},
                                      {0, STATE_WRONG, {0, 0}, ""}};
    for (int i = 0; i < LENGTH(bad_ones); i++) {
        struct answer answer = bad_ones[i];
        CHECK(!understand(&answer, &judgement));
        CHECK_STRING(state_names[judgement.state], "faulted");
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
