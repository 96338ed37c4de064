/* clock: times a submission that it does not trust, beside what the lab says (lab_speed), and
 * checks what it computes.
 *
 *     clock KERNELS RECORDING SIZES SAMPLES SECONDS
 *
 * KERNELS: the submission's compiled kernels, a fat binary. RECORDING: what its wrapper asked of
 * the runtime (recording.h). SIZES: the lab's parameters, as they are typed. No host code of the
 * submission runs here. Prints one JSON object on one line (judgement.h), whatever happens.
 *
 * Exit status: 0 it has judged; 2 bad usage; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "../../engine/host/driver/driver.h"
#include "../../engine/host/host.h"
#include "../../engine/report/words/print.h"
#include "recording.h"
#include "timer.h"
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WARMUPS = 2,  /* rounds before: clocks rise, libraries load their kernels */
    RETAKES = 10, /* rounds that may be taken again because the two clocks differ, as the machine
                     was busy with something else */
    MOST_SAMPLES = 1000,
    KERNELS_BYTES = 64 << 20
};

struct clock {
    const char *kernels, *recording; /* files */
    struct shape shape;
    int samples, allowed_seconds;
    struct judgement judgement;
    struct host_layout layout;
    double flops_per_second;
    struct speed *speed; /* its arrays are this process's */
    struct timer *timer;
    struct player *player;
    double seconds[MOST_SAMPLES], beside_seconds[MOST_SAMPLES];
    int retakes;
};

static int number(const char *text, int most) {
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (!errno && end != text && !*end && value >= 1 && value <= most) return (int)value;
    fprintf(stderr, "clock: %s is not a number from 1 to %d\n", text, most);
    exit(EXIT_USAGE);
}

static void read_arguments(struct clock *c, int argc, char **argv) {
    const int sizes = argc > 3 ? lab_shape_read(&lab, argc - 3, argv + 3, &c->shape) : 0;
    if (!sizes || argc != sizes + 5) {
        fprintf(stderr, "usage: clock KERNELS RECORDING SIZES SAMPLES SECONDS\n");
        exit(EXIT_USAGE);
    }
    c->kernels = argv[1];
    c->recording = argv[2];
    c->samples = number(argv[3 + sizes], MOST_SAMPLES);
    c->allowed_seconds = number(argv[4 + sizes], 86400);
}

/* A whole regular file; NULL when it does not exist or is too large. It was made in the sandbox, so
 * it may grow or shrink while it is read. */
static void *read_file(const char *path, size_t most, size_t *size) {
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *bytes = NULL;
    *size = 0;
    if (file < 0) return NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 0 &&
        (size_t)status.st_size <= most)
        bytes = malloc((size_t)status.st_size + 1);
    while (bytes && *size < (size_t)status.st_size) {
        const ssize_t count =
            pread(file, bytes + *size, (size_t)status.st_size - *size, (off_t)*size);
        if (count <= 0) break;
        *size += (size_t)count;
    }
    close(file);
    return bytes;
}

/* ---- the GPU -------------------------------------------------------------------------------- */

static bool machine(struct clock *c, const char *what, const char *why) {
    return judge(&c->judgement, STATE_MACHINE, "%s: %s", what, why);
}

static bool good(struct clock *c, cudaError_t error, const char *what) {
    return error == cudaSuccess || machine(c, what, cudaGetErrorString(error));
}

static bool fine(struct clock *c, const char *problem) {
    return !problem || judge(&c->judgement, STATE_MACHINE, "%s", problem);
}

/* Float32 multiply-adds that one multiprocessor begins in a cycle (CUDA's programming guide,
 * "arithmetic instructions"): those of data centres had half until the A100. */
static int lanes(int major, int minor) {
    const bool half = major == 7 || (major == 6 && minor == 0) || (major == 8 && minor == 0);
    return half ? 64 : 128;
}

static bool find_device(struct clock *c) {
    struct cudaDeviceProp about;
    int kilohertz;
    if (!good(c, cudaSetDeviceFlags(cudaDeviceScheduleSpin), "no GPU can be used") ||
        !good(c, cudaSetDevice(0), "no GPU can be used") || !good(c, cudaFree(NULL), "the GPU") ||
        !good(c, cudaGetDeviceProperties(&about, 0), "asking the GPU") ||
        !good(c, cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), "asking the GPU"))
        return false;
    snprintf(c->judgement.device, DEVICE_NAME_SIZE, "%s", about.name);
    c->flops_per_second =
        2.0 * about.multiProcessorCount * lanes(about.major, about.minor) * kilohertz * 1e3;
    return true;
}

/* ---- one sample ----------------------------------------------------------------------------- */

static bool new_data(struct clock *c) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return machine(c, "a seed", "no random numbers");
    return fine(c, lab_speed.fill(c->speed, seed));
}

/* As the outputs of the submission, which the player poisons. */
static bool poison(struct clock *c) {
    for (int i = 0; i < c->layout.arrays && lab_speed.computes; i++)
        if (c->speed->out[i] &&
            poison_device((CUdeviceptr)c->speed->out[i], c->layout.bytes[i]) != CUDA_SUCCESS)
            return machine(c, "poisoning outputs", "the driver failed");
    return true;
}

/* A call before, whose time does not count. */
static bool time_beside(struct clock *c, struct times *times) {
    struct verdict verdict;
    if (!fine(c, lab_speed.run(c->speed)) || !poison(c) ||
        !good(c, timer_start(c->timer), "the clock") || !fine(c, lab_speed.run(c->speed)) ||
        !good(c, timer_stop(c->timer, times), "what is timed beside"))
        return false;
    if (!lab_speed.computes) return true;
    return fine(c, lab_speed.verify(c->speed, &verdict)) &&
           (verdict.passed || machine(c, lab.beside, "its result is wrong"));
}

