/* emulator.cu: how fast the CPU backend is, beside what else a machine without a GPU could do.
 *
 *   make bench-emulator                        1000 x 500 x 700
 *   build/bench-emulator 1000 500 700  512 512 512     each three numbers: M K N
 *
 * The kernel is that of ../solutions/2_tiled.cu, 16 x 16. Against it stand the plain loop that
 * anyone would write in C, on one core and on all, and PoCL (pocl.h), which compiles the same
 * kernel in OpenCL. All take turns in one process, so that a machine that is busy now and then is
 * unfair to none; a ratio is the median of the rounds' ratios. Then the same launch with one core,
 * two, and so on, each in a process of its own that is confined to so many: the backend starts one
 * worker a core. Exit status: 1 if two results differ, never because of a time. */
#include "../solutions/2_tiled.cu"

#include "pocl.h"

#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum exit_status { EXIT_DIFFERENT = 1, EXIT_USAGE = 2, EXIT_MACHINE = 3 };
enum { MIN_ROUNDS = 7, MAX_ROUNDS = 25, MAX_THREADS = 256, MAX_SIZE = 30000 };

static const double enough_seconds = 6; /* rounds are added until they have taken so long */
static const double patience = 2;       /* seconds without a word on standard error */
static const double target_seconds = 0.30;
static const double target_megabytes = 200;

static const char one_process[] = "--one-process"; /* what a process for the second table is told */

static void stop(enum exit_status status, const char *why) {
    fprintf(stderr, "bench-emulator: %s\n", why);
    exit(status);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* --- progress --------------------------------------------------------------------------------- */

static double progress_begun;

/* Lines that overwrite each other are for a terminal only. */
static bool progress_due(void) {
    return isatty(STDERR_FILENO) && now() - progress_begun > patience;
}

static void progress(const char *what, int round) {
    if (progress_due()) fprintf(stderr, "\r%-32s round %d ", what, round + 1);
}

static void progress_end(void) {
    if (progress_due()) fprintf(stderr, "\r%50s\r", "");
}

/* --- one product, and who computes it --------------------------------------------------------- */

struct product {
    int m, n, k;
    float *A, *B, *C;                      /* on the host; C is the plain loop's */
    float *device_A, *device_B, *device_C; /* the backend's */
    struct pocl pocl;
};

static float *new_matrix(int rows, int columns) {
    float *data = (float *)malloc((size_t)rows * (size_t)columns * sizeof *data);
    if (!data) stop(EXIT_MACHINE, "out of memory");
    return data;
}

/* Uniform on (-1, 1). */
static void fill(float *data, size_t count, uint32_t seed) {
    for (size_t i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)((int)(seed >> 8) - (1 << 23)) / (float)(1 << 23);
    }
}

static void must(cudaError_t error) {
    if (error != cudaSuccess) stop(EXIT_MACHINE, cudaGetErrorString(error));
}

static float *to_device(const float *data, size_t count) {
    float *copy;
    must(cudaMalloc(&copy, count * sizeof *copy));
    if (data) must(cudaMemcpy(copy, data, count * sizeof *copy, cudaMemcpyHostToDevice));
    return copy;
}

static void product_make(struct product *p, int m, int k, int n) {
    size_t size_A = (size_t)m * (size_t)k, size_B = (size_t)k * (size_t)n;
    *p = product();
    p->m = m;
    p->n = n;
    p->k = k;
    p->A = new_matrix(m, k);
    p->B = new_matrix(k, n);
    p->C = new_matrix(m, n);
    fill(p->A, size_A, 1);
    fill(p->B, size_B, 2);
    p->device_A = to_device(p->A, size_A);
    p->device_B = to_device(p->B, size_B);
    p->device_C = to_device(NULL, (size_t)m * (size_t)n);
}

static void product_free(struct product *p) {
    must(cudaFree(p->device_A));
    must(cudaFree(p->device_B));
    must(cudaFree(p->device_C));
    free(p->A);
    free(p->B);
    free(p->C);
}

