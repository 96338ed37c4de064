/* Tests of what ./clock does without a GPU: the recording (what is written is read back, and
 * whatever else is read does no harm: the file comes out of a process that a submission shares),
 * the judgement, and the process in which it is replayed. Each is one promise of a header in
 * grader/clock. */
#define _GNU_SOURCE /* open_memstream, memfd_create */
#include "../../../grader/clock/judgement.c"
#include "../../../grader/clock/player.c"
#include "../../../grader/clock/recording.c"

#include "../../../lab/sgemm.h"
#include "../../check.h"

#include <sys/stat.h>
#include <sys/wait.h>

/* ---- a recording ---- */

static const struct shape shape = {{8, 16, 4}}; /* m n k */
static struct recording *made;
static struct judgement judgement;

/* One of no step, which ends well. */
static void begin(void) {
    free(made);
    made = calloc(1, sizeof *made);
    made->magic = RECORDING_MAGIC;
    made->end = RECORDING_ENDED;
    made->bytes[0] = 8 * 4 * 4, made->bytes[1] = 4 * 16 * 4, made->bytes[2] = 512;
    made->buffer_count = 3;
    CHECK_INT(recording_symbol(made, "k"), 0);
}

static void allocate(uint64_t bytes) { made->bytes[made->buffer_count++] = bytes; }

/* Of bytes 0, 1, 2, ... */
static void add_data(struct step step, uint32_t size, const struct pointer *pointers, int count) {
    static unsigned char bytes[RECORDING_DATA];
    for (uint32_t i = 0; i < size; i++) bytes[i] = (unsigned char)i;
    const struct data data = {bytes, size, (struct pointer *)pointers, (uint32_t)count};
    CHECK(recording_add(made, &step, &data));
}

static void add(struct step step) { add_data(step, 0, &(struct pointer){0}, 0); }

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
#define LAUNCH ((struct step){.kind = STEP_LAUNCH, .grid = {1, 1, 1}, .block = {1, 1, 1}})

/* Steps of each kind. */
static void begin_whole(void) {
    begin();
    allocate(4096);
    add(SET(3, 0, 1024, 1000, 4));
    add(COPY(3, 0, 0));
    add_data(WRITE(3, 8), 26, (struct pointer[]){{8, 1, 12}, {16, 3, 0}}, 2);
    add_data(VARIABLE, 2, NULL, 0);
    add_data(LAUNCH, 8, (struct pointer[]){{0, 2, 128}}, 1);
    add(LAUNCH);
}

static bool is_fine(size_t size) {
    memset(&judgement, 0, sizeof judgement);
    return recording_check(made, size, &shape, &judgement);
}

/* `part` of the reason; "": it is taken. */
static void checks(const char *part) {
    const bool fine = is_fine(sizeof *made);
    CHECK_THAT(fine == !*part, "%s: '%s'", part, judgement.reason);
    CHECK_THAT(strstr(judgement.reason, part), "'%s' does not say '%s'", judgement.reason, part);
}

/* With this step and a launch, and with as many bytes of scratch. */
static void checks_step(const char *part, uint64_t scratch, struct step step) {
    begin();
    if (scratch) allocate(scratch);
    if (step.kind == STEP_WRITE)
        add_data(step, 2, NULL, 0);
    else
        add(step);
    add(LAUNCH);
    checks(part);
}

/* ---- what is written is read ---- */

