/* clock: times a submission that it does not trust, against cuBLAS, and checks what it computes.
 *
 *     clock KERNELS RECORDING M K N [--samples N] [--warmups N] [--seconds LIMIT]
 *
 * KERNELS: the submission's compiled kernels, a fat binary. RECORDING: what its
 * basicSgemm asked of the runtime (recording.h). No host code of the submission runs here. Prints
 * one JSON object on one line (judgement.h), whatever happens; docs/clock.md has the whole story.
 *
 * Exit status: 0 it has judged; 2 bad usage; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "l2.h"
#include "player.h"
#include "product.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SAMPLES = 11, /* of which a median and quartiles can be told */
    WARMUPS = 2,  /* rounds before: clocks rise, cuBLAS loads its kernels */
    RETAKES = 10, /* rounds that may be taken again because the two clocks differ: the machine was
                     busy with something else while the host's ran */
    MOST_SAMPLES = 1000,
    KERNELS_BYTES = 64 << 20
};
static const double default_seconds = 60;

struct request {
    const char *kernels, *recording;
    int m, k, n, samples, warmups;
    double seconds;
};

/* ---- the command line ----------------------------------------------------------------------- */

static _Noreturn void usage(const char *what) {
    fprintf(stderr,
            "clock: %s\nusage: clock KERNELS RECORDING M K N [--samples N] [--warmups N] "
            "[--seconds LIMIT]\n",
            what);
    exit(EXIT_USAGE);
}

static int number(const char *text, int least, int most) {
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > most)
        usage("a number is none, or out of range");
    return (int)value;
}

static double seconds_of(const char *text) {
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= 86400)) usage("--seconds is no such limit");
    return value;
}

static struct request request_of(int argc, char **argv) {
    struct request o = {.samples = SAMPLES, .warmups = WARMUPS, .seconds = default_seconds};
    const char *words[5];
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--samples") == 0 && has_value)
            o.samples = number(argv[++i], 1, MOST_SAMPLES);
        else if (strcmp(argv[i], "--warmups") == 0 && has_value)
            o.warmups = number(argv[++i], 0, MOST_SAMPLES);
        else if (strcmp(argv[i], "--seconds") == 0 && has_value)
            o.seconds = seconds_of(argv[++i]);
        else if (argv[i][0] != '-' && count < 5)
            words[count++] = argv[i];
        else
            usage("unknown argument, or one too many");
    }
    if (count != 5) usage("an argument is missing");
    o.kernels = words[0];
    o.recording = words[1];
    o.m = number(words[2], 1, INT32_MAX);
    o.k = number(words[3], 1, INT32_MAX);
    o.n = number(words[4], 1, INT32_MAX);
    return o;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* All of a regular file, with a 0 behind it; NULL when there is none or it is too large. It may
 * grow or shrink meanwhile: the sandbox made it. */
static char *read_file(const char *path, size_t most, size_t *size) {
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
    if (bytes) bytes[*size] = '\0';
    close(file);
    return bytes;
}

/* ---- the GPU -------------------------------------------------------------------------------- */

struct clock {
    struct request request;
    struct judgement judgement;
    double flops_per_second;
    struct product *product;
    float *C, *cublas_C; /* in this process's GPU memory */
    struct l2 *l2;
    cudaEvent_t begin, end;
    struct player *player;
    double *seconds, *cublas_seconds;
    int retakes;
};

static bool machine(struct clock *c, const char *what, const char *why) {
    return judge(&c->judgement, STATE_MACHINE, "%s: %s", what, why);
}

static bool good(struct clock *c, cudaError_t error, const char *what) {
    return error == cudaSuccess || machine(c, what, cudaGetErrorString(error));
}

/* Float32 multiply-adds that one multiprocessor begins in a cycle (CUDA's programming guide,
 * "arithmetic instructions"): those of data centres had half until the A100. */
static int lanes(int major, int minor) {
    const bool half = major == 7 || (major == 6 && minor == 0) || (major == 8 && minor == 0);
    return half ? 64 : 128;
}

static bool asked(struct clock *c, enum cudaDeviceAttr attribute, int *value) {
    return good(c, cudaDeviceGetAttribute(value, attribute, 0), "asking the GPU");
}

static bool find_device(struct clock *c) {
    struct cudaDeviceProp about;
    int major, minor, multiprocessors, kilohertz;
    if (!good(c, cudaSetDeviceFlags(cudaDeviceScheduleSpin), "no GPU can be used") ||
        !good(c, cudaSetDevice(0), "no GPU can be used") || !good(c, cudaFree(NULL), "the GPU") ||
        !good(c, cudaGetDeviceProperties(&about, 0), "asking the GPU") ||
        !asked(c, cudaDevAttrComputeCapabilityMajor, &major) ||
        !asked(c, cudaDevAttrComputeCapabilityMinor, &minor) ||
        !asked(c, cudaDevAttrMultiProcessorCount, &multiprocessors) ||
        !asked(c, cudaDevAttrClockRate, &kilohertz))
        return false;
    snprintf(c->judgement.device, DEVICE_NAME_SIZE, "%s", about.name);
    c->flops_per_second = 2.0 * multiprocessors * lanes(major, minor) * kilohertz * 1e3;
    return true;
}