static void engine(struct product *p) {
    basicSgemm(p->m, p->n, p->k, p->device_A, p->device_B, p->device_C);
    must(cudaGetLastError());
    must(cudaDeviceSynchronize());
}

/* Rows first to last of C, in the order of loops that compilers can turn into vector operations. */
static void plain_rows(const struct product *p, int first, int last) {
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

static void plain_one(struct product *p) { plain_rows(p, 0, p->m); }

struct share {
    const struct product *product;
    int first, last;
};

static void *plain_share(void *argument) {
    const struct share *share = (const struct share *)argument;
    plain_rows(share->product, share->first, share->last);
    return NULL;
}

static void plain_all(struct product *p) {
    pthread_t threads[MAX_THREADS];
    struct share shares[MAX_THREADS];
    int count = cores() < MAX_THREADS ? cores() : MAX_THREADS;
    for (int t = 0; t < count; ++t) {
        shares[t] = {p, (int)((int64_t)p->m * t / count), (int)((int64_t)p->m * (t + 1) / count)};
        if (pthread_create(&threads[t], NULL, plain_share, &shares[t]) != 0)
            stop(EXIT_MACHINE, "no thread to be had");
    }
    for (int t = 0; t < count; ++t) pthread_join(threads[t], NULL);
}

static void pocl(struct product *p) {
    if (!pocl_multiply(&p->pocl)) stop(EXIT_MACHINE, "PoCL failed to run the kernel");
}

static void engine_result(struct product *p, float *C) {
    must(cudaMemcpy(C, p->device_C, (size_t)p->m * (size_t)p->n * sizeof *C,
                    cudaMemcpyDeviceToHost));
}

static void plain_result(struct product *p, float *C) {
    memcpy(C, p->C, (size_t)p->m * (size_t)p->n * sizeof *C);
}

static void pocl_fetch(struct product *p, float *C) {
    if (!pocl_result(&p->pocl, C)) stop(EXIT_MACHINE, "PoCL failed to give its result");
}

/* --- statistics ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count) {
    double sorted[MAX_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

static double minimum(const double *values, int count) {
    double least = values[0];
    for (int i = 1; i < count; ++i) least = values[i] < least ? values[i] : least;
    return least;
}

static double median_ratio(const double *values, const double *to, int count) {
    double ratios[MAX_ROUNDS];
    for (int i = 0; i < count; ++i) ratios[i] = values[i] / to[i];
    return median(ratios, count);
}

/* --- the first table -------------------------------------------------------------------------- */

struct contender {
    char name[40];
    void (*multiply)(struct product *);
    void (*result)(struct product *, float *C);
    double seconds[MAX_ROUNDS];
};

static double seconds_of(const struct contender *who, struct product *p) {
    double begun = now();
    who->multiply(p);
    return now() - begun;
}

/* Everybody once for warming up, then in turns. Gives the number of rounds. */
static int take_turns(struct contender *all, int count, struct product *p) {
    int rounds = 0;
    for (int i = 0; i < count; ++i) {
        progress(all[i].name, -1);
        all[i].multiply(p);
    }
    for (double begun = now(); rounds < MAX_ROUNDS; ++rounds) {
        if (rounds >= MIN_ROUNDS && now() - begun > enough_seconds) break;
        for (int i = 0; i < count; ++i) {
            progress(all[i].name, rounds);
            all[i].seconds[rounds] = seconds_of(&all[i], p);
        }
    }
    return rounds;
}

/* The Euclidean norms of `count` vectors of `length` elements that lie `step` apart. */
static double *norms(const float *data, int count, size_t next, int length, size_t step) {
    double *norm = (double *)malloc((size_t)count * sizeof *norm);
    if (!norm) stop(EXIT_MACHINE, "out of memory");
    for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int q = 0; q < length; ++q) {
            double x = data[(size_t)i * next + (size_t)q * step];
            sum += x * x;
        }
        norm[i] = sqrt(sum);
    }
    return norm;
}

/* How far two results are apart: the largest difference, and whether any is larger than two float32
 * sums of the same k products can differ, whatever their order (twice gamma_k times the row's norm
 * times the column's). */