TEST(what_is_written_is_in_the_file) {
    const int file = memfd_create("recording", 0);
    struct recording *r = recording_begin(file, &shape), *back = malloc(sizeof *back);
    CHECK(r && back && r->end == RECORDING_BROKEN); /* as long as nobody says otherwise */
    const struct data data = {(unsigned char *)"12345678abcdefgh", 16,
                              (struct pointer[]){{8, 2, 64}}, 1};
    struct step launch = {.kind = STEP_LAUNCH, .grid = {2, 3, 4}, .shared = 49152};
    CHECK_INT(recording_symbol(r, "_Z7mysgemmiii"), 0);
    CHECK_INT(recording_symbol(r, "b$.1"), 1);
    CHECK_INT(recording_symbol(r, "_Z7mysgemmiii"), 0);
    CHECK(recording_add(r, &launch, &data));
    launch.symbol = 1;
    CHECK(recording_add(r, &launch, &data));
    r->end = RECORDING_ENDED;
    CHECK(pread(file, back, sizeof *back, 0) == (ssize_t)sizeof *back);
    CHECK_THAT(recording_check(back, sizeof *back, &shape, &judgement), "%s", judgement.reason);
    CHECK(back->count == 2 && back->buffer_count == 3 && back->bytes[2] == 512);
    CHECK_INT(judgement.launches, 2);
    const struct step *step = &back->steps[1];
    CHECK_STRING(back->symbols[step->symbol].name, "b$.1");
    CHECK_INT(back->symbols[step->symbol].carveout, -1);
    CHECK(step->grid[2] == 4 && step->shared == 49152 && step->data.count == 16);
    CHECK(memcmp(back->data + step->data.begin, "12345678abcdefgh", 16) == 0);
    CHECK(step->pointers.count == 1 && back->pointers[step->pointers.begin].offset == 64);
    recording_stop(r, STATE_REFUSED, "a stream: no");
    CHECK(pread(file, back, sizeof *back, 0) == (ssize_t)sizeof *back);
    CHECK(back->end == RECORDING_STOPPED && back->state == STATE_REFUSED);
    CHECK_STRING(back->reason, "a stream: no");
    munmap(r, sizeof *r);
    close(file);
    free(back);
}

TEST(what_has_no_room_is_not_written) {
    static unsigned char bytes[RECORDING_PARAMETERS];
    static struct pointer pointers[4096];
    static char name[RECORDING_NAME + 1];
    const struct data none = {bytes, 0, pointers, 0}, large = {bytes, sizeof bytes, pointers, 0},
                      many = {bytes, sizeof bytes, pointers, LENGTH(pointers)};
    begin();
    while (recording_add(made, &LAUNCH, &none)) continue;
    CHECK_INT(made->count, RECORDING_STEPS);
    checks("");
    begin();
    while (recording_add(made, &LAUNCH, &large)) continue;
    CHECK_INT(made->count, RECORDING_DATA / RECORDING_PARAMETERS);
    checks("");
    begin();
    while (recording_add(made, &LAUNCH, &many)) continue;
    CHECK_INT(made->count, RECORDING_POINTERS / LENGTH(pointers));
    begin();
    memset(name, 'a', RECORDING_NAME);
    CHECK_INT(recording_symbol(made, name), -1);
    name[RECORDING_NAME - 1] = '\0';
    for (int i = 1; i < RECORDING_SYMBOLS; i++, name[0]++)
        CHECK_INT(recording_symbol(made, name), i);
    CHECK_INT(recording_symbol(made, "another"), -1);
}

/* ---- what is refused ---- */

TEST(other_files_are_refused) {
    begin_whole();
    checks("");
    CHECK(!is_fine(0) && strstr(judgement.reason, "no recording"));
    CHECK(!is_fine(sizeof *made - 1) && strstr(judgement.reason, "no recording"));
    made->magic++;
    checks("no recording");
}

TEST(ends_of_no_known_kind_are_refused) {
    begin();
    made->end = RECORDING_STOPPED + 1;
    checks("tampered");
    made->end = RECORDING_STOPPED;
    for (uint32_t state = 0; state <= STATES; state++) {
        made->state = state;
        made->reason[0] = 'x';
        checks(state == STATE_REFUSED || state == STATE_FAULTED || state == STATE_TIME_LIMIT
                   ? "x"
                   : "tampered");
    }
    made->state = STATE_REFUSED;
    memset(made->reason, 'a', REASON_SIZE);
    checks("tampered");
    memset(made->reason, 0, REASON_SIZE);
    checks("tampered");
}