static bool new_result(struct clock *c, float **C) {
    const size_t bytes = (size_t)c->request.m * (size_t)c->request.n * sizeof(float);
    return good(c, cudaMalloc((void **)C, bytes), "memory for a product");
}

static bool set_up(struct clock *c) {
    const struct request *o = &c->request;
    const int rounds = o->samples;
    c->seconds = calloc((size_t)rounds, sizeof *c->seconds);
    c->cublas_seconds = calloc((size_t)rounds, sizeof *c->cublas_seconds);
    if (!c->seconds || !c->cublas_seconds) return machine(c, "the clock", "out of memory");
    c->product = product_new(o->m, o->n, o->k);
    if (!c->product) return machine(c, "the product", product_error());
    c->l2 = l2_new();
    if (!c->l2) return machine(c, "the L2 cache", l2_error());
    return new_result(c, &c->C) && new_result(c, &c->cublas_C) &&
           good(c, cudaEventCreate(&c->begin), "an event") &&
           good(c, cudaEventCreate(&c->end), "an event");
}

/* ---- one sample ----------------------------------------------------------------------------- */

static bool new_data(struct clock *c) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return machine(c, "a seed", "no random numbers");
    return product_fill(c->product, seed) || machine(c, "new matrices", product_error());
}

static bool enqueue_cublas(struct clock *c) {
    if (!l2_hold(NULL)) return machine(c, "the clock", l2_error());
    if (!good(c, cudaEventRecord(c->begin, NULL), "an event")) return false;
    if (!product_cublas(c->product, c->cublas_C, NULL))
        return machine(c, "cuBLAS", product_error());
    return good(c, cudaEventRecord(c->end, NULL), "an event");
}

/* A call before, which nobody looks at; then as replay_prepare() has it for the submission. */
static bool warm_up_cublas(struct clock *c) {
    if (!product_cublas(c->product, c->cublas_C, NULL))
        return machine(c, "cuBLAS", product_error());
    if (!product_poison(c->product, c->cublas_C, NULL))
        return machine(c, "poisoning C", product_error());
    if (!l2_flush(c->l2, NULL)) return machine(c, "the L2 cache", l2_error());
    return good(c, cudaDeviceSynchronize(), "cuBLAS");
}

/* As replay_time() has it for the submission. */
static bool time_cublas(struct clock *c, struct times *times) {
    float milliseconds = 0;
    if (!warm_up_cublas(c)) return false;
    const double begun = clock_seconds();
    if (!enqueue_cublas(c) || !good(c, cudaDeviceSynchronize(), "cuBLAS")) return false;
    times->host_seconds = clock_seconds() - begun;
    if (!good(c, cudaEventElapsedTime(&milliseconds, c->begin, c->end), "an event")) return false;
    times->event_seconds = milliseconds * 1e-3;
    return true;
}

static bool check_cublas(struct clock *c) {
    struct product_verdict verdict;
    if (!product_verdict(c->product, c->cublas_C, &verdict))
        return machine(c, "checking cuBLAS's C", product_error());
    if (!verdict_passed(&verdict)) return machine(c, "cuBLAS", "its C is wrong");
    return true;
}

/* From the product to the player. */
static bool give(struct clock *c) {
    const float *const from[] = {product_A(c->product), product_B(c->product)};
    const size_t m = (size_t)c->request.m, n = (size_t)c->request.n, k = (size_t)c->request.k;
    const size_t elements[] = {m * k, k * n};
    for (int i = MATRIX_A; i <= MATRIX_B; i++)
        if (!good(c,
                  cudaMemcpy(player_matrix(c->player, (enum matrix_name)i), from[i],
                             elements[i] * sizeof(float), cudaMemcpyDeviceToHost),
                  "copying a matrix to the player"))
            return false;
    return true;
}

static bool take(struct clock *c) {
    const size_t elements = (size_t)c->request.m * (size_t)c->request.n;
    return good(c,
                cudaMemcpy(c->C, player_matrix(c->player, MATRIX_C), elements * sizeof(float),
                           cudaMemcpyHostToDevice),
                "copying C from the player");
}

/* The warm-up is on the data of the sample before, or a first one's: the kernels are loaded, and
 * what they learn from it is of no use for the next. */
static bool time_submission(struct clock *c, struct times *times) {
    return player_warm_up(c->player, &c->judgement) && give(c) &&
           player_sample(c->player, times, &c->judgement) && take(c);
}

