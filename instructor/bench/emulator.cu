/* emulator.cu: how fast the CPU backend is, beside a plain loop in C.
 *
 *   make bench-emulator [SHAPES="M K N ..."]
 *
 * The kernel is that of ../solutions/2_tiled.cu, 16 x 16. First it runs with one core, two, and so
 * on, each in a process of its own that is confined to so many: the backend starts one worker a
 * core. Then it takes turns with a plain loop in C, on one core and on all.
 * Exit status: 1 if a result is wrong, never because of a time. */
#include "../solutions/2_tiled.cu"

#include "../../lab/verify.h"
#include "../../support.h"
#include "harness.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- one product, and who computes it --------------------------------------------------------- */

struct product {
    int m, n, k;
    float *A, *B, *C;                      /* on the host; C is the plain loop's */
    float *device_A, *device_B, *device_C; /* the backend's */
};

static float *new_matrix(int rows, int columns) {
    return (float *)bench_allocate((size_t)rows * (size_t)columns * sizeof(float));
}

static void must(cudaError_t error) {
    if (error != cudaSuccess) bench_stop(BENCH_MACHINE, cudaGetErrorString(error));
}

static float *to_device(const float *data, size_t count) {
    float *copy;
    must(cudaMalloc(&copy, count * sizeof *copy));
    if (data) must(cudaMemcpy(copy, data, count * sizeof *copy, cudaMemcpyHostToDevice));
    return copy;
}

static struct product product_new(struct bench_size size) {
    struct product p = {size.m, size.n, size.k};
    size_t size_A = (size_t)p.m * (size_t)p.k, size_B = (size_t)p.k * (size_t)p.n;
    p.A = new_matrix(p.m, p.k);
    p.B = new_matrix(p.k, p.n);
    p.C = new_matrix(p.m, p.n);
    fill_matrix(FILL_RANDOM, 1, MATRIX_A, p.m, p.k, p.A);
    fill_matrix(FILL_RANDOM, 1, MATRIX_B, p.k, p.n, p.B);
    p.device_A = to_device(p.A, size_A);
    p.device_B = to_device(p.B, size_B);
    p.device_C = to_device(NULL, (size_t)p.m * (size_t)p.n);
    return p;
}

static void product_free(struct product *p) {
    must(cudaFree(p->device_A));
    must(cudaFree(p->device_B));
    must(cudaFree(p->device_C));
    free(p->A);
    free(p->B);
    free(p->C);
}

static void run_emulator(void *context) {
    struct product *p = (struct product *)context;
    basicSgemm(p->m, p->n, p->k, p->device_A, p->device_B, p->device_C);
    must(cudaGetLastError());
    must(cudaDeviceSynchronize());
}

/* Rows first to last of C, in the order of loops that compilers can turn into vector operations. */
static void plain_rows(void *context, int first, int last) {
    const struct product *p = (const struct product *)context;
    size_t n = (size_t)p->n, k = (size_t)p->k;
    for (size_t i = (size_t)first; i < (size_t)last; ++i) {
        float *__restrict__ c = p->C + i * n;
        memset(c, 0, n * sizeof *c);
        for (size_t q = 0; q < k; ++q) {
            float a = p->A[i * k + q];
            const float *b = p->B + q * n;
            for (size_t j = 0; j < n; ++j) c[j] += a * b[j];
        }
    }
}

static void run_plain(void *context) { plain_rows(context, 0, ((struct product *)context)->m); }

static void run_plain_on_all(void *context) {
    bench_share_rows(plain_rows, context, ((struct product *)context)->m);
}

/* --- the same result? ------------------------------------------------------------------------- */

/* Whether C is right, by the verdict that ./sgemm gives. */
static bool is_right(const struct product *p, const float *C) {
    static struct verdict verdict; /* large */
    struct problem problem = {p->m, p->n, p->k, p->A, p->B, C, COMPARE_FLOAT32, 1};
    if (!verify(&problem, VERIFY_FULL, NULL, &verdict)) bench_stop(BENCH_MACHINE, "out of memory");
    return verdict.passed;
}