/* As the recorder says, if it says why. */
TEST(what_is_no_run_of_the_submission_is_refused) {
    const enum state states[] = {STATE_REFUSED, STATE_FAULTED, STATE_TIME_LIMIT};
    for (int i = 0; i < LENGTH(states); i++) {
        begin();
        add(LAUNCH);
        recording_stop(made, states[i], "an illegal address");
        checks("an illegal address");
        CHECK_INT(judgement.state, states[i]);
    }
    begin();
    add(LAUNCH);
    made->end = RECORDING_BROKEN; /* its process was ended: by the submission, or by a limit */
    checks("basicSgemm ended the program instead of returning");
    CHECK_INT(judgement.state, STATE_REFUSED);
    begin();
    add(SET(2, 0, 512, 512, 1));
    checks("launches no kernel");
    begin_whole();
    made->bytes[0]++; /* of another shape */
    checks("tampered");
}

TEST(malformed_steps_are_refused) {
    const struct {
        size_t at; /* of a number of the step, */
        uint32_t becomes;
    } cases[] = {
        {offsetof(struct step, kind), STEP_KINDS},
        {offsetof(struct step, symbol), 1},
        {offsetof(struct step, symbol), UINT32_MAX},
        {offsetof(struct step, data.begin), RECORDING_DATA - 23},
        {offsetof(struct step, data.begin), UINT32_MAX},
        {offsetof(struct step, data.count), RECORDING_DATA + 1},
        {offsetof(struct step, data.count), UINT32_MAX},
        {offsetof(struct step, data.count), 23}, /* too few for the pointers */
        {offsetof(struct step, pointers.begin), RECORDING_POINTERS - 1},
        {offsetof(struct step, pointers.count), UINT32_MAX},
        {offsetof(struct step, value), 256},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        begin();
        add_data(LAUNCH, 24, (struct pointer[]){{0, 0, 0}, {16, 0, 0}}, 2);
        checks("");
        memcpy((char *)&made->steps[0] + cases[i].at, &cases[i].becomes, sizeof cases[i].becomes);
        checks("tampered");
    }
    begin();
    made->count = RECORDING_STEPS + 1;
    checks("tampered");
    begin();
    for (int i = 0; i < 3; i++) {
        add(LAUNCH);
        made->steps[i].data.count = RECORDING_DATA / 2; /* one over the other */
        if (i) checks(i == 1 ? "" : "tampered");
    }
}

TEST(names_are_those_of_symbols) {
    static const char *const names[] = {"a,b", "\x1b[31m", "a b", ""};
    for (int i = 0; i < LENGTH(names); i++) {
        begin_whole();
        CHECK_INT(recording_symbol(made, names[i]), 1);
        checks("tampered");
    }
    begin_whole();
    memset(made->symbols[0].name, 'a', RECORDING_NAME);
    checks("tampered");
    for (int carveout = -2; carveout <= 101; carveout++) {
        begin_whole();
        made->symbols[0].carveout = carveout;
        checks(carveout == -2 || carveout == 101 ? "tampered" : "");
    }
    made->symbols[0].carveout = -1;
    made->symbols[0].shared = (uint32_t)INT32_MAX + 1;
    checks("tampered");
}

TEST(pointers_lie_side_by_side) {
    const uint32_t bad[][2] = {{8, 0}, {0, 0}, {0, 4}, {4, 16}, {0, 17}, {0, UINT32_MAX}};
    for (int i = 0; i < LENGTH(bad); i++) {
        begin();
        add_data(LAUNCH, 24, (struct pointer[]){{bad[i][0], 0, 0}, {bad[i][1], 0, 0}}, 2);
        checks("tampered");
    }
}

static void checks_pointer(const char *part, struct step step, struct pointer pointer) {
    begin();
    allocate(8);
    add_data(step, 12, &pointer, 1);
    add(LAUNCH);
    checks(part);
}

TEST(pointers_point_into_buffers) {
    const struct pointer into[] = {{0, 0, 128}, {0, 2, 512}, {0, 1, 0}}; /* the end is fine */
    const struct pointer outside[] = {
        {0, 0, 129}, {0, 4, 0}, {0, 2, UINT64_MAX}, {0, INT32_MAX, 0}, {0, -1, 0}};
    for (int i = 0; i < LENGTH(into); i++) checks_pointer("", LAUNCH, into[i]);
    for (int i = 0; i < LENGTH(outside); i++) checks_pointer("tampered", LAUNCH, outside[i]);
    checks_pointer("tampered", VARIABLE, outside[1]);
    checks_pointer("tampered", WRITE(2, 0), outside[1]);
}