static double difference(const struct product *p, const float *one, const float *other,
                         bool *too_large) {
    double *rows = norms(p->A, p->m, (size_t)p->k, p->k, 1);
    double *columns = norms(p->B, p->n, 1, p->k, (size_t)p->n);
    double u = 1.0 / (1 << 24), bound = 2 * (p->k + 2) * u / (1 - (p->k + 2) * u), most = 0;
    for (int i = 0; i < p->m; ++i)
        for (int j = 0; j < p->n; ++j) {
            size_t at = (size_t)i * (size_t)p->n + (size_t)j;
            double apart = fabs((double)one[at] - (double)other[at]);
            if (!(apart <= most)) most = apart;
            if (!(apart <= bound * rows[i] * columns[j])) *too_large = true;
        }
    free(rows);
    free(columns);
    return most;
}

static void print_row(const struct contender *who, const struct contender *first, int rounds,
                      double apart) {
    printf("%-30s %9.4f %9.4f %8.2f ", who->name, median(who->seconds, rounds),
           minimum(who->seconds, rounds), median_ratio(who->seconds, first->seconds, rounds));
    if (who == first)
        printf("%14s\n", "-");
    else
        printf("%14.1e\n", apart);
}

/* False if two results differ. */
static bool compare_engines(struct product *p) {
    struct contender all[4] = {{"this engine", engine, engine_result, {}},
                               {"plain loop in C, 1 core", plain_one, plain_result, {}}};
    int count = 2;
    if (cores() > 1) {
        snprintf(all[count].name, sizeof all[count].name, "plain loop in C, %d cores", cores());
        all[count].multiply = plain_all;
        all[count++].result = plain_result;
    }
    const char *no_pocl = pocl_open(&p->pocl, p->m, p->n, p->k, p->A, p->B);
    if (!no_pocl) {
        snprintf(all[count].name, sizeof all[count].name, "PoCL %s, %u compute unit%s",
                 p->pocl.version, p->pocl.compute_units, p->pocl.compute_units == 1 ? "" : "s");
        all[count].multiply = pocl;
        all[count++].result = pocl_fetch;
    }
    progress_begun = now();
    int rounds = take_turns(all, count, p);
    progress_end();

    bool differ = false;
    float *ours = new_matrix(p->m, p->n), *theirs = new_matrix(p->m, p->n);
    engine_result(p, ours);
    printf("m x k x n = %d x %d x %d, 16 x 16 tiles, %d core%s, %d rounds\n\n", p->m, p->k, p->n,
           cores(), cores() == 1 ? "" : "s", rounds);
    printf("%-30s %9s %9s %8s %14s\n", "", "median s", "minimum s", "ratio", "max difference");
    for (int i = 0; i < count; ++i) {
        all[i].result(p, theirs);
        print_row(&all[i], &all[0], rounds, difference(p, ours, theirs, &differ));
    }
    if (no_pocl) printf("PoCL: %s\n", no_pocl);
    if (p->m == 1000 && p->k == 500 && p->n == 700)
        printf("\ntiled 16x16 at 1000x500x700: %.2f s (target: at most %.2f s on 2 cores)\n",
               median(all[0].seconds, rounds), target_seconds);
    free(ours);
    free(theirs);
    return !differ;
}

/* --- the second table ------------------------------------------------------------------------- */

/* The most memory that this process ever held, in bytes. (getrusage would begin with the parent's,
 * which lives on through exec.) */
static double peak_bytes(void) {
    double kilobytes = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
    if (status) fclose(status);
    return kilobytes * 1024;
}

/* A process of the second table: the engine alone, on the cores that this process may use. */
static int measure_here(int m, int k, int n) {
    struct product p;
    struct contender alone = {"", engine, engine_result, {}};
    product_make(&p, m, k, n);
    progress_begun = now();
    snprintf(alone.name, sizeof alone.name, "this engine, %d core%s", cores(),
             cores() == 1 ? "" : "s");
    int rounds = take_turns(&alone, 1, &p);
    progress_end();
    double inputs = (double)m * k + (double)k * n, result = (double)m * n;
    double matrices = (2 * inputs + result) * sizeof(float); /* nobody touches the host's C here */
    printf("%.6f %.6f %.0f\n", median(alone.seconds, rounds), minimum(alone.seconds, rounds),
           peak_bytes() - matrices);
    return EXIT_SUCCESS;
}