static bool same_result(const struct product *p) {
    float *ours = new_matrix(p->m, p->n);
    must(cudaMemcpy(ours, p->device_C, (size_t)p->m * (size_t)p->n * sizeof *ours,
                    cudaMemcpyDeviceToHost));
    bool same = is_right(p, ours) && is_right(p, p->C);
    free(ours);
    return same;
}

static void compare_with_plain(struct bench_size size) {
    struct product p = product_new(size);
    struct contender all[] = {{"CPU backend", run_emulator, &p, {}},
                              {"plain loop, 1 core", run_plain, &p, {}},
                              {"", run_plain_on_all, &p, {}}};
    int count = bench_cores() > 1 ? 3 : 2;
    snprintf(all[2].name, sizeof all[2].name, "plain loop, %d cores", bench_cores());
    bench_compare(all, count);
    if (!same_result(&p)) bench_stop(BENCH_WRONG, "a result is wrong");
    product_free(&p);
}

/* --- on so many cores ------------------------------------------------------------------------- */

/* What a process of its own measures; lies in memory shared with it. */
struct scaling {
    double median, minimum, bytes;
};

/* The most memory that this process ever held, in bytes. (getrusage would begin with the parent's.)
 */
static double peak_bytes(void) {
    double kilobytes = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
    if (status) fclose(status);
    return kilobytes * 1024;
}

static void confine_to(int count) {
    cpu_set_t may, set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof may, &may) != 0) _exit(BENCH_MACHINE);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&set) < count; ++cpu)
        if (CPU_ISSET(cpu, &may)) CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) _exit(BENCH_MACHINE);
}

static void measure_alone(struct bench_size size, int count, struct scaling *got) {
    double inputs = (double)size.m * size.k + (double)size.k * size.n;
    double matrices = (2 * inputs + (double)size.m * size.n) * sizeof(float);
    confine_to(count);
    struct product p = product_new(size);
    struct contender alone = {"", run_emulator, &p, {}};
    snprintf(alone.name, sizeof alone.name, "CPU backend, %d of the cores", count);
    int rounds = bench_take_turns(&alone, 1);
    got->median = bench_median(alone.seconds, rounds);
    got->minimum = bench_minimum(alone.seconds, rounds);
    got->bytes = peak_bytes() - matrices; /* nothing touches the host's C here */
}

static struct scaling measure_with(struct bench_size size, int count) {
    void *memory = mmap(NULL, sizeof(struct scaling), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    fflush(NULL);
    pid_t child = memory == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        measure_alone(size, count, (struct scaling *)memory);
        _exit(BENCH_OK);
    }
    if (child > 0) waitpid(child, &status, 0);
    if (status != 0) bench_stop(BENCH_MACHINE, "a measuring process failed");
    struct scaling got = *(struct scaling *)memory;
    munmap(memory, sizeof got);
    return got;
}

/* 1, 2, 3 ... up to four cores; then doubled, and all. */
static int next_count(int count, int all) {
    int next = count < 4 ? count + 1 : count * 2;
    return count < all && next > all ? all : next;
}

static void compare_counts(struct bench_size size) {
    double one = 0;
    printf("%-42s %10s %10s %8s\n", "CPU backend on so many cores", "median, s", "speed-up",
           "MB *");
    for (int count = 1; count <= bench_cores(); count = next_count(count, bench_cores())) {
        struct scaling got = measure_with(size, count);
        if (count == 1) one = got.median;
        printf("  %-40d %10.4f %10.2f %8.1f\n", count, got.median, one / got.median,
               got.bytes / 1e6);
    }
    printf("  * the most that the process ever held, less the matrices\n\n");
}

int main(int argc, char **argv) {
    /* All of these first: a fork would lose the workers that the others start. */
    bench_each_size(argc, argv, NULL, compare_counts);
    bench_each_size(argc, argv, "tiles of 16", compare_with_plain);
    return BENCH_OK;
}