TEST(allocations_are_bounded) {
    checks_step("", RECORDING_SCRATCH, LAUNCH);
    checks_step("tampered", RECORDING_SCRATCH + 1, LAUNCH);
    checks_step("tampered", UINT64_MAX, LAUNCH);
    allocate(1);
    checks("tampered");
    begin_whole();
    allocate(0);
    checks("tampered");
    made->buffer_count = 2;
    checks("tampered");
    made->buffer_count = RECORDING_BUFFERS + 1;
    checks("tampered");
}

TEST(areas_stay_in_their_buffers) {
    checks_step("", 0, SET(2, 0, 512, 512, 1));
    checks_step("", 0, SET(2, 500, 12, 12, 1));
    checks_step("", 0, SET(2, 0, 100, 12, 6));
    checks_step("", 128, COPY(3, 0, 0));
    checks_step("", 4, WRITE(3, 2));
    const struct step outside[] = {
        SET(2, 0, 513, 513, 1),
        SET(2, 501, 12, 12, 1),
        SET(2, 0, 101, 12, 6),
        SET(2, 1, 100, 12, 6),
        SET(2, 0, 11, 12, 2),
        SET(2, UINT64_MAX, 2, 2, 1),
        SET(2, 0, UINT64_C(1) << 63, 8, 3),
        SET(2, 0, 12, 12, UINT64_MAX),
        SET(2, 0, 12, 0, 1),
        SET(4, 0, 1, 1, 1),
        SET(INT32_MAX, 0, 1, 1, 1),
        SET(-1, 0, 1, 1, 1),
        COPY(3, 0, 0),
        COPY(2, 3, 0),
        COPY(2, 0, 1),
        WRITE(3, 126),
        WRITE(3, UINT64_MAX),
        WRITE(4, 0),
    };
    for (int i = 0; i < LENGTH(outside); i++) checks_step("not stay inside", 127, outside[i]);
}

TEST(little_is_written_from_the_host) {
    begin();
    allocate(1000000);
    add_data(WRITE(3, 0), RECORDING_WRITTEN, NULL, 0);
    add(LAUNCH);
    checks("");
    add_data(VARIABLE, 1, NULL, 0);
    checks("tampered");
}

/* ---- any bytes ---- */

static uint64_t drawn;

static uint32_t draw(uint32_t below) { return (uint32_t)(random64(28, drawn++) % below); }

/* Whether its last byte is in its buffer, computed in another way than in recording.c. */
static void check_inside(const struct area *area, uint64_t width, uint64_t height) {
    __extension__ typedef unsigned __int128 wide;
    CHECK(area->buffer >= 0 && (uint32_t)area->buffer < made->buffer_count);
    const wide end = (wide)area->offset + (wide)area->pitch * (height - 1) + width;
    CHECK(width > 0 && height > 0 && end <= made->bytes[area->buffer]);
}

/* Reads all that a replay reads. */
static void check_what_is_read(void) {
    for (uint32_t i = 0; i < made->count; i++) {
        const struct step *step = &made->steps[i];
        if (step->kind == STEP_WRITE) check_inside(&step->to, step->data.count, 1);
        if (step->kind == STEP_SET || step->kind == STEP_COPY)
            check_inside(&step->to, step->width, step->height);
        if (step->kind == STEP_COPY) check_inside(&step->from, step->width, step->height);
        if (step->kind == STEP_VARIABLE || step->kind == STEP_LAUNCH)
            CHECK(strlen(made->symbols[step->symbol].name) < RECORDING_NAME);
        static unsigned char copy[RECORDING_DATA];
        memcpy(copy, made->data + step->data.begin, step->data.count);
        for (uint32_t j = 0; j < step->pointers.count; j++) {
            const struct pointer *p = &made->pointers[step->pointers.begin + j];
            CHECK(p->at + UINT64_C(8) <= step->data.count &&
                  (uint32_t)p->buffer < made->buffer_count);
            CHECK(p->offset <= made->bytes[p->buffer]);
        }
    }
}