/* Inputs to the player, or outputs from it. */
static bool copy_arrays(struct clock *c, bool inputs) {
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < c->layout.arrays && error == cudaSuccess; i++) {
        const size_t bytes = c->layout.bytes[i];
        void *shared = player_array(c->player, i);
        if (inputs && c->speed->in[i])
            error = cudaMemcpy(shared, c->speed->in[i], bytes, cudaMemcpyDefault);
        if (!inputs && c->speed->out[i])
            error = cudaMemcpy(c->speed->out[i], shared, bytes, cudaMemcpyDefault);
    }
    return good(c, error, "copying between clock and player");
}

/* Said as a test case's. */
static bool judge_result(struct clock *c) {
    static const struct explained nothing;
    struct finding finding = {0};
    struct finding_words words;
    struct verdict verdict;
    if (!fine(c, lab_speed.verify(c->speed, &verdict))) return false;
    if (!verdict_finding(&verdict, &c->shape, &finding)) return true;
    finding_explain(&finding, &nothing, &words);
    return judge(&c->judgement, STATE_WRONG, "%s%s%s", words.what, words.detail[0] ? "; " : "",
                 words.detail);
}

/* Too fast for float32, whatever the host's clock says. */
static bool judge_speed(struct clock *c, const struct times *t) {
    const double fastest = c->judgement.operations / c->flops_per_second;
    return t->event_seconds >= fastest ||
           judge(&c->judgement, STATE_IMPOSSIBLE,
                 "%.4g ms is less than the %.4g ms that this GPU takes at best for so many float32 "
                 "operations",
                 t->event_seconds * 1e3, fastest * 1e3);
}

/* The warm-up runs on the data of the previous sample: the kernels are loaded, and what they learn
 * from it does not help with the next. */
static bool time_submission(struct clock *c, struct times *times) {
    struct player *p = c->player;
    struct judgement *j = &c->judgement;
    return player_do(p, WARM_UP, NULL, j) && copy_arrays(c, true) && player_do(p, GIVE, NULL, j) &&
           player_do(p, TIME, times, j) && player_do(p, TAKE, NULL, j) && copy_arrays(c, false) &&
           judge_result(c) && judge_speed(c, times);
}

/* One round: new data, the submission and what it is timed beside one after the other, in either
 * order in turn. What they computed is checked in warm-up rounds, too. `again`: the round is to be
 * repeated. */
static bool take_round(struct clock *c, int round, bool *again) {
    struct times own = {0}, beside = {0};
    const int sample = round - WARMUPS;
    const bool own_first = round % 2;
    if (!new_data(c) || (own_first && !time_submission(c, &own)) || !time_beside(c, &beside) ||
        (!own_first && !time_submission(c, &own)))
        return false;
    *again = !(clocks_agree(&own) && clocks_agree(&beside)) && c->retakes++ < RETAKES;
    if (*again || sample < 0) return true;
    c->seconds[sample] = counted_seconds(&own);
    c->beside_seconds[sample] = beside.event_seconds; /* it hides nothing */
    return true;
}

static bool take_samples(struct clock *c) {
    if (!new_data(c) || !copy_arrays(c, true) || !player_do(c->player, GIVE, NULL, &c->judgement))
        return false;
    bool again = false;
    for (int round = 0; round < WARMUPS + c->samples; round += !again)
        if (!take_round(c, round, &again)) return false;
    struct judgement *j = &c->judgement;
    j->samples = c->samples;
    j->seconds = summarise(c->seconds, c->samples);
    j->beside_seconds = summarise(c->beside_seconds, c->samples);
    if (!j->seconds.count || !j->beside_seconds.count)
        return machine(c, "the samples", "some are not positive numbers");
    j->state = STATE_TIMED;
    j->reason[0] = '\0';
    return true;
}

/* As nvcc embeds it. The driver would also take PTX by itself, as text, and translate that. */
static bool is_fat_binary(const void *image, size_t size) {
    const uint32_t magic = 0xba55ed50;
    return image && size >= sizeof magic && memcmp(image, &magic, sizeof magic) == 0;
}

static bool run(struct clock *c) {
    size_t size;
    const struct recording *recording = read_file(c->recording, sizeof *recording, &size);
    if (!recording_check(recording, recording ? size : 0, &c->shape, &c->judgement)) return false;
    const void *image = read_file(c->kernels, KERNELS_BYTES, &size);
    if (!is_fat_binary(image, size))
        return judge(&c->judgement, STATE_REFUSED, "there are no compiled kernels");
    c->player = player_new(image, recording, c->allowed_seconds, &c->judgement);
    return c->player && find_device(c) && fine(c, lab_speed.begin(&c->shape, &c->speed)) &&
           good(c, timer_new(&c->timer), "the clock") && take_samples(c);
}

int main(int argc, char **argv) {
    static struct clock clock;
    read_arguments(&clock, argc, argv);
    const struct vocabulary words = lab_words(&lab);
    vocabulary_use(&words);
    clock.judgement.operations = truth_operations(&clock.shape);
    clock.layout = host_layout_of(&lab, &clock.shape, false);
    machine(&clock, "the clock", "it ended too early"); /* unless run() judges otherwise */
    run(&clock);
    judgement_print(stdout, &clock.judgement);
    const bool printed = fflush(stdout) == 0;
    if (clock.player)
        player_free(clock.player); /* last: ending a kernel that hangs takes a while */
    if (!printed) return EXIT_MACHINE;
    return clock.judgement.state == STATE_MACHINE ? EXIT_MACHINE : EXIT_PASSED;
}