/* Confines this process to the first `count` of the cores it may use, and begins anew. */
static void begin_anew(int count, const struct product *p) {
    char m[16], k[16], n[16];
    cpu_set_t may, set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof may, &may) != 0) _exit(EXIT_MACHINE);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&set) < count; ++cpu)
        if (CPU_ISSET(cpu, &may)) CPU_SET(cpu, &set);
    snprintf(m, sizeof m, "%d", p->m);
    snprintf(k, sizeof k, "%d", p->k);
    snprintf(n, sizeof n, "%d", p->n);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        execl("/proc/self/exe", "bench-emulator", one_process, m, k, n, (char *)NULL);
    _exit(EXIT_MACHINE);
}

struct scaling {
    double median, minimum, bytes;
};

static struct scaling measure_with(int count, const struct product *p) {
    struct scaling got;
    int ends[2], status = 0;
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        begin_anew(count, p);
    }
    if (child < 0) stop(EXIT_MACHINE, "no process to be had");
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    bool read = answer && fscanf(answer, "%lf %lf %lf", &got.median, &got.minimum, &got.bytes) == 3;
    if (answer) fclose(answer);
    waitpid(child, &status, 0);
    if (!read || status != 0) stop(EXIT_MACHINE, "a process that measures did not come to its end");
    return got;
}

/* 1, 2, 3 ... up to four cores; then doubled, and all. */
static int next_count(int count, int all) {
    int next = count < 4 ? count + 1 : count * 2;
    return count < all && next > all ? all : next;
}

static void compare_counts(const struct product *p) {
    double one = 0, most = 0;
    printf("\n%-30s %9s %9s %8s %14s\n", "this engine, by cores", "median s", "minimum s",
           "speed-up", "memory in MB *");
    for (int count = 1; count <= cores(); count = next_count(count, cores())) {
        struct scaling got = measure_with(count, p);
        double megabytes = got.bytes / 1e6;
        if (count == 1) one = got.median;
        if (megabytes > most) most = megabytes;
        printf("%-30d %9.4f %9.4f %8.2f %14.1f\n", count, got.median, got.minimum, one / got.median,
               megabytes);
    }
    printf("* the most that the process ever held, less the matrices\n\n");
    printf("memory beyond the matrices: %.0f MB (target: at most %.0f MB)\n", most,
           target_megabytes);
}

/* --- main ------------------------------------------------------------------------------------- */

static int size_from(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && value >= 1 && value <= MAX_SIZE)
        return (int)value;
    fprintf(stderr, "bench-emulator: '%s' is no size: give M K N, each from 1 to %d\n", text,
            MAX_SIZE);
    exit(EXIT_USAGE);
}

int main(int argc, char **argv) {
    static const char *const standard[] = {"1000", "500", "700"};
    const char *const *sizes = argc > 1 ? argv + 1 : standard;
    int count = argc > 1 ? argc - 1 : 3;
    bool same = true;
    if (count == 4 && strcmp(sizes[0], one_process) == 0)
        return measure_here(size_from(sizes[1]), size_from(sizes[2]), size_from(sizes[3]));
    if (count % 3 != 0) stop(EXIT_USAGE, "give sizes in threes: M K N");
    for (int i = 0; i < count; ++i) size_from(sizes[i]); /* refuse the last before the first runs */
    for (int i = 0; i < count; i += 3) {
        struct product p;
        if (i) printf("\n\n");
        product_make(&p, size_from(sizes[i]), size_from(sizes[i + 1]), size_from(sizes[i + 2]));
        same &= compare_engines(&p);
        fflush(stdout);
        compare_counts(&p);
        product_free(&p);
    }
    if (!same) stop(EXIT_DIFFERENT, "results differ by more than rounding");
    return EXIT_SUCCESS;
}