/* Numbers of the header, of the symbol, of steps, pointers and data become others. */
static void damage(void) {
    static const uint32_t odd[] = {0, 1, 8, RECORDING_DATA, INT32_MAX, UINT32_MAX};
    const struct {
        void *begin;
        size_t bytes;
    } parts[] = {{made, offsetof(struct recording, reason)},
                 {made->bytes, 5 * sizeof *made->bytes},
                 {made->symbols, sizeof *made->symbols},
                 {made->steps, made->count * sizeof *made->steps},
                 {made->steps, made->count * sizeof *made->steps},
                 {made->pointers, made->pointer_count * sizeof *made->pointers}};
    for (uint32_t changes = 1 + draw(3); changes; changes--) {
        const int part = (int)draw(LENGTH(parts));
        uint32_t *at = (uint32_t *)parts[part].begin + draw((uint32_t)parts[part].bytes / 4);
        const uint32_t value = draw(2) ? *at + 1 - draw(3) : draw(200);
        *at = draw(2) ? odd[draw(LENGTH(odd))] : value;
    }
}

/* A block of exactly its size, so that a sanitizer sees a read behind it. */
TEST(any_bytes_do_no_harm) {
    enum { TRIALS = 20000 };
    static struct recording whole;
    int taken = 0;
    begin_whole();
    whole = *made;
    for (int i = 0; i < TRIALS; i++) {
        damage();
        const bool fine = is_fine(sizeof *made);
        CHECK_THAT(fine || judgement.reason[0], "refused without a reason");
        taken += fine;
        if (fine) check_what_is_read();
        memcpy(made, &whole, offsetof(struct recording, steps) + whole.count * sizeof *whole.steps);
        memcpy(made->pointers, whole.pointers, whole.pointer_count * sizeof *whole.pointers);
    }
    CHECK_THAT(taken > 500 && taken < TRIALS - 500, "%d taken: no test", taken);
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

TEST(a_time_is_printed_with_what_it_is_beside) {
    CHECK_STRING(printed(&timed),
                 "{\"state\": \"timed\", \"reason\": \"\", \"device\": \"a \\\"GPU\\\"\", "
                 "\"launches\": 2, \"samples\": 11, "
                 "\"seconds\": {\"median\": 0.5, \"minimum\": 0.25, \"quartile_1\": 0.375, "
                 "\"quartile_3\": 0.75}, "
                 "\"beside_seconds\": {\"median\": 0.25, \"minimum\": 0.125, \"quartile_1\": 0.25, "
                 "\"quartile_3\": 0.25}}\n");
}

TEST(no_time_is_printed_unless_all_is_well) {
    struct judgement j = timed;
    CHECK(!judge(&j, STATE_WRONG, "C is wrong"));
    CHECK(strstr(printed(&j), "{\"state\": \"wrong\", \"reason\": \"C is wrong\""));
    CHECK(strstr(printed(&j), "\"samples\": 0}\n"));
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

static enum { RIGHT, NO_GPU, HANGS, CRASHES, ENDS, IS_KILLED, FAILS } behavior;
static int given, loaded;

struct replay *replay_new(const void *image, const struct recording *r, struct judgement *j) {
    (void)r;
    if (behavior != NO_GPU) return (struct replay *)image;
    judge(j, STATE_MACHINE, "no GPU for the kernels");
    return NULL;
}

static bool timed_run(struct times *times, struct judgement *j) {
    *times = (struct times){loaded ? 0.25 : 0, 0.5};
    if (behavior == HANGS) sleep(60);
    if (behavior == CRASHES) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (behavior == IS_KILLED) raise(SIGKILL);
    if (behavior == ENDS) _exit(0);
    if (behavior == FAILS) return judge(j, STATE_FAULTED, "an illegal address");
    printf("{\"state\": \"timed\"}\n"), fflush(stdout);
    return true;
}

bool replay_do(struct replay *r, enum command command, void *const arrays[LAB_ARRAYS],
               struct times *times, struct judgement *j) {
    const float *A = arrays[MATRIX_A], *B = arrays[MATRIX_B];
    float *C = arrays[MATRIX_C];
    (void)r;
    if (command == TIME) return timed_run(times, j);
    if (command == WARM_UP) return !loaded++ || judge(j, STATE_MACHINE, "it was loaded before");
    if (command == GIVE) {
        given = A[31] == 31 && B[63] == 163;
    } else {
        loaded = 0;
        for (int i = 0; i < 8 * 16; i++) C[i] = given ? (float)i : -1;
    }
    return true;
}

/* Two samples of a player that behaves so. */
static bool sampled(int how, double limit, struct times *times) {
    static const char image[] = "kernels";
    behavior = how;
    begin();
    add(LAUNCH);
    checks("");
    fflush(stdout);
    struct player *p = player_new(image, made, limit, &judgement);
    CHECK_THAT(p, "%s", judgement.reason);
    float *A = player_array(p, MATRIX_A), *B = player_array(p, MATRIX_B);
    for (int i = 0; i < 64; i++) {
        if (i < 32) A[i] = (float)i;
        B[i] = (float)(100 + i);
    }
    bool fine = player_do(p, GIVE, NULL, &judgement);
    for (int i = 0; fine && i < 2; i++)
        for (enum command command = WARM_UP; fine && command <= TAKE; command++)
            fine = player_do(p, command, times, &judgement);
    if (fine) CHECK_INT((long long)((float *)player_array(p, MATRIX_C))[127], 127);
    player_free(p);
    return fine;
}

/* But what kernels print, which goes nowhere. */
TEST(a_sample_goes_there_and_back) {
    int ends[2], kept = dup(STDOUT_FILENO);
    struct times times = {0, 0};
    char text[100];
    fflush(stdout);
    CHECK(pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
    const bool fine = sampled(RIGHT, 60, &times);
    dup2(kept, STDOUT_FILENO);
    close(ends[1]);
    const ssize_t count = read(ends[0], text, sizeof text);
    close(ends[0]);
    close(kept);
    CHECK_THAT(fine, "%s", judgement.reason);
    CHECK(times.event_seconds == 0.25 && times.host_seconds == 0.5 && count == 0);
}

/* A process that does not come back ends at the limit, and no sooner. */
TEST(ends_of_all_kinds_are_reported) {
    const struct {
        int how;
        double limit;
        const char *state, *part;
    } cases[] = {{HANGS, 0.3, "time-limit", "time limit"},
                 {CRASHES, 60, "faulted", "crashed"},
                 {ENDS, 60, "faulted", "by itself"},
                 {IS_KILLED, 60, "machine", "killed"},
                 {NO_GPU, 60, "machine", "no GPU for the kernels"},
                 {FAILS, 60, "faulted", "illegal address"}};
    struct times times;
    for (int i = 0; i < LENGTH(cases); i++) {
        const double begun = clock_seconds();
        CHECK(!sampled(cases[i].how, cases[i].limit, &times));
        CHECK(cases[i].how != HANGS || clock_seconds() - begun > 0.25);
        CHECK_STRING(state_names[judgement.state], cases[i].state);
        CHECK_THAT(strstr(judgement.reason, cases[i].part), "%s", judgement.reason);
    }
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
    CHECK(!player_do(&player, TIME, &cut.times, &judgement));
    CHECK_THAT(strstr(judgement.reason, "ended by itself"), "%s", judgement.reason);
    close(ends[0]);
    close(ends[1]);
    struct answer endless = {0, STATE_WRONG, {0, 0}, ""};
    memset(endless.reason, '\x1b', sizeof endless.reason);
    CHECK(!understand(&endless, &judgement));
    CHECK(judgement.state == STATE_WRONG && strlen(judgement.reason) == REASON_SIZE - 1);
    CHECK(judgement.reason[0] == '?');
}