static bool judge_result(struct clock *c) {
    struct product_verdict v;
    const unsigned long long elements = (unsigned long long)c->request.m * (unsigned)c->request.n;
    if (!product_verdict(c->product, c->C, &v)) return machine(c, "checking C", product_error());
    if (verdict_passed(&v)) return true;
    if (v.not_float32)
        return judge(
            &c->judgement, STATE_WRONG,
            "C is wrong: less precise than float32, with errors up to %.0f u (%.1f u in the "
            "root mean square)",
            v.max_u, v.rms_u);
    if (v.wrong == 0)
        return judge(&c->judgement, STATE_WRONG,
                     "%zu of %llu elements of C were never written, "
                     "the first in row %d, column %d",
                     v.unwritten, elements, v.row, v.col);
    return judge(&c->judgement, STATE_WRONG,
                 "%zu of %llu elements of C are wrong: in row %d, "
                 "column %d it is %g instead of %g",
                 v.wrong + v.unwritten, elements, v.row, v.col, (double)v.got, v.expected);
}

/* Too fast for any float32: no matter what the host's clock says. */
static bool judge_speed(struct clock *c, const struct times *t) {
    const struct request *o = &c->request;
    const double fastest = fastest_possible(o->m, o->n, o->k, c->flops_per_second);
    return t->event_seconds >= fastest ||
           judge(&c->judgement, STATE_IMPOSSIBLE,
                 "%.4g ms is less than the %.4g ms that this GPU takes at best for so many float32 "
                 "operations",
                 t->event_seconds * 1e3, fastest * 1e3);
}

/* One round: new data, cuBLAS and the submission one after the other, in either order in turn.
 * What they computed is checked in warm-up rounds, too. `again`: it is to be taken once more. */
static bool take_round(struct clock *c, int round, bool *again) {
    struct times own = {0}, cublas = {0};
    const int sample = round - c->request.warmups;
    const bool cublas_first = round % 2 == 0;
    if (!new_data(c)) return false;
    if (cublas_first && !time_cublas(c, &cublas)) return false;
    if (!time_submission(c, &own)) return false;
    if (!cublas_first && !time_cublas(c, &cublas)) return false;
    if (!check_cublas(c) || !judge_result(c) || !judge_speed(c, &own)) return false;
    *again = !(clocks_agree(&own) && clocks_agree(&cublas)) && c->retakes++ < RETAKES;
    if (*again || sample < 0) return true;
    c->seconds[sample] = counted_seconds(&own);
    c->cublas_seconds[sample] = cublas.event_seconds; /* nobody hides anything there */
    return true;
}

static bool take_samples(struct clock *c) {
    const struct request *o = &c->request;
    if (!new_data(c) || !give(c) || !player_give(c->player, &c->judgement)) return false;
    for (int round = 0; round < o->warmups + o->samples;) {
        bool again = false;
        if (!take_round(c, round, &again)) return false;
        if (!again) round++;
    }
    struct judgement *j = &c->judgement;
    j->samples = o->samples;
    j->seconds = summarise(c->seconds, o->samples);
    j->cublas_seconds = summarise(c->cublas_seconds, o->samples);
    if (!j->seconds.n || !j->cublas_seconds.n)
        return machine(c, "the samples", "they are no times");
    j->state = STATE_TIMED;
    j->reason[0] = '\0';
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The submission's part, before any GPU is asked for. */
static bool make_plan(struct clock *c, struct plan *plan) {
    const struct request *o = &c->request;
    char reason[REASON_SIZE];
    size_t size;
    char *text = read_file(o->recording, RECORDING_BYTES, &size);
    if (!text)
        return judge(&c->judgement, STATE_REFUSED, "there is no recording, or it is too large");
    struct recording *recording = recording_read(text, size, reason);
    if (!recording) return judge(&c->judgement, STATE_REFUSED, "%s", reason);
    return plan_make(recording, o->m, o->n, o->k, plan, &c->judgement); /* which keeps it */
}

/* As nvcc embeds it. The driver would also take PTX by itself, as text, and translate that. */
static bool is_fat_binary(const char *image, size_t size) {
    const uint32_t magic = 0xba55ed50;
    return image && size >= sizeof magic && memcmp(image, &magic, sizeof magic) == 0;
}

static bool run(struct clock *c) {
    static struct plan plan;
    size_t size;
    if (!make_plan(c, &plan)) return false;
    const char *image = read_file(c->request.kernels, KERNELS_BYTES, &size);
    if (!is_fat_binary(image, size))
        return judge(&c->judgement, STATE_REFUSED, "there are no compiled kernels");
    c->player = player_new(image, &plan, c->request.seconds, &c->judgement);
    return c->player && find_device(c) && set_up(c) && take_samples(c);
}

int main(int argc, char **argv) {
    static struct clock clock;
    clock.request = request_of(argc, argv);
    clock.judgement.m = clock.request.m;
    clock.judgement.n = clock.request.n;
    clock.judgement.k = clock.request.k;
    machine(&clock, "the clock", "it ended too early"); /* until something else is known */
    run(&clock);
    judgement_print(stdout, &clock.judgement);
    const bool told = fflush(stdout) == 0;
    if (clock.player)
        player_free(clock.player); /* last: ending a kernel that hangs takes a while */
    if (!told) return EXIT_MACHINE;
    return clock.judgement.state == STATE_MACHINE ? EXIT_MACHINE : EXIT_PASSED;
}
