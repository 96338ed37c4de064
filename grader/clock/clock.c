/* clock: times a submission that it does not trust, against cuBLAS, and checks what it computes.
 *
 *     clock KERNELS RECORDING M K N SAMPLES SECONDS
 *
 * KERNELS: the submission's compiled kernels, a fat binary. RECORDING: what its
 * basicSgemm asked of the runtime (recording.h). No host code of the submission runs here. Prints
 * one JSON object on one line (judgement.h), whatever happens.
 *
 * Exit status: 0 it has judged; 2 bad usage; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "../../engine/host/driver/options.h"
#include "player.h"
#include "product.h"
#include "timer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WARMUPS = 2,  /* rounds before: clocks rise, cuBLAS loads its kernels */
    RETAKES = 10, /* rounds that may be taken again because the two clocks differ, as the machine
                     was busy with something else */
    MOST_SAMPLES = 1000,
    KERNELS_BYTES = 64 << 20
};

struct request {
    const char *kernels, *recording;
    int m, k, n, samples, seconds;
};

/* ---- the command line ----------------------------------------------------------------------- */

static int number(const char *text, int most) {
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (!errno && end != text && !*end && value >= 1 && value <= most) return (int)value;
    fprintf(stderr, "clock: %s is not a number from 1 to %d\n", text, most);
    exit(EXIT_USAGE);
}

static struct request request_of(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: clock KERNELS RECORDING M K N SAMPLES SECONDS\n");
        exit(EXIT_USAGE);
    }
    return (struct request){
        .kernels = argv[1],
        .recording = argv[2],
        .m = number(argv[3], INT32_MAX),
        .k = number(argv[4], INT32_MAX),
        .n = number(argv[5], INT32_MAX),
        .samples = number(argv[6], MOST_SAMPLES),
        .seconds = number(argv[7], 86400),
    };
}

/* ---- files ---------------------------------------------------------------------------------- */

/* A whole regular file, followed by a 0; NULL when it does not exist or is too large. It was made
 * in the sandbox, so it may grow or shrink while it is read. */
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
    struct timer *timer;
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

static bool new_result(struct clock *c, float **C) {
    const size_t bytes = (size_t)c->request.m * (size_t)c->request.n * sizeof(float);
    return good(c, cudaMalloc((void **)C, bytes), "memory for a product");
}

static bool set_up(struct clock *c) {
    const struct request *o = &c->request;
    c->seconds = calloc((size_t)o->samples, sizeof *c->seconds);
    c->cublas_seconds = calloc((size_t)o->samples, sizeof *c->cublas_seconds);
    if (!c->seconds || !c->cublas_seconds) return machine(c, "the clock", "out of memory");
    c->product = product_new(o->m, o->n, o->k, &c->judgement);
    return c->product && good(c, timer_new(&c->timer), "the clock") && new_result(c, &c->C) &&
           new_result(c, &c->cublas_C);
}

/* ---- one sample ----------------------------------------------------------------------------- */

static bool new_data(struct clock *c) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return machine(c, "a seed", "no random numbers");
    return product_fill(c->product, seed, &c->judgement);
}

/* A call before, whose time does not count, then a poisoned C, as for the submission. */
static bool time_cublas(struct clock *c, struct times *times) {
    return product_cublas(c->product, c->cublas_C, &c->judgement) &&
           product_poison(c->product, c->cublas_C, &c->judgement) &&
           good(c, timer_start(c->timer), "the clock") &&
           product_cublas(c->product, c->cublas_C, &c->judgement) &&
           good(c, timer_stop(c->timer, times), "cuBLAS");
}

static bool check_cublas(struct clock *c) {
    struct product_verdict verdict;
    return product_verdict(c->product, c->cublas_C, &verdict, &c->judgement) &&
           (verdict_passed(&verdict) || machine(c, "cuBLAS", "its C is wrong"));
}

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

/* The warm-up runs on the data of the previous sample: the kernels are loaded, and what they learn
 * from it does not help with the next. */
static bool time_submission(struct clock *c, struct times *times) {
    return player_warm_up(c->player, &c->judgement) && give(c) &&
           player_sample(c->player, times, &c->judgement) && take(c);
}

static bool judge_result(struct clock *c) {
    struct product_verdict v;
    const unsigned long long elements = (unsigned long long)c->request.m * (unsigned)c->request.n;
    if (!product_verdict(c->product, c->C, &v, &c->judgement)) return false;
    if (verdict_passed(&v)) return true;
    if (v.not_float32)
        return judge(
            &c->judgement, STATE_WRONG,
            "C is wrong: less precise than float32, with errors up to %.0f u (%.1f u in the "
            "root mean square)",
            v.max_u, v.rms_u);
    if (v.wrong == 0)
        return judge(&c->judgement, STATE_WRONG,
                     "%zu of %llu elements of C %s never written, "
                     "the first in row %d, column %d",
                     v.unwritten, elements, v.unwritten == 1 ? "was" : "were", v.row, v.col);
    const size_t bad = v.wrong + v.unwritten;
    return judge(&c->judgement, STATE_WRONG,
                 "%zu of %llu elements of C %s wrong: in row %d, "
                 "column %d it is %g instead of %g",
                 bad, elements, bad == 1 ? "is" : "are", v.row, v.col, (double)v.got, v.expected);
}

/* Too fast for float32, whatever the host's clock says. */
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
 * What they computed is checked in warm-up rounds, too. `again`: the round is to be repeated. */
static bool take_round(struct clock *c, int round, bool *again) {
    struct times own = {0}, cublas = {0};
    const int sample = round - WARMUPS;
    const bool cublas_first = round % 2 == 0;
    if (!new_data(c)) return false;
    if (cublas_first && !time_cublas(c, &cublas)) return false;
    if (!time_submission(c, &own)) return false;
    if (!cublas_first && !time_cublas(c, &cublas)) return false;
    if (!check_cublas(c) || !judge_result(c) || !judge_speed(c, &own)) return false;
    *again = !(clocks_agree(&own) && clocks_agree(&cublas)) && c->retakes++ < RETAKES;
    if (*again || sample < 0) return true;
    c->seconds[sample] = counted_seconds(&own);
    c->cublas_seconds[sample] = cublas.event_seconds; /* cuBLAS hides nothing */
    return true;
}

static bool take_samples(struct clock *c) {
    const struct request *o = &c->request;
    if (!new_data(c) || !give(c) || !player_give(c->player, &c->judgement)) return false;
    for (int round = 0; round < WARMUPS + o->samples;) {
        bool again = false;
        if (!take_round(c, round, &again)) return false;
        if (!again) round++;
    }
    struct judgement *j = &c->judgement;
    j->samples = o->samples;
    j->seconds = summarise(c->seconds, o->samples);
    j->cublas_seconds = summarise(c->cublas_seconds, o->samples);
    if (!j->seconds.n || !j->cublas_seconds.n)
        return machine(c, "the samples", "some are not positive numbers");
    j->state = STATE_TIMED;
    j->reason[0] = '\0';
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The submission's part, which needs no GPU. */
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
    machine(&clock, "the clock", "it ended too early"); /* unless run() judges otherwise */
    run(&clock);
    judgement_print(stdout, &clock.judgement);
    const bool printed = fflush(stdout) == 0;
    if (clock.player)
        player_free(clock.player); /* last: ending a kernel that hangs takes a while */
    if (!printed) return EXIT_MACHINE;
    return clock.judgement.state == STATE_MACHINE ? EXIT_MACHINE : EXIT_PASSED;
}
