/* support.c: everything around the kernel that is not CUDA. What each function promises stands in
 * support.h; the comments here say how and why.
 *
 * Sections: small tools, options, memory, matrices, clock and cores, reference, verification,
 * report. Each uses only those above it.
 */
#define _GNU_SOURCE /* sched_getaffinity, getopt_long, open_memstream */
#include "support.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ---- small tools --------------------------------------------------------------------------- */

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static int min_int(int a, int b) { return a < b ? a : b; }

static int max_int(int a, int b) { return a > b ? a : b; }

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

static size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* ---- options ------------------------------------------------------------------------------- */

static const char *const fill_names[FILL_COUNT] = {"random", "ones-twos", "identity",
                                                   "index",  "exact",     "extremes"};
static const char fill_list[] = "random, ones-twos, identity, index, exact, extremes";
static const char *const verify_names[] = {"full", "quick", "none"};

enum { DEFAULT_SIZE = 1000, MAX_REPEAT = 1000000 };
static const double max_timeout = 1e6; /* seconds, so eleven days */

static const char help_text[] =
    "usage: ./sgemm [options]          multiply 1000 x 1000 matrices\n"
    "       ./sgemm [options] M        M x M matrices\n"
    "       ./sgemm [options] M K N    A (M x K) by B (K x N)\n"
    "\n"
    "Runs basicSgemm of kernel.cu, compares C = A B with a reference, prints the time.\n"
    "\n"
    "  --seed N         make A and B from this seed (default: a fresh one, printed)\n"
    "  --fill KIND      what A and B hold (default: random)\n"
    "                     random     uniform on (-1, 1)\n"
    "                     ones-twos  A = 1, B = 2: every element of C is 2 K\n"
    "                     identity   A picks rows of B: C[i][j] = B[i mod K][j], and\n"
    "                                the values of B name their row and column\n"
    "                     index      B picks columns of A: C[i][j] = A[i][j mod K],\n"
    "                                the values of A name their row and column\n"
    "                     exact      integers that float32 adds up exactly\n"
    "                     extremes   magnitudes from 2^-30 to 2^30\n"
    "  --repeat N       timed launches (default: 10 on a GPU, 1 on the CPU backend)\n"
    "  --verify MODE    full (default), quick (samples, for large sizes) or none\n"
    "  --timeout S      seconds one launch may take (default: 10, and 1 more for\n"
    "                   every 20 million multiply-adds M K N)\n"
    "  --json           print one JSON object instead of text\n"
    "  --help           print this\n"
    "\n"
    "Exit status: 0 the test passed, 1 the kernel is wrong, 2 bad usage,\n"
    "3 the machine is at fault.\n";

const char *fill_name(enum fill fill) { return fill_names[fill]; }

bool fill_parse(const char *name, enum fill *fill) {
    for (int i = 0; i < FILL_COUNT; i++) {
        if (strcmp(name, fill_names[i]) == 0) {
            *fill = (enum fill)i;
            return true;
        }
    }
    return false;
}

const char *verify_name(enum verify_mode mode) { return verify_names[mode]; }

double default_timeout(int m, int n, int k) {
    /* Twenty times what a plain build of a naive kernel takes on two cores, and more. */
    return 10.0 + (double)m * n * k / 20e6;
}

/* What the user typed, fit for one line of a message: short, and without control characters. */
struct quoted {
    char text[48];
};

static struct quoted quote(const char *typed) {
    struct quoted quoted;
    const size_t room = sizeof quoted.text - 4; /* for "..." */
    size_t length = min_size(strlen(typed), room);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)typed[i];
        quoted.text[i] = (c < 0x20 || c >= 0x7f) ? '?' : typed[i];
    }
    strcpy(quoted.text + length, typed[length] ? "..." : "");
    return quoted;
}

__attribute__((format(printf, 2, 3))) static enum exit_status usage(char message[MESSAGE_SIZE],
                                                                    const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

/* A whole number without sign, space or anything after it; false also when it is above UINT64_MAX.
 */
static bool parse_unsigned(const char *text, bool hex_allowed, uint64_t *value) {
    bool hex = hex_allowed && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    if (!digits[0] || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
        return false;
    errno = 0;
    unsigned long long parsed = strtoull(digits, NULL, hex ? 16 : 10);
    *value = parsed;
    return errno == 0;
}

static enum exit_status parse_size(const char *text, int *size, char message[MESSAGE_SIZE]) {
    uint64_t value = 0;
    bool digits = text[0] && !text[strspn(text, "0123456789")];
    if (digits && (!parse_unsigned(text, false, &value) || value > INT_MAX))
        return usage(message, "size '%s' is too large: a dimension is at most %d", quote(text).text,
                     INT_MAX);
    if (!digits || value == 0)
        return usage(message, "'%s' is not a matrix size: give whole numbers from 1 to %d",
                     quote(text).text, INT_MAX);
    *size = (int)value;
    return EXIT_PASSED;
}

/* Kernels compute row * n + col in int, which has to hold for every element. */
static enum exit_status check_elements(char name, int rows, int cols, char message[MESSAGE_SIZE]) {
    int64_t elements = (int64_t)rows * cols;
    if (elements <= INT_MAX) return EXIT_PASSED;
    return usage(message,
                 "%c would be %d x %d = %" PRId64 " elements: a matrix has at most %d, "
                 "because kernels index with int",
                 name, rows, cols, elements, INT_MAX);
}

static enum exit_status parse_sizes(int count, char **sizes, struct options *options,
                                    char message[MESSAGE_SIZE]) {
    int value[3] = {DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE};
    if (count != 0 && count != 1 && count != 3)
        return usage(message, "%d sizes given: give none, one (M) or three (M K N)", count);
    for (int i = 0; i < count; i++) {
        enum exit_status status = parse_size(sizes[i], &value[i], message);
        if (status != EXIT_PASSED) return status;
    }
    if (count == 1) value[1] = value[2] = value[0];
    options->m = value[0];
    options->k = value[1]; /* the command line says m k n */
    options->n = value[2];
    enum exit_status status = check_elements('A', options->m, options->k, message);
    if (status == EXIT_PASSED) status = check_elements('B', options->k, options->n, message);
    if (status == EXIT_PASSED) status = check_elements('C', options->m, options->n, message);
    return status;
}

static bool parse_timeout(const char *text, double *seconds) {
    char *end;
    if (!text[0] || text[strspn(text, "0123456789.")]) return false;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds > 0 && *seconds <= max_timeout;
}

/* 32 bits, so that a student can type it again. */
static uint64_t fresh_seed(void) {
    uint32_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    struct timespec now; /* a young machine without entropy */
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint32_t)(now.tv_nsec ^ now.tv_sec ^ ((int64_t)getpid() << 16));
}

enum {
    OPTION_SEED = 256,
    OPTION_FILL,
    OPTION_REPEAT,
    OPTION_VERIFY,
    OPTION_TIMEOUT,
    OPTION_JSON,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"seed", required_argument, NULL, OPTION_SEED},
    {"fill", required_argument, NULL, OPTION_FILL},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"verify", required_argument, NULL, OPTION_VERIFY},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

/* One option that getopt_long knows. */
static enum exit_status parse_option(int option, const char *argument, struct options *options,
                                     char message[MESSAGE_SIZE]) {
    uint64_t value;
    switch (option) {
    case OPTION_SEED:
        if (!parse_unsigned(argument, true, &options->seed))
            return usage(
                message,
                "'%s' is not a seed: give a whole number from 0 to 2^64 - 1, decimal or 0x",
                quote(argument).text);
        break;
    case OPTION_FILL:
        if (!fill_parse(argument, &options->fill))
            return usage(message, "there is no fill '%s': choose one of %s", quote(argument).text,
                         fill_list);
        break;
    case OPTION_REPEAT:
        if (!parse_unsigned(argument, false, &value) || value < 1 || value > MAX_REPEAT)
            return usage(message, "--repeat '%s' is wrong: give a whole number from 1 to %d",
                         quote(argument).text, MAX_REPEAT);
        options->repeat = (int)value;
        break;
    case OPTION_VERIFY:
        for (int i = 0; i < LENGTH(verify_names); i++) {
            if (strcmp(argument, verify_names[i]) == 0) {
                options->verify = (enum verify_mode)i;
                return EXIT_PASSED;
            }
        }
        return usage(message, "--verify '%s' is wrong: choose full, quick or none",
                     quote(argument).text);
    case OPTION_TIMEOUT:
        if (!parse_timeout(argument, &options->timeout))
            return usage(message, "--timeout '%s' is wrong: give seconds above 0, like 20 or 2.5",
                         quote(argument).text);
        break;
    case OPTION_JSON: options->json = true; break;
    case OPTION_HELP: options->help = true; break;
    }
    return EXIT_PASSED;
}

/* What getopt_long does not take. To it -5 is an option; to a student it is a size. */
static enum exit_status reject_option(int argc, char **argv, char message[MESSAGE_SIZE]) {
    const char *typed = argv[optind - 1];
    if (optopt > 0 && optopt < 256) {
        if (optind < argc && argv[optind][0] == '-' && argv[optind][1] == optopt)
            typed = argv[optind]; /* getopt is still inside this word */
        int size;
        if (isdigit(optopt) || optopt == '.') return parse_size(typed, &size, message);
        if (optopt == 'h') return usage(message, "there is no option -h: --help lists the options");
    }
    if (optopt >= OPTION_SEED)
        return usage(message, "option '%s' takes no value", quote(typed).text);
    return usage(message, "there is no option '%s': --help lists the options", quote(typed).text);
}

enum exit_status options_parse(int argc, char **argv, struct options *options,
                               char message[MESSAGE_SIZE]) {
    *options = (struct options){.fill = FILL_RANDOM, .verify = VERIFY_FULL};
    options->seed = fresh_seed();
    message[0] = '\0';
    optind = 0; /* start afresh, also when called twice */
    opterr = 0; /* the messages are ours */
    int option;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        enum exit_status status;
        if (option == ':')
            status = usage(message, "option '%s' needs a value: --help says which",
                           quote(argv[optind - 1]).text);
        else if (option == '?')
            status = reject_option(argc, argv, message);
        else
            status = parse_option(option, optarg, options, message);
        if (status != EXIT_PASSED) return status;
    }
    if (options->help) return EXIT_PASSED;
    enum exit_status status = parse_sizes(argc - optind, argv + optind, options, message);
    if (status == EXIT_PASSED && options->timeout == 0)
        options->timeout = default_timeout(options->m, options->n, options->k);
    return status;
}

static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) return true;
    }
    return false;
}

struct options options_read(int argc, char **argv) {
    char message[MESSAGE_SIZE];
    struct options options;
    enum exit_status status = options_parse(argc, argv, &options, message);
    if (status == EXIT_PASSED && options.help) {
        fputs(help_text, stdout);
        exit(EXIT_PASSED);
    }
    if (status == EXIT_PASSED) {
        size_t needed = memory_needed(options.m, options.n, options.k);
        size_t available = memory_available();
        if (needed <= available) return options;
        status = EXIT_MACHINE;
        snprintf(
            message, sizeof message,
            "these sizes need %.1f GB of memory and %.1f GB are available: choose smaller ones",
            (double)needed / 1e9, (double)available / 1e9);
    }
    fprintf(stderr, "sgemm: %s\n", message);
    if (wants_json(argc, argv)) report_json(NULL, status, message, stdout);
    exit(status);
}

/* ---- memory -------------------------------------------------------------------------------- */

size_t memory_needed(int m, int n, int k) {
    uint64_t a = (uint64_t)m * k, b = (uint64_t)k * n, c = (uint64_t)m * n;
    uint64_t returned = a > b ? a : b; /* A and B come back one after the other */
    uint64_t guards = 2 * 4 * (uint64_t)guard_size(m, n, k);
    uint64_t sampling = 8 * (uint64_t)n + 16 * (uint64_t)k + 16 * ((uint64_t)m + (uint64_t)n);
    uint64_t fixed = UINT64_C(16) << 20; /* the program, thread stacks, the reference's tiles */
    return (size_t)((a + b + c + returned + guards) * sizeof(float) + sampling + fixed);
}

static bool read_number(const char *path, uint64_t *value) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool found = fscanf(file, "%" SCNu64, value) == 1; /* "max" is no number: no limit */
    fclose(file);
    return found;
}

/* The value of `name VALUE` or `name: VALUE` in a file of such lines. */
static bool read_field(const char *path, const char *name, uint64_t *value) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[256];
    size_t length = strlen(name);
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':'))
            found = sscanf(line + length + 1, "%" SCNu64, value) == 1;
    }
    fclose(file);
    return found;
}

/* One version of control groups: where it is mounted and what its files are called. */
struct cgroup_files {
    const char *mount, *limit, *usage, *cache;
};

static const struct cgroup_files cgroup_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                              "inactive_file"};
static const struct cgroup_files cgroup_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                              "memory.usage_in_bytes", "total_inactive_file"};

/* What one group still allows: its limit, less its use, but file cache makes room when needed. */
static uint64_t cgroup_room(const struct cgroup_files *files, const char *group) {
    char path[PATH_MAX + 64];
    uint64_t limit, used, cache = 0;
    snprintf(path, sizeof path, "%s%s/%s", files->mount, group, files->limit);
    if (!read_number(path, &limit)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s/%s", files->mount, group, files->usage);
    if (!read_number(path, &used)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s/memory.stat", files->mount, group);
    read_field(path, files->cache, &cache);
    used -= cache < used ? cache : used;
    return limit > used ? limit - used : 0;
}

/* The tightest room of this process's group and of those around it. */
static uint64_t cgroup_available(void) {
    uint64_t room = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (!file) return room;
    char line[PATH_MAX];
    while (fgets(line, sizeof line, file)) { /* "0::/group" (v2) or "9:memory:/group" (v1) */
        line[strcspn(line, "\n")] = '\0';
        char *group = strchr(line, '/');
        if (!group) continue;
        bool v2 = strncmp(line, "0::", 3) == 0;
        group[-1] = '\0';
        if (!v2 && !strstr(line, "memory")) continue;
        for (;;) {
            if (strcmp(group, "/") == 0) group[0] = '\0';
            uint64_t here = cgroup_room(v2 ? &cgroup_v2 : &cgroup_v1, group);
            room = here < room ? here : room;
            char *slash = strrchr(group, '/');
            if (!slash) break;
            *slash = '\0';
        }
    }
    fclose(file);
    return room;
}

size_t memory_available(void) {
    uint64_t kilobytes, available = UINT64_MAX;
    if (read_field("/proc/meminfo", "MemAvailable", &kilobytes)) available = kilobytes * 1024;
    uint64_t room = cgroup_available();
    available = room < available ? room : available;
    return available > SIZE_MAX ? SIZE_MAX : (size_t)available;
}

/* ---- clock and cores ----------------------------------------------------------------------- */

enum { MAX_WORKERS = 256 };

static int forced_threads; /* set_threads() */

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void set_threads(int threads) { forced_threads = threads; }

static int core_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than cpu_set_t holds */
    return online > 0 ? (int)min_size((size_t)online, MAX_WORKERS) : 1;
}

/* Threads for `count` pieces of `work` elementary steps in all: starting one takes as long as some
 * hundred thousand steps, so small problems stay in the caller's. */
static int worker_count(size_t count, double work) {
    const double steps_per_worker = 400e3;
    int wanted = forced_threads;
    if (wanted <= 0) {
        double useful = work / steps_per_worker;
        int cores = core_count();
        wanted = useful < cores ? (int)useful : cores;
    }
    wanted = min_int(wanted, MAX_WORKERS);
    if ((size_t)wanted > count) wanted = (int)count;
    return max_int(wanted, 1);
}

/* body(context, worker, index) for each index below count, each by whichever of `workers` threads
 * is free; worker is 0 .. workers - 1, and 0 is the caller's thread. */
typedef void parallel_body(void *context, int worker, size_t index);

struct parallel_job {
    parallel_body *body;
    void *context;
    size_t count;
    atomic_size_t next;
    const struct progress *progress; /* worker 0 calls it; may be NULL */
    double done, share;              /* progress before this job, and what this job adds */
};

struct parallel_worker {
    struct parallel_job *job;
    int number;
    pthread_t thread;
};

static void *parallel_work(void *argument) {
    struct parallel_worker *worker = argument;
    struct parallel_job *job = worker->job;
    size_t index;
    while ((index = atomic_fetch_add(&job->next, 1)) < job->count) {
        job->body(job->context, worker->number, index);
        if (worker->number == 0 && job->progress)
            job->progress->show(job->progress->context,
                                job->done + job->share * (double)index / (double)job->count);
    }
    return NULL;
}

static void parallel_run(struct parallel_job *job, int workers) {
    struct parallel_worker worker[MAX_WORKERS];
    int started = 1;
    for (int i = 0; i < workers; i++) worker[i] = (struct parallel_worker){.job = job, .number = i};
    /* Where a thread cannot be had, the others do its share. */
    while (started < workers &&
           pthread_create(&worker[started].thread, NULL, parallel_work, &worker[started]) == 0)
        started++;
    parallel_work(&worker[0]);
    for (int i = 1; i < started; i++) pthread_join(worker[i].thread, NULL);
}

/* ---- matrices ------------------------------------------------------------------------------ */

enum {
    GUARD_ROWS = 64,         /* four tiles of 16 past the edge, two of 32 */
    GUARD_ALIGN = 64,        /* floats: the 256 bytes that cudaMalloc aligns to */
    GUARD_MIN = 64 * 1024,   /* floats: a grid fixed at 1024 rows on a matrix 64 wide */
    GUARD_MAX = 4096 * 1024, /* floats: six guards of 16 MiB are enough memory */
    EXACT_TERMS = 4096,      /* 4096 terms of at most 4095 stay below 2^24 */
    FILL_CHUNK = 64 * 1024,  /* elements that one thread fills at a time */
};

#define EXACT_LIMIT (INT64_C(1) << 24) /* float32 holds every integer up to here */

size_t guard_size(int m, int n, int k) {
    size_t widest = (size_t)max_int(m, max_int(n, k));
    size_t guard = widest >= GUARD_MAX / GUARD_ROWS ? GUARD_MAX : widest * GUARD_ROWS;
    return round_up(guard < GUARD_MIN ? GUARD_MIN : guard, GUARD_ALIGN);
}

/* Through memcpy: an assignment of floats may turn a signalling NaN into a quiet one. */
static void set_bits(float *values, size_t count, uint32_t bits) {
    for (size_t i = 0; i < count; i++) memcpy(&values[i], &bits, sizeof bits);
}

static uint32_t get_bits(const float *value) {
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

struct matrix matrix_new(int rows, int cols, size_t guard) {
    size_t elements = (size_t)rows * (size_t)cols;
    struct matrix matrix = {.rows = rows, .cols = cols, .guard = guard};
    matrix.bytes = round_up((elements + 2 * guard) * sizeof(float), GUARD_ALIGN * sizeof(float));
    matrix.buffer = aligned_alloc(GUARD_ALIGN * sizeof(float), matrix.bytes);
    if (!matrix.buffer) return matrix;
    matrix.data = matrix.buffer + guard;
    set_bits(matrix.buffer, guard, GUARD_BITS);
    set_bits(matrix.data + elements, matrix.bytes / sizeof(float) - guard - elements, GUARD_BITS);
    return matrix;
}

void matrix_free(struct matrix *matrix) {
    free(matrix->buffer);
    *matrix = (struct matrix){0};
}

void matrix_poison(struct matrix *matrix) {
    set_bits(matrix->data, (size_t)matrix->rows * (size_t)matrix->cols, POISON_BITS);
}

int64_t place_base(int cols) {
    int64_t base = 10;
    while (base < cols) base *= 10;
    return base;
}

/* The finaliser of splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; constants as in Vigna's public-domain splitmix64.c. */
static uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The index-th number of a stream: splitmix64 started at `key`, which is a pure function of both.
 */
static uint64_t random64(uint64_t key, uint64_t index) {
    return mix64(key + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* All that does not depend on the place of an element. */
struct generator {
    enum fill fill;
    enum matrix_name which;
    int rows, cols;
    uint64_t key;
    int64_t base, rows_named; /* for values that name their own place */
};

static struct generator generator_new(enum fill fill, uint64_t seed, enum matrix_name which,
                                      int rows, int cols) {
    struct generator g = {.fill = fill, .which = which, .rows = rows, .cols = cols};
    g.key = random64(mix64(seed), (uint64_t)which);
    g.base = place_base(cols);
    g.rows_named = g.base < EXACT_LIMIT ? EXACT_LIMIT / g.base : 1;
    return g;
}

/* 24 random bits r give the odd numerators 2 r + 1 - 2^24: symmetric about 0, never 0, exact. */
static float uniform(uint64_t bits) {
    int32_t numerator = 2 * (int32_t)(bits >> 40) + 1 - (1 << 24);
    return (float)numerator * 0x1p-24f;
}

static float own_place(const struct generator *g, int row, int col) {
    return (float)((row % g->rows_named * g->base + col) % EXACT_LIMIT);
}

/* A: odd integers 2049 .. 4095, twelve significant bits where TF32 keeps eleven. B: -1, 0 or 1, in
 * at most EXACT_TERMS of its rows, spread evenly, so that no sum of products reaches 2^24. */
static float exact_integer(const struct generator *g, int row, uint64_t bits) {
    if (g->which == MATRIX_A) return (float)(2049 + 2 * (int)(bits >> 54));
    bool used = (uint64_t)row * EXACT_TERMS % (uint64_t)g->rows < EXACT_TERMS;
    return used ? (float)((int)((bits >> 32) % 3) - 1) : 0.0f;
}

/* Sign and mantissa random, exponent -30 .. 29: a product stays within 2^-60 and 2^60, and a sum of
 * 2^31 of them below 2^91, so nothing overflows, and nothing underflows, which the bound ignores.
 */
static float extreme(uint64_t bits) {
    uint32_t exponent = (uint32_t)(127 - 30 + (bits >> 32) % 60);
    uint32_t word = (uint32_t)(bits & 0x807FFFFF) | exponent << 23;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static float element(const struct generator *g, int row, int col) {
    bool a = g->which == MATRIX_A;
    uint64_t index = (uint64_t)row * (uint64_t)g->cols + (uint64_t)col;
    switch (g->fill) {
    case FILL_ONES_TWOS: return a ? 1.0f : 2.0f;
    case FILL_IDENTITY: return a ? (float)(row % g->cols == col) : own_place(g, row, col);
    case FILL_INDEX: return a ? own_place(g, row, col) : (float)(col % g->rows == row);
    case FILL_EXACT: return exact_integer(g, row, random64(g->key, index));
    case FILL_EXTREMES: return extreme(random64(g->key, index));
    case FILL_RANDOM:
    case FILL_COUNT: break;
    }
    return uniform(random64(g->key, index));
}

float fill_element(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                   int row, int col) {
    struct generator g = generator_new(fill, seed, which, rows, cols);
    return element(&g, row, col);
}

struct fill_job {
    struct generator generator;
    float *out;
    size_t elements;
};

static void fill_chunk(void *context, int worker, size_t index) {
    struct fill_job *job = context;
    struct generator g = job->generator;
    size_t first = index * FILL_CHUNK;
    size_t last = min_size(first + FILL_CHUNK, job->elements);
    int row = (int)(first / (size_t)g.cols), col = (int)(first % (size_t)g.cols);
    for (size_t i = first; i < last; i++) {
        job->out[i] = element(&g, row, col);
        if (++col == g.cols) {
            col = 0;
            row++;
        }
    }
    (void)worker;
}

void fill_matrix(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                 float *out) {
    struct fill_job fill_job = {generator_new(fill, seed, which, rows, cols), out,
                                (size_t)rows * (size_t)cols};
    struct parallel_job job = {.body = fill_chunk, .context = &fill_job};
    job.count = (fill_job.elements + FILL_CHUNK - 1) / FILL_CHUNK;
    parallel_run(&job, worker_count(job.count, 4.0 * (double)fill_job.elements));
}

static uint64_t count_other(const float *values, size_t count, uint32_t bits) {
    uint64_t other = 0;
    for (size_t i = 0; i < count; i++) other += get_bits(&values[i]) != bits;
    return other;
}

struct damage matrix_damage(const struct matrix *sent, const float *returned, bool elements) {
    struct damage damage = {0};
    size_t count = (size_t)sent->rows * (size_t)sent->cols;
    const float *data = returned + sent->guard;
    damage.before = count_other(returned, sent->guard, GUARD_BITS);
    damage.after = count_other(data + count, sent->guard, GUARD_BITS);
    if (elements && memcmp(data, sent->data, count * sizeof(float)) != 0) {
        for (size_t i = 0; i < count; i++)
            damage.elements += get_bits(&data[i]) != get_bits(&sent->data[i]);
    }
    return damage;
}

/* ---- reference -----------------------------------------------------------------------------
 *
 * Blocked and packed as in Goto and van de Geijn, "Anatomy of high-performance matrix
 * multiplication", ACM TOMS 34(3), 2008: C is cut into tiles, k into slices; the slices of A and B
 * that a tile needs are converted to double and laid out in the order in which a microkernel, whose
 * accumulators are all registers, reads them. Each thread takes whole tiles, and a tile is handed
 * to its consumer as soon as it is done, so no m x n array of doubles ever exists.
 */

enum {
    TILE_ROWS = 96,  /* a multiple of each microkernel's rows */
    TILE_COLS = 256, /* a multiple of each microkernel's columns */
    SLICE = 256,     /* of k. 32 KiB of B for one pass of the widest microkernel: level-1 cache */
};

/* ref += a b and G += |a||b| on ROWS x COLS elements of a tile, over `depth` terms.
 * a: for each term ROWS values, then their ROWS magnitudes. b: for each term COLS values. */
typedef void microkernel(int depth, const double *a, const double *b, double *ref, double *G);

/* Vectors are the compilers' own extension, so one text serves every instruction set. ROWS is
 * chosen so that 4 * ROWS accumulators, two vectors of b and one of a fill the registers.
 * Magnitudes of a come packed, those of b by clearing the sign bit of the vectors at hand. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define FUSED /* clang contracts a * b + c by itself */
#else
#define UNROLL _Pragma("GCC unroll 16")
#define FUSED __attribute__((optimize("O3", "fp-contract=fast"))) /* -std=c11 forbids it */
#endif

#define DEFINE_MICROKERNEL(NAME, TARGET, BYTES, ROWS)                                              \
    FUSED TARGET static void NAME(int depth, const double *a, const double *b, double *ref,        \
                                  double *G) {                                                     \
        typedef double vec __attribute__((vector_size(BYTES), may_alias));                         \
        typedef int64_t bits __attribute__((vector_size(BYTES), may_alias));                       \
        enum { WIDTH = BYTES / 8 };                                                                \
        const bits magnitude = (bits){0} + INT64_MAX;                                              \
        vec r[ROWS][2], g[ROWS][2];                                                                \
        UNROLL for (int i = 0; i < ROWS; i++) r[i][0] = r[i][1] = g[i][0] = g[i][1] = (vec){0};    \
        for (int p = 0; p < depth; p++, a += 2 * ROWS, b += 2 * WIDTH) {                           \
            vec b0 = ((const vec *)b)[0], b1 = ((const vec *)b)[1];                                \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                \
                r[i][0] += a[i] * b0;                                                              \
                r[i][1] += a[i] * b1;                                                              \
            }                                                                                      \
            b0 = (vec)((bits)b0 & magnitude);                                                      \
            b1 = (vec)((bits)b1 & magnitude);                                                      \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                \
                g[i][0] += a[ROWS + i] * b0;                                                       \
                g[i][1] += a[ROWS + i] * b1;                                                       \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < ROWS; i++) {                                                    \
            vec *ref_row = (vec *)(ref + i * TILE_COLS), *G_row = (vec *)(G + i * TILE_COLS);      \
            ref_row[0] += r[i][0];                                                                 \
            ref_row[1] += r[i][1];                                                                 \
            G_row[0] += g[i][0];                                                                   \
            G_row[1] += g[i][1];                                                                   \
        }                                                                                          \
    }

#if defined(__x86_64__)
#define BASELINE_ROWS 3 /* 16 registers */
#else
#define BASELINE_ROWS 6 /* 32 registers, as on aarch64 */
#endif
DEFINE_MICROKERNEL(microkernel_baseline, , 16, BASELINE_ROWS)
#if defined(__x86_64__)
DEFINE_MICROKERNEL(microkernel_avx2, __attribute__((target("avx2,fma"))), 32, 3)
DEFINE_MICROKERNEL(microkernel_avx512, __attribute__((target("avx512f"))), 64, 6)
#endif

struct isa_entry {
    const char *name;
    microkernel *run; /* NULL: not compiled for this machine */
    int rows, cols;
};

static const struct isa_entry isa_table[ISA_COUNT] = {
    [ISA_BASELINE] = {"baseline", microkernel_baseline, BASELINE_ROWS, 4},
#if defined(__x86_64__)
    [ISA_AVX2] = {"avx2", microkernel_avx2, 3, 8},
    [ISA_AVX512] = {"avx512", microkernel_avx512, 6, 16},
#else
    [ISA_AVX2] = {"avx2", NULL, 0, 0},
    [ISA_AVX512] = {"avx512", NULL, 0, 0},
#endif
};

static enum isa chosen_isa = ISA_COUNT; /* reference_set_isa(); ISA_COUNT: the best */

static bool isa_available(enum isa isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == ISA_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == ISA_AVX512) return __builtin_cpu_supports("avx512f");
#endif
    return isa == ISA_BASELINE;
}

bool reference_set_isa(enum isa isa) {
    if (!isa_available(isa)) return false;
    chosen_isa = isa;
    return true;
}

enum isa reference_isa(void) {
    if (chosen_isa != ISA_COUNT) return chosen_isa;
    int best = ISA_COUNT - 1;
    while (!isa_available((enum isa)best)) best--;
    return (enum isa)best;
}

const char *isa_name(enum isa isa) { return isa_table[isa].name; }

/* A part of C, whose rows and columns are positions in the product's lists. */
struct tile {
    int row, col, rows, cols;
    const double *ref, *G; /* element (i, j) at [i * TILE_COLS + j] */
};

/* What is multiplied, and what becomes of it. */
struct product {
    const float *A, *B;
    int n, k;
    const int *rows, *cols; /* NULL: 0, 1, 2, ... */
    int row_count, col_count;
    bool (*wanted)(void *context, int worker, const struct tile *tile); /* NULL: always */
    void (*consume)(void *context, int worker, const struct tile *tile);
    void *context;
    /* set by product_run() */
    struct isa_entry isa;
    int tiles_across;
    struct workspace *workspace; /* one for each worker */
};

struct workspace {
    double a[2 * TILE_ROWS * SLICE];
    double b[SLICE * TILE_COLS];
    double ref[TILE_ROWS * TILE_COLS];
    double G[TILE_ROWS * TILE_COLS];
};

static int at(const int *list, int position) { return list ? list[position] : position; }

/* Terms [first, first + depth) of the tile's rows of A, for microkernels of `height` rows; rows
 * that are missing from the last of them are zero. */
static void pack_a(const struct product *product, const struct tile *tile, int first, int depth,
                   double *out) {
    int height = product->isa.rows;
    for (int top = 0; top < tile->rows; top += height) {
        for (int i = 0; i < height; i++) {
            double *o = out + i;
            if (top + i >= tile->rows) {
                for (int p = 0; p < depth; p++, o += 2 * height) o[0] = o[height] = 0.0;
                continue;
            }
            int row = at(product->rows, tile->row + top + i);
            const float *a = product->A + (size_t)row * (size_t)product->k + first;
            for (int p = 0; p < depth; p++, o += 2 * height) {
                o[0] = a[p];
                o[height] = fabs(a[p]);
            }
        }
        out += 2 * (size_t)height * (size_t)depth;
    }
}

/* The same terms of the tile's columns of B, for microkernels of `width` columns. */
static void pack_b(const struct product *product, const struct tile *tile, int first, int depth,
                   double *out) {
    int width = product->isa.cols;
    size_t panel = (size_t)width * (size_t)depth;
    for (int p = 0; p < depth; p++) {
        const float *b = product->B + (size_t)(first + p) * (size_t)product->n;
        double *o = out + (size_t)p * (size_t)width;
        for (int left = 0; left < tile->cols; left += width, o += panel) {
            int present = min_int(width, tile->cols - left);
            if (product->cols) {
                for (int j = 0; j < present; j++) o[j] = b[product->cols[tile->col + left + j]];
            } else {
                for (int j = 0; j < present; j++) o[j] = b[tile->col + left + j];
            }
            for (int j = present; j < width; j++) o[j] = 0.0;
        }
    }
}

static void compute_tile(const struct product *product, struct tile *tile, struct workspace *work) {
    int height = product->isa.rows, width = product->isa.cols;
    memset(work->ref, 0, sizeof work->ref);
    memset(work->G, 0, sizeof work->G);
    for (int first = 0; first < product->k; first += SLICE) {
        int depth = min_int(SLICE, product->k - first);
        pack_a(product, tile, first, depth, work->a);
        pack_b(product, tile, first, depth, work->b);
        for (int left = 0; left < tile->cols; left += width) {
            for (int top = 0; top < tile->rows; top += height) {
                size_t place = (size_t)top * TILE_COLS + (size_t)left;
                product->isa.run(depth, work->a + 2 * top * depth, work->b + left * depth,
                                 work->ref + place, work->G + place);
            }
        }
    }
    tile->ref = work->ref;
    tile->G = work->G;
}

static void product_tile(void *context, int worker, size_t index) {
    const struct product *product = context;
    struct tile tile = {.row = (int)(index / (size_t)product->tiles_across) * TILE_ROWS,
                        .col = (int)(index % (size_t)product->tiles_across) * TILE_COLS};
    tile.rows = min_int(TILE_ROWS, product->row_count - tile.row);
    tile.cols = min_int(TILE_COLS, product->col_count - tile.col);
    if (product->wanted && !product->wanted(product->context, worker, &tile)) return;
    compute_tile(product, &tile, &product->workspace[worker]);
    product->consume(product->context, worker, &tile);
}

static int product_workers(const struct product *product) {
    size_t down = ((size_t)product->row_count + TILE_ROWS - 1) / TILE_ROWS;
    size_t across = ((size_t)product->col_count + TILE_COLS - 1) / TILE_COLS;
    double work = (double)product->row_count * product->col_count * product->k;
    return worker_count(down * across, work);
}

/* False: no memory. `job` carries the progress, if any. */
static bool product_run(struct product *product, struct parallel_job job) {
    if (product->row_count == 0 || product->col_count == 0) return true;
    int workers = product_workers(product);
    size_t down = ((size_t)product->row_count + TILE_ROWS - 1) / TILE_ROWS;
    product->tiles_across = (product->col_count - 1) / TILE_COLS + 1;
    product->isa = isa_table[reference_isa()];
    product->workspace = aligned_alloc(64, (size_t)workers * sizeof *product->workspace);
    if (!product->workspace) return false;
    job.body = product_tile;
    job.context = product;
    job.count = down * (size_t)product->tiles_across;
    parallel_run(&job, workers);
    free(product->workspace);
    return true;
}

struct reference_out {
    double *ref, *G;
    int col_count;
};

static void copy_tile(void *context, int worker, const struct tile *tile) {
    struct reference_out *out = context;
    for (int i = 0; i < tile->rows; i++) {
        size_t to = (size_t)(tile->row + i) * (size_t)out->col_count + (size_t)tile->col;
        size_t bytes = (size_t)tile->cols * sizeof(double);
        memcpy(out->ref + to, tile->ref + i * TILE_COLS, bytes);
        memcpy(out->G + to, tile->G + i * TILE_COLS, bytes);
    }
    (void)worker;
}

bool reference(const float *A, const float *B, int n, int k, const int *rows, int row_count,
               const int *cols, int col_count, double *ref, double *G) {
    struct reference_out out = {ref, G, col_count};
    struct product product = {.A = A,
                              .B = B,
                              .n = n,
                              .k = k,
                              .rows = rows,
                              .cols = cols,
                              .row_count = row_count,
                              .col_count = col_count,
                              .consume = copy_tile,
                              .context = &out};
    return product_run(&product, (struct parallel_job){0});
}

/* ---- verification -------------------------------------------------------------------------- */

double gamma_bound(int64_t n) {
    double nu = (double)n * UNIT_ROUNDOFF;
    return nu < 1.0 ? nu / (1.0 - nu) : INFINITY;
}

enum comparison fill_comparison(enum fill fill, int m, int n, int k) {
    (void)m;
    (void)n;
    switch (fill) {
    case FILL_ONES_TWOS: /* partial sums are even integers up to 2 k */
        return 2 * (int64_t)k <= EXACT_LIMIT ? COMPARE_EXACT : COMPARE_BOUND;
    case FILL_IDENTITY: /* one term, an integer below 2^24, beside zeros */
    case FILL_INDEX:
    case FILL_EXACT: /* see exact_integer() */ return COMPARE_EXACT;
    case FILL_RANDOM: return COMPARE_FLOAT32;
    case FILL_EXTREMES:
        /* A few products make up the whole sum, so errors do not average out as the limits of
         * COMPARE_FLOAT32 suppose; and with a mean other than 0, partial sums and with them the
         * rounding errors grow with k until they look like TF32's. */
    case FILL_COUNT: break;
    }
    return COMPARE_BOUND;
}

struct place {
    int row, col;
};

/* What one worker has found; all added up at the end. */
struct tally {
    uint64_t wrong, nan, unwritten;
    uint64_t measured; /* elements in max_error and squares */
    double max_error, squares;
    struct box wrong_box, unwritten_box;
    int first_count;
    struct place first[FIRST_WRONG]; /* in row-major order */
    uint64_t map_wrong[MAP_ROWS][MAP_COLS], map_unwritten[MAP_ROWS][MAP_COLS];
};

struct verification {
    const struct problem *problem;
    struct verdict *verdict;
    const struct progress *progress;
    double gamma;           /* 0 where C must equal ref */
    bool scanned;           /* NaN and unwritten elements are counted already, all of C */
    const int *rows, *cols; /* of the product at hand */
    struct tally *tally;    /* one for each worker */
    uint64_t map_compared[MAP_ROWS][MAP_COLS];
    double progress_done;
    /* quick */
    const double *signs, *y, *y_abs;
    double *y_out, *y_abs_out;
    unsigned char *flagged;
    int chunk;
};

static const struct box empty_box = {INT_MAX, -1, INT_MAX, -1};

static void box_add(struct box *box, int row, int col) {
    box->row_first = min_int(box->row_first, row);
    box->row_last = max_int(box->row_last, row);
    box->col_first = min_int(box->col_first, col);
    box->col_last = max_int(box->col_last, col);
}

static void box_merge(struct box *box, const struct box *other) {
    if (other->row_first > other->row_last) return;
    box_add(box, other->row_first, other->col_first);
    box_add(box, other->row_last, other->col_last);
}

/* Keep the FIRST_WRONG smallest places, whatever the order in which threads come upon them. */
static void first_add(struct tally *tally, struct place place) {
    int to = tally->first_count;
    while (to > 0 &&
           (place.row < tally->first[to - 1].row ||
            (place.row == tally->first[to - 1].row && place.col < tally->first[to - 1].col)))
        to--;
    if (to == FIRST_WRONG) return;
    int last = min_int(tally->first_count, FIRST_WRONG - 1);
    for (int i = last; i > to; i--) tally->first[i] = tally->first[i - 1];
    tally->first[to] = place;
    tally->first_count = last + 1;
}

static void add_wrong(const struct verification *v, struct tally *tally, int row, int col) {
    tally->wrong++;
    box_add(&tally->wrong_box, row, col);
    first_add(tally, (struct place){row, col});
    tally->map_wrong[row / v->verdict->cell_rows][col / v->verdict->cell_cols]++;
}

/* NaN, or never written: no reference is needed to see that. */
static void add_nan(const struct verification *v, struct tally *tally, int row, int col,
                    const float *got) {
    if (get_bits(got) == POISON_BITS) {
        tally->unwritten++;
        box_add(&tally->unwritten_box, row, col);
        tally->map_unwritten[row / v->verdict->cell_rows][col / v->verdict->cell_cols]++;
    } else {
        tally->nan++;
        add_wrong(v, tally, row, col);
    }
}

static void measure(struct tally *tally, double error, double G) {
    if (!(G > 0) || !isfinite(error)) return;
    double ratio = error / G;
    tally->measured++;
    tally->squares += ratio * ratio;
    if (ratio > tally->max_error) tally->max_error = ratio;
}

/* How far an element, or a sum of elements, may be off. Finite, so that infinity is always wrong.
 */
static double bound(const struct verification *v, double G) {
    return G > 0 ? fmin(v->gamma * G, DBL_MAX) : 0;
}

static void compare_tile(void *context, int worker, const struct tile *tile) {
    struct verification *v = context;
    struct tally *tally = &v->tally[worker];
    for (int i = 0; i < tile->rows; i++) {
        int row = at(v->rows, tile->row + i);
        const float *C = v->problem->C + (size_t)row * (size_t)v->problem->n;
        const double *ref = tile->ref + i * TILE_COLS, *G = tile->G + i * TILE_COLS;
        for (int j = 0; j < tile->cols; j++) {
            int col = at(v->cols, tile->col + j);
            double error = fabs(C[col] - ref[j]);
            measure(tally, error, G[j]);
            if (error <= bound(v, G[j])) continue; /* not so for NaN */
            if (!isnan(C[col]))
                add_wrong(v, tally, row, col);
            else if (!v->scanned)
                add_nan(v, tally, row, col, &C[col]);
        }
    }
}

/* A tile without any written element needs no reference. */
static bool tile_written(void *context, int worker, const struct tile *tile) {
    struct verification *v = context;
    for (int i = 0; i < tile->rows; i++) {
        size_t row = (size_t)at(v->rows, tile->row + i);
        for (int j = 0; j < tile->cols; j++) {
            const float *got =
                &v->problem->C[row * (size_t)v->problem->n + (size_t)at(v->cols, tile->col + j)];
            if (get_bits(got) != POISON_BITS) return true;
        }
    }
    for (int i = 0; i < tile->rows && !v->scanned; i++) {
        int row = at(v->rows, tile->row + i);
        for (int j = 0; j < tile->cols; j++) {
            int col = at(v->cols, tile->col + j);
            add_nan(v, &v->tally[worker], row, col,
                    &v->problem->C[(size_t)row * (size_t)v->problem->n + (size_t)col]);
        }
    }
    return false;
}

/* Each cell of the map: how many of these rows and columns cross it. */
static void map_count(struct verification *v, const int *rows, int row_count, const int *cols,
                      int col_count) {
    uint64_t down[MAP_ROWS] = {0}, across[MAP_COLS] = {0};
    for (int i = 0; i < row_count; i++) down[at(rows, i) / v->verdict->cell_rows]++;
    for (int j = 0; j < col_count; j++) across[at(cols, j) / v->verdict->cell_cols]++;
    for (int i = 0; i < MAP_ROWS; i++) {
        for (int j = 0; j < MAP_COLS; j++) v->map_compared[i][j] += down[i] * across[j];
    }
}

/* Hold these rows x these columns of C against the reference. `share` is the part of the whole
 * verification's time that this takes, about. */
static bool compare(struct verification *v, const int *rows, int row_count, const int *cols,
                    int col_count, double share) {
    const struct problem *p = v->problem;
    struct product product = {.A = p->A,
                              .B = p->B,
                              .n = p->n,
                              .k = p->k,
                              .rows = rows,
                              .cols = cols,
                              .row_count = row_count,
                              .col_count = col_count,
                              .wanted = tile_written,
                              .consume = compare_tile,
                              .context = v};
    v->rows = rows;
    v->cols = cols;
    v->verdict->compared += (uint64_t)row_count * (uint64_t)col_count;
    map_count(v, rows, row_count, cols, col_count);
    struct parallel_job job = {.progress = v->progress, .done = v->progress_done, .share = share};
    v->progress_done += share;
    return product_run(&product, job);
}

/* -- quick -- */

enum {
    QUICK_TILE = 16,         /* the lab's tile: its corners are where guards go wrong */
    QUICK_RANDOM = 16,       /* random rows, and columns, in full */
    QUICK_LAST = 4,          /* last rows, and columns, in full */
    QUICK_FLAGGED = 64,      /* rows that Freivalds' check flags, in full */
    QUICK_CHUNK = 64 * 1024, /* elements that a thread takes at a time */
};

/* sum = x . y and magnitude = |x| . |z|, in eight lanes that compilers turn into vectors. */
static void dot(const float *x, const double *y, const double *z, int count, double *sum,
                double *magnitude) {
    enum { LANES = 8 };
    double s[LANES] = {0}, g[LANES] = {0};
    int j = 0;
    for (; j + LANES <= count; j += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            s[lane] += x[j + lane] * y[j + lane];
            g[lane] += fabs(x[j + lane] * z[j + lane]);
        }
    }
    for (; j < count; j++) {
        s[0] += x[j] * y[j];
        g[0] += fabs(x[j] * z[j]);
    }
    *sum = *magnitude = 0;
    for (int lane = 0; lane < LANES; lane++) {
        *sum += s[lane];
        *magnitude += g[lane];
    }
}

/* y = B x and |B| 1, some rows of B. */
static void freivalds_b(void *context, int worker, size_t index) {
    struct verification *v = context;
    const struct problem *p = v->problem;
    int64_t first = (int64_t)index * v->chunk;
    for (int64_t row = first; row < first + v->chunk && row < p->k; row++)
        dot(p->B + row * p->n, v->signs, v->signs, p->n, &v->y_out[row], &v->y_abs_out[row]);
    (void)worker;
}

/* Some rows of C: count what is NaN, and flag a row when C x - A (B x) is larger than the sum of
 * what its elements may be off. Exact inputs leave no error at all, and sums of integers no
 * rounding. */
static void freivalds_c(void *context, int worker, size_t index) {
    struct verification *v = context;
    const struct problem *p = v->problem;
    int64_t first = (int64_t)index * v->chunk;
    for (int64_t row = first; row < first + v->chunk && row < p->m; row++) {
        const float *C = p->C + row * p->n;
        double expected, allowed, got, unused;
        dot(p->A + row * p->k, v->y, v->y_abs, p->k, &expected, &allowed);
        dot(C, v->signs, v->signs, p->n, &got, &unused);
        allowed = p->comparison == COMPARE_EXACT ? 0.5 : bound(v, allowed);
        v->flagged[row] = !(fabs(got - expected) <= allowed);
        if (!isnan(got)) continue;
        for (int col = 0; col < p->n; col++) {
            if (isnan(C[col])) add_nan(v, &v->tally[worker], (int)row, col, &C[col]);
        }
    }
}

static void run_rows(struct verification *v, parallel_body *body, int rows, int cols,
                     double share) {
    struct parallel_job job = {.body = body, .context = v, .progress = v->progress};
    v->chunk = max_int(1, QUICK_CHUNK / cols);
    job.count = ((size_t)rows + (size_t)v->chunk - 1) / (size_t)v->chunk;
    job.done = v->progress_done;
    job.share = share;
    v->progress_done += share;
    parallel_run(&job, worker_count(job.count, (double)rows * cols));
}

/* Freivalds, "Probabilistic machines can use less running time", 1977: C x = A (B x) for a random
 * vector x of signs, in O(mk + kn + mn) instead of O(mkn). */
static bool freivalds(struct verification *v, uint64_t key) {
    const struct problem *p = v->problem;
    double *signs = malloc((size_t)p->n * sizeof *signs);
    double *y = malloc((size_t)p->k * sizeof *y), *y_abs = malloc((size_t)p->k * sizeof *y);
    bool enough = signs && y && y_abs;
    if (enough) {
        for (int j = 0; j < p->n; j++) signs[j] = random64(key, (uint64_t)j) >> 63 ? 1.0 : -1.0;
        v->signs = signs;
        v->y = v->y_out = y;
        v->y_abs = v->y_abs_out = y_abs;
        run_rows(v, freivalds_b, p->k, p->n, 0.1);
        run_rows(v, freivalds_c, p->m, max_int(p->n, p->k), 0.2);
        v->scanned = true;
    }
    free(signs);
    free(y);
    free(y_abs);
    return enough;
}

/* Lists of the rows (or columns) that are compared in full, of all others, and of those among the
 * others that lie on the edge of a tile; all in order, and the caller's to free. */
struct sample {
    int *full, *rest, *edge;
    int full_count, rest_count, edge_count;
};

static void sample_free(struct sample *sample) {
    free(sample->full);
    free(sample->rest);
    free(sample->edge);
}

/* chosen[i] says whether row i of `size` is to be compared in full whatever else is. */
static bool sample_new(struct sample *sample, int size, const unsigned char *flagged,
                       int flagged_max, uint64_t key) {
    *sample = (struct sample){0};
    size_t bytes = (size_t)size * sizeof(int);
    unsigned char *chosen = calloc((size_t)size, 1);
    sample->full = malloc(bytes);
    sample->rest = malloc(bytes);
    sample->edge = malloc(bytes);
    bool enough = chosen && sample->full && sample->rest && sample->edge;
    for (int i = 0; enough && i < QUICK_RANDOM; i++)
        chosen[random64(key, (uint64_t)i) % (uint64_t)size] = 1;
    for (int i = 0; enough && i < min_int(QUICK_LAST, size); i++) chosen[size - 1 - i] = 1;
    for (int i = 0; enough && flagged && i < size && flagged_max > 0; i++) {
        flagged_max -= flagged[i] && !chosen[i];
        chosen[i] |= flagged[i];
    }
    for (int i = 0; enough && i < size; i++) {
        int phase = i % QUICK_TILE;
        if (chosen[i]) {
            sample->full[sample->full_count++] = i;
            continue;
        }
        sample->rest[sample->rest_count++] = i;
        if (phase == 0 || phase == QUICK_TILE - 1) sample->edge[sample->edge_count++] = i;
    }
    free(chosen);
    return enough;
}

/* The three compared parts are disjoint, so that every count is of different elements: full rows;
 * full columns in the other rows; tile corners in what is left. */
static bool verify_quick(struct verification *v) {
    const struct problem *p = v->problem;
    struct sample rows = {0}, cols = {0};
    uint64_t key = mix64(p->seed ^ UINT64_C(0x5175696b)); /* not the streams that filled A and B */
    v->flagged = calloc((size_t)p->m, 1);
    bool enough = v->flagged && freivalds(v, random64(key, 0)) &&
                  sample_new(&rows, p->m, v->flagged, QUICK_FLAGGED, random64(key, 1)) &&
                  sample_new(&cols, p->n, NULL, 0, random64(key, 2)) &&
                  compare(v, rows.full, rows.full_count, NULL, p->n, 0.1) &&
                  compare(v, rows.rest, rows.rest_count, cols.full, cols.full_count, 0.2) &&
                  compare(v, rows.edge, rows.edge_count, cols.edge, cols.edge_count, 0.4);
    if (enough) {
        for (int i = 0; i < rows.rest_count; i++)
            v->verdict->suspect_rows += v->flagged[rows.rest[i]];
    }
    sample_free(&rows);
    sample_free(&cols);
    free(v->flagged);
    return enough;
}

/* -- verdict -- */

/* Cells of whole tiles, so few that the map fits a terminal. */
static int cell_size(int size, int cells) {
    int least = size / cells + (size % cells != 0);
    return (int)round_up((size_t)max_int(least, 1), MAP_CELL);
}

static void verdict_begin(struct verdict *verdict, const struct problem *p, enum verify_mode mode) {
    memset(verdict, 0, sizeof *verdict);
    verdict->mode = mode;
    verdict->comparison = p->comparison;
    verdict->wrong_box = verdict->unwritten_box = empty_box;
    verdict->cell_rows = cell_size(p->m, MAP_ROWS);
    verdict->cell_cols = cell_size(p->n, MAP_COLS);
    verdict->map_rows = (p->m - 1) / verdict->cell_rows + 1;
    verdict->map_cols = (p->n - 1) / verdict->cell_cols + 1;
    memset(verdict->map, CELL_UNKNOWN, sizeof verdict->map);
}

/* Add `other` to `sum`. */
static void tally_merge(struct tally *sum, const struct tally *other) {
    sum->wrong += other->wrong;
    sum->nan += other->nan;
    sum->unwritten += other->unwritten;
    sum->measured += other->measured;
    sum->squares += other->squares;
    sum->max_error = fmax(sum->max_error, other->max_error);
    box_merge(&sum->wrong_box, &other->wrong_box);
    box_merge(&sum->unwritten_box, &other->unwritten_box);
    for (int i = 0; i < other->first_count; i++) first_add(sum, other->first[i]);
    for (int i = 0; i < MAP_ROWS; i++) {
        for (int j = 0; j < MAP_COLS; j++) {
            sum->map_wrong[i][j] += other->map_wrong[i][j];
            sum->map_unwritten[i][j] += other->map_unwritten[i][j];
        }
    }
}

static enum cell cell_state(uint64_t elements, uint64_t compared, uint64_t wrong,
                            uint64_t unwritten) {
    if (wrong) return wrong + unwritten >= compared ? CELL_WRONG : CELL_PARTLY_WRONG;
    if (unwritten) return unwritten >= elements ? CELL_UNWRITTEN : CELL_PARTLY_UNWRITTEN;
    return compared ? CELL_RIGHT : CELL_UNKNOWN;
}

static void verdict_map(const struct verification *v, const struct tally *sum) {
    struct verdict *verdict = v->verdict;
    for (int i = 0; i < verdict->map_rows; i++) {
        int rows = min_int(verdict->cell_rows, v->problem->m - i * verdict->cell_rows);
        for (int j = 0; j < verdict->map_cols; j++) {
            int cols = min_int(verdict->cell_cols, v->problem->n - j * verdict->cell_cols);
            verdict->map[i][j] =
                (char)cell_state((uint64_t)rows * (uint64_t)cols, v->map_compared[i][j],
                                 sum->map_wrong[i][j], sum->map_unwritten[i][j]);
        }
    }
}

/* Expected value and bound of one element, by the definition. */
static struct wrong_element describe(const struct verification *v, struct place place) {
    const struct problem *p = v->problem;
    const float *a = p->A + (size_t)place.row * (size_t)p->k;
    struct wrong_element element = {.row = place.row, .col = place.col};
    double G = 0;
    element.got = p->C[(size_t)place.row * (size_t)p->n + (size_t)place.col];
    for (int i = 0; i < p->k; i++) {
        double term = (double)a[i] * p->B[(size_t)i * (size_t)p->n + (size_t)place.col];
        element.expected += term;
        G += fabs(term);
    }
    element.bound = bound(v, G);
    return element;
}

static void verdict_end(const struct verification *v, const struct tally *sum) {
    struct verdict *verdict = v->verdict;
    verdict->wrong = sum->wrong;
    verdict->nan = sum->nan;
    verdict->unwritten = sum->unwritten;
    verdict->wrong_box = sum->wrong_box;
    verdict->unwritten_box = sum->unwritten_box;
    verdict->max_error_u = sum->max_error / UNIT_ROUNDOFF;
    if (sum->measured)
        verdict->rms_error_u = sqrt(sum->squares / (double)sum->measured) / UNIT_ROUNDOFF;
    verdict->first_count = sum->first_count;
    for (int i = 0; i < sum->first_count; i++) verdict->first[i] = describe(v, sum->first[i]);
    verdict_map(v, sum);
    bool within = !verdict->wrong && !verdict->unwritten && !verdict->suspect_rows;
    verdict->not_float32 =
        within && verdict->comparison == COMPARE_FLOAT32 &&
        !(verdict->max_error_u <= FLOAT32_MAX_U && verdict->rms_error_u <= FLOAT32_RMS_U);
    verdict->passed = within && !verdict->not_float32;
}

bool verify(const struct problem *problem, enum verify_mode mode, const struct progress *progress,
            struct verdict *verdict) {
    verdict_begin(verdict, problem, mode);
    if (mode == VERIFY_NONE) return true;
    struct verification v = {.problem = problem, .verdict = verdict, .progress = progress};
    if (problem->comparison != COMPARE_EXACT) v.gamma = gamma_bound((int64_t)problem->k + 2);
    int workers = worker_count(MAX_WORKERS, INFINITY); /* as many as any part may use */
    v.tally = calloc((size_t)workers, sizeof *v.tally);
    if (!v.tally) return false;
    for (int i = 0; i < workers; i++) v.tally[i].wrong_box = v.tally[i].unwritten_box = empty_box;
    bool enough = mode == VERIFY_QUICK ? verify_quick(&v)
                                       : compare(&v, NULL, problem->m, NULL, problem->n, 1.0);
    for (int i = 1; i < workers; i++) tally_merge(&v.tally[0], &v.tally[i]);
    verdict_end(&v, &v.tally[0]);
    free(v.tally);
    return enough;
}

/* ---- report -------------------------------------------------------------------------------- */

enum { TIME_COLUMN = 42 }; /* the longest stage line, and some air */

static const char *const stage_text[STAGE_COUNT] = {
    "Setting up the problem...",           "Allocating device variables...",
    "Copying data from host to device...", "Launching kernel...",
    "Copying data from device to host...", "Verifying results...",
};
static const char *const stage_key[STAGE_COUNT] = {"setup",  "allocate",    "to_device",
                                                   "launch", "from_device", "verify"};
static const char *const matrix_letter[MATRIX_COUNT] = {"A", "B", "C"};

static void catch_crashes(void);

void report_begin(struct report *report, const struct options *options, const char *backend,
                  int repeat) {
    *report = (struct report){
        .options = *options, .backend = backend, .repeat = repeat, .out = stdout, .stage = -1};
    for (int i = 0; i < STAGE_COUNT; i++) report->stage_seconds[i] = -1;
    if (options->json) { /* keep the real standard output for ourselves */
        int copy = dup(STDOUT_FILENO);
        FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
        if (out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) report->out = out;
    }
    catch_crashes();
}

void report_stage(struct report *report, enum stage stage) {
    report->stage = stage;
    report->stage_start = clock_seconds();
    if (report->options.json) return;
    fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[stage]);
    fflush(report->out); /* so that it is seen even when the next thing hangs or crashes */
    report->line_open = true;
}

void report_stage_end(struct report *report) {
    double seconds = clock_seconds() - report->stage_start;
    report->stage_seconds[report->stage] = seconds;
    if (report->options.json) return;
    fprintf(report->out, "%9.3f s\n", seconds);
    fflush(report->out);
    report->line_open = false;
}

void report_detail(struct report *report, const char *format, ...) {
    if (report->options.json) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("    ", report->out);
    vfprintf(report->out, format, arguments);
    fputc('\n', report->out);
    va_end(arguments);
}

void report_sample(struct report *report, double seconds) {
    if (!report->samples) report->samples = calloc((size_t)report->repeat, sizeof *report->samples);
    if (!report->samples)
        report_stop(report, EXIT_MACHINE, "out of memory for %d times", report->repeat);
    report->samples[report->sample_count++] = seconds;
}

struct summary {
    double median, min, max, gflops; /* seconds; gflops of the median */
};

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the timed launches; all NaN when there is none. */
static struct summary summarize(const struct report *report) {
    struct summary s = {NAN, NAN, NAN, NAN};
    int count = report->sample_count;
    double *sorted = count ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted) return s;
    memcpy(sorted, report->samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    s.min = sorted[0];
    s.max = sorted[count - 1];
    s.median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    const struct options *o = &report->options;
    if (s.median > 0) s.gflops = 2.0 * o->m * o->n * o->k / s.median / 1e9;
    free(sorted);
    return s;
}

void report_launches(struct report *report) {
    struct summary s = summarize(report);
    bool cpu = strcmp(report->backend, "cpu") == 0;
    char spread[96] = "", rate[64] = "";
    if (report->sample_count > 1)
        snprintf(spread, sizeof spread, ", median of %d (%.3f to %.3f)", report->sample_count,
                 1e3 * s.min, 1e3 * s.max);
    if (!cpu) snprintf(rate, sizeof rate, ", %.4g GFLOP/s", s.gflops);
    report_detail(report, "kernel %.3f ms%s%s", 1e3 * s.median, spread, rate);
    if (cpu) report_detail(report, "(on the CPU: it predicts nothing about the time on a GPU)");
}

/* -- progress: on standard error, for those who watch and would have to wait -- */

struct progress_bar {
    double start;
    bool shown;
};

static void progress_show(void *context, double fraction) {
    const double patience = 2.0; /* seconds */
    struct progress_bar *bar = context;
    if (clock_seconds() - bar->start < patience) return;
    fprintf(stderr, "\rverified %3.0f %%", 100 * fraction);
    fflush(stderr);
    bar->shown = true;
}

void report_verify(struct report *report, const float *A, const float *B, const float *C) {
    const struct options *o = &report->options;
    struct problem problem = {.m = o->m,
                              .n = o->n,
                              .k = o->k,
                              .A = A,
                              .B = B,
                              .C = C,
                              .comparison = fill_comparison(o->fill, o->m, o->n, o->k),
                              .seed = o->seed};
    struct progress_bar bar = {.start = clock_seconds()};
    struct progress progress = {progress_show, &bar};
    bool watched = isatty(STDERR_FILENO);
    bool enough = verify(&problem, o->verify, watched ? &progress : NULL, &report->verdict);
    if (bar.shown) {
        fputs("\r              \r", stderr);
        /* The wiped line held the stage's name when both streams are one terminal. */
        if (report->line_open && isatty(STDOUT_FILENO))
            fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[report->stage]);
    }
    if (!enough) report_stop(report, EXIT_MACHINE, "out of memory while verifying");
    report->verified = o->verify != VERIFY_NONE;
}

/* -- what is known about a failure, in words -- */

struct span {
    char text[64];
};

static struct span span(const char *what, int first, int last) {
    struct span s;
    if (first == last)
        snprintf(s.text, sizeof s.text, "%s %d", what, first);
    else
        snprintf(s.text, sizeof s.text, "%ss %d..%d", what, first, last);
    return s;
}

static void print_box(const struct report *report, const struct box *box, uint64_t count) {
    fprintf(report->out, "%s %s, %s.\n", count == 1 ? "It is in" : "They lie within",
            span("row", box->row_first, box->row_last).text,
            span("column", box->col_first, box->col_last).text);
}

static void print_first(const struct report *report) {
    const struct verdict *v = &report->verdict;
    fprintf(report->out, "%10s %10s %16s %16s %16s\n", "row", "column", "expected", "got",
            "may be off by");
    for (int i = 0; i < v->first_count; i++) {
        const struct wrong_element *e = &v->first[i];
        fprintf(report->out, "%10d %10d %16.9g %16.9g ", e->row, e->col, e->expected,
                (double)e->got);
        if (v->comparison == COMPARE_EXACT)
            fprintf(report->out, "%16s\n", "0 (exact)");
        else
            fprintf(report->out, "%16.2e\n", e->bound);
    }
    if (v->wrong > (uint64_t)v->first_count) fprintf(report->out, "%10s\n", "...");
}

static bool use_colour(const struct report *report) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(report->out)) && !(no_colour && *no_colour) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

static const struct {
    char cell;
    const char *colour, *meaning;
} legend[] = {
    {CELL_RIGHT, "\33[32m", "right"},
    {CELL_PARTLY_WRONG, "\33[31m", "some wrong"},
    {CELL_WRONG, "\33[31;1m", "all wrong"},
    {CELL_PARTLY_UNWRITTEN, "\33[33m", "some never written"},
    {CELL_UNWRITTEN, "\33[33;1m", "none written"},
    {CELL_UNKNOWN, "", "not compared"},
};

static const char *cell_colour(char cell) {
    for (int i = 0; i < LENGTH(legend); i++) {
        if (legend[i].cell == cell) return legend[i].colour;
    }
    return "";
}

static void print_map(const struct report *report) {
    const struct verdict *v = &report->verdict;
    bool colour = use_colour(report);
    fprintf(report->out, "\nC, one character for %d rows x %d columns:\n", v->cell_rows,
            v->cell_cols);
    for (int i = 0; i < v->map_rows; i++) {
        fprintf(report->out, "%s%10d |", i == 0 ? " row" : "    ", i * v->cell_rows);
        for (int j = 0; j < v->map_cols; j++) {
            char cell = v->map[i][j];
            bool change = colour && (j == 0 || v->map[i][j - 1] != cell);
            fprintf(report->out, "%s%c", change ? cell_colour(cell) : "", cell);
        }
        fprintf(report->out, "%s|\n", colour ? "\33[0m" : "");
    }
    fputs("   ", report->out);
    for (int l = 0; l < LENGTH(legend); l++) {
        bool used = false;
        for (int i = 0; i < v->map_rows; i++)
            used = used || memchr(v->map[i], legend[l].cell, (size_t)v->map_cols) != NULL;
        if (used && legend[l].cell == CELL_UNKNOWN)
            fprintf(report->out, "  blank %s", legend[l].meaning);
        else if (used)
            fprintf(report->out, "  %c %s", legend[l].cell, legend[l].meaning);
    }
    fputc('\n', report->out);
}

static void print_unwritten(const struct report *report, uint64_t elements) {
    const struct verdict *v = &report->verdict;
    if (v->unwritten == elements) {
        fprintf(report->out, "None of the %" PRIu64 " elements of C were written.\n", elements);
        fputs("Start in kernel.cu: basicSgemm launches mysgemm with enough threads, and\n"
              "each thread of mysgemm computes one element of C and stores it.\n",
              report->out);
        return;
    }
    fprintf(report->out, "%" PRIu64 " of the %" PRIu64 " elements of C %s never written.\n",
            v->unwritten, elements, v->unwritten == 1 ? "was" : "were");
    print_box(report, &v->unwritten_box, v->unwritten);
    fputs("Each element needs a thread: does the grid, rounded up, cover all of C?\n", report->out);
}

static void print_wrong(const struct report *report) {
    const uint64_t low_precision_u = 1 << 17; /* 2^-7: worse than BF16, far from a wrong formula */
    const struct verdict *v = &report->verdict;
    const struct options *o = &report->options;
    fprintf(report->out, "%" PRIu64 " of the %" PRIu64 " elements of C%s %s wrong.\n", v->wrong,
            v->compared, v->mode == VERIFY_QUICK ? " that were compared" : "",
            v->wrong == 1 ? "is" : "are");
    if (v->nan) {
        fprintf(report->out,
                "%" PRIu64 " of them %s NaN: something was read that lies outside A "
                "and B,\nor in shared memory before it was written.\n",
                v->nan, v->nan == 1 ? "is" : "are");
    } else if (v->comparison == COMPARE_FLOAT32 && v->max_error_u < (double)low_precision_u) {
        fprintf(report->out, "All are nearly right: the arithmetic is less precise than float32 "
                             "(TF32, BF16,\nFP16?).\n");
    }
    print_box(report, &v->wrong_box, v->wrong);
    print_first(report);
    if (o->fill == FILL_IDENTITY || o->fill == FILL_INDEX) {
        bool identity = o->fill == FILL_IDENTITY;
        fprintf(report->out,
                "Values name their place in %s, row * %" PRId64 " + column; right is %s.\n",
                identity ? "B" : "A", place_base(identity ? o->n : o->k),
                identity ? "C[i][j] = B[i % k][j]" : "C[i][j] = A[i][j % k]");
    }
}

static void print_verdict(const struct report *report) {
    const struct verdict *v = &report->verdict;
    uint64_t elements = (uint64_t)report->options.m * (uint64_t)report->options.n;
    if (v->unwritten) print_unwritten(report, elements);
    if (v->wrong) print_wrong(report);
    if (v->suspect_rows)
        fprintf(report->out, "%d more row%s of C fail%s Freivalds' check.\n", v->suspect_rows,
                v->suspect_rows == 1 ? "" : "s", v->suspect_rows == 1 ? "s" : "");
    if (v->not_float32)
        fprintf(report->out,
                "The result is not float32: its errors are up to %.3g u of |A||B| (rms %.3g u),\n"
                "u = 2^-24, where float32 in any order stays below %g u (rms %g u).\n"
                "Inputs or sums were rounded to less: TF32, BF16 or FP16?\n",
                v->max_error_u, v->rms_error_u, FLOAT32_MAX_U, FLOAT32_RMS_U);
    if ((v->wrong || v->unwritten) && v->unwritten < elements && v->map_rows * v->map_cols > 1)
        print_map(report);
}

static bool guards_changed(const struct report *report) {
    for (int i = 0; i < MATRIX_COUNT; i++) {
        if (report->damage[i].before || report->damage[i].after) return true;
    }
    return false;
}

static bool inputs_changed(const struct report *report) {
    return report->damage[MATRIX_A].elements || report->damage[MATRIX_B].elements;
}

static void print_damage(const struct report *report) {
    for (int i = 0; i < MATRIX_COUNT; i++) {
        const struct damage *d = &report->damage[i];
        if (d->elements)
            fprintf(report->out,
                    "%" PRIu64 " element%s of the input %s changed: only C may be "
                    "written.\n",
                    d->elements, d->elements == 1 ? "" : "s", matrix_letter[i]);
        if (d->before)
            fprintf(report->out,
                    "%" PRIu64 " float%s just before %s %s overwritten: an index is "
                    "negative.\n",
                    d->before, d->before == 1 ? "" : "s", matrix_letter[i],
                    d->before == 1 ? "was" : "were");
        if (d->after)
            fprintf(report->out,
                    "%" PRIu64 " float%s just after %s %s overwritten: is each store "
                    "guarded?\n",
                    d->after, d->after == 1 ? "" : "s", matrix_letter[i],
                    d->after == 1 ? "was" : "were");
    }
}

static void print_passed(const struct report *report) {
    const struct verdict *v = &report->verdict;
    uint64_t elements = (uint64_t)report->options.m * (uint64_t)report->options.n;
    fprintf(report->out, "TEST PASSED %" PRIu64 "\n", v->compared);
    if (v->compared < elements)
        fprintf(report->out,
                "%" PRIu64 " of %" PRIu64 " elements compared (--verify quick), and "
                "every row checked as a whole.\n",
                v->compared, elements);
}

static void print_failed(const struct report *report) {
    fputs("TEST FAILED\n", report->out);
    print_damage(report);
    if (report->verified) print_verdict(report);
}

/* -- JSON -- */

static void json_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            fprintf(out, "\\u%04x", (unsigned char)*c); /* as Latin-1: never invalid UTF-8 */
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* JSON knows neither NaN nor infinity: they become strings. */
static void json_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
}

/* The same for what may not have been measured: null. */
static void json_measured(FILE *out, bool measured, double value) {
    if (measured)
        json_number(out, value);
    else
        fputs("null", out);
}

static void json_box(FILE *out, const struct box *box) {
    if (box->row_first > box->row_last)
        fputs("null", out);
    else
        fprintf(out, "{\"rows\": [%d, %d], \"columns\": [%d, %d]}", box->row_first, box->row_last,
                box->col_first, box->col_last);
}

static void json_times(const struct report *report, FILE *out) {
    struct summary s = summarize(report);
    bool timed = report->sample_count > 0;
    fputs(", \"times\": {", out);
    for (int i = 0; i < STAGE_COUNT; i++) {
        fprintf(out, "\"%s\": ", stage_key[i]);
        json_measured(out, report->stage_seconds[i] >= 0, report->stage_seconds[i]);
        fputs(", ", out);
    }
    fputs("\"kernel\": [", out);
    for (int i = 0; i < report->sample_count; i++) {
        fputs(i ? ", " : "", out);
        json_number(out, report->samples[i]);
    }
    fputs("]}, \"median\": ", out);
    json_measured(out, timed, s.median);
    fputs(", \"min\": ", out);
    json_measured(out, timed, s.min);
    fputs(", \"max\": ", out);
    json_measured(out, timed, s.max);
    fputs(", \"gflops\": ", out);
    json_measured(out, timed && isfinite(s.gflops), s.gflops);
}

static void json_verdict(const struct verdict *v, FILE *out) {
    fprintf(out,
            ", \"compared\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"nan\": %" PRIu64
            ", \"unwritten\": %" PRIu64 ", \"suspect_rows\": %d, \"not_float32\": %s",
            v->compared, v->wrong, v->nan, v->unwritten, v->suspect_rows,
            v->not_float32 ? "true" : "false");
    fputs(", \"max_error_u\": ", out);
    json_number(out, v->max_error_u);
    fputs(", \"rms_error_u\": ", out);
    json_number(out, v->rms_error_u);
    fputs(", \"first_wrong\": [", out);
    for (int i = 0; i < v->first_count; i++) {
        const struct wrong_element *e = &v->first[i];
        fprintf(out, "%s{\"row\": %d, \"column\": %d, \"expected\": ", i ? ", " : "", e->row,
                e->col);
        json_number(out, e->expected);
        fputs(", \"got\": ", out);
        json_number(out, (double)e->got);
        fputs(", \"bound\": ", out);
        json_number(out, e->bound);
        fputc('}', out);
    }
    fputs("], \"wrong_box\": ", out);
    json_box(out, &v->wrong_box);
    fputs(", \"unwritten_box\": ", out);
    json_box(out, &v->unwritten_box);
    fprintf(out, ", \"map\": {\"cell_rows\": %d, \"cell_columns\": %d, \"rows\": [", v->cell_rows,
            v->cell_cols);
    for (int i = 0; i < v->map_rows; i++)
        fprintf(out, "%s\"%.*s\"", i ? ", " : "", v->map_cols, v->map[i]);
    fputs("]}", out);
}

static void json_run(const struct report *report, FILE *out) {
    const struct options *o = &report->options;
    const struct damage *d = report->damage;
    fprintf(out, ", \"m\": %d, \"n\": %d, \"k\": %d, \"seed\": %" PRIu64, o->m, o->n, o->k,
            o->seed);
    fprintf(out, ", \"fill\": \"%s\", \"verify\": \"%s\", \"backend\": \"%s\", \"repeat\": %d",
            fill_name(o->fill), verify_name(o->verify), report->backend, report->repeat);
    fputs(", \"device\": ", out);
    if (report->device[0])
        json_string(out, report->device);
    else
        fputs("null", out);
    json_times(report, out);
    fprintf(out, ", \"inputs_changed\": {\"A\": %" PRIu64 ", \"B\": %" PRIu64 "}",
            d[MATRIX_A].elements, d[MATRIX_B].elements);
    fputs(", \"guard_writes\": {", out);
    for (int i = 0; i < MATRIX_COUNT; i++)
        fprintf(out, "%s\"%s\": [%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", matrix_letter[i],
                d[i].before, d[i].after);
    fputc('}', out);
    if (report->verified) json_verdict(&report->verdict, out);
}

/* One object on one line. Always:
 *   status       "passed", "failed", "unverified" (--verify none) or "error"
 *   exit_status  0 .. 3
 *   message      what happened, on an error or a failure that has a single cause; else null
 * Once the command line was understood (report != NULL):
 *   m, n, k, seed (up to 2^64 - 1), fill, verify, backend ("cuda" or "cpu"), repeat
 *   device       its name, or null when there was none
 *   times        seconds of each stage (null: not reached), kernel: those of each timed launch
 *   median, min, max, gflops   of the launches, null when none was timed
 *   inputs_changed  elements of A and of B that the kernel overwrote
 *   guard_writes    for A, B and C: floats overwritten just before and just after the matrix
 * Once the result was compared: the members of struct verdict under their own names, with
 *   first_wrong  row, column, expected, got, bound of the first ones
 *   wrong_box, unwritten_box   first and last row and column, or null
 *   map          cell_rows, cell_columns, rows: strings of enum cell
 * A number that is not finite is one of the strings "NaN", "Infinity", "-Infinity". */
void report_json(const struct report *report, enum exit_status status, const char *message,
                 FILE *out) {
    static const char *const words[] = {"passed", "failed", "error", "error"};
    bool unverified = status == EXIT_PASSED && report && !report->verified;
    fprintf(out, "{\"status\": \"%s\", \"exit_status\": %d, \"message\": ",
            unverified ? "unverified" : words[status], status);
    if (message)
        json_string(out, message);
    else
        fputs("null", out);
    if (report) json_run(report, out);
    fputs("}\n", out);
}

/* -- the end of a run -- */

/* TEST FAILED for a single cause that is known without looking at C. */
static void print_cause(const struct report *report, const char *message, FILE *out) {
    if (report->options.json)
        report_json(report, EXIT_WRONG, message, out);
    else
        fprintf(out, "%s\nTEST FAILED\n%s\n", report->line_open ? "\n" : "", message);
}

void report_stop(struct report *report, enum exit_status status, const char *format, ...) {
    char message[2 * MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    watchdog_stop();
    fflush(stdout); /* what the kernel printed */
    if (status == EXIT_WRONG) {
        print_cause(report, message, report->out);
    } else {
        if (report->line_open) fputc('\n', report->out);
        if (report->options.json) report_json(report, status, message, report->out);
        fflush(report->out);
        fprintf(stderr, "sgemm: %s\n", message);
    }
    fflush(report->out);
    exit(status);
}

enum exit_status report_end(struct report *report) {
    bool intact = !inputs_changed(report) && !guards_changed(report);
    enum exit_status status = EXIT_PASSED;
    if (report->verified && !(report->verdict.passed && intact)) status = EXIT_WRONG;
    if (report->options.json) {
        report_json(report, status, NULL, report->out);
    } else {
        fputc('\n', report->out);
        if (status == EXIT_WRONG)
            print_failed(report);
        else if (report->verified)
            print_passed(report);
        else
            fputs("NOT VERIFIED\nC was not compared with anything (--verify none).\n", report->out);
    }
    fflush(report->out);
    free(report->samples);
    report->samples = NULL;
    return status;
}

/* -- watchdog --
 *
 * A thread of its own, because a student's loop on the host, a driver that waits for a GPU and a
 * fiber of the CPU backend all leave other threads running. All texts are made beforehand: when the
 * time comes, or in a signal handler, only write() and _exit() are called.
 */

static const struct {
    int signal; /* 0: the time is over */
    const char *format;
} endings[] = {
    {0, "basicSgemm did not end within %.3g s: a loop or a barrier that never ends?"},
    {SIGSEGV, "basicSgemm crashed on the host: invalid memory (SIGSEGV).\n"
              "A, B and C are device pointers: only the kernel may follow them."},
    {SIGBUS, "basicSgemm crashed on the host: invalid memory (SIGBUS).\n"
             "A, B and C are device pointers: only the kernel may follow them."},
    {SIGFPE, "basicSgemm crashed: integer division by zero (SIGFPE)."},
    {SIGILL, "basicSgemm crashed: illegal instruction (SIGILL).\n"
             "Does every path of a function that returns a value return one?"},
    {SIGABRT, "basicSgemm crashed: aborted (SIGABRT)."},
};

enum { ENDINGS = (int)(sizeof endings / sizeof endings[0]) };

static struct {
    bool running, ended;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    struct timespec deadline;
    int descriptor;
    char *text[ENDINGS];
    size_t length[ENDINGS];
} watchdog;

static void end_run(int ending) {
    const char *text = watchdog.text[ending];
    size_t left = watchdog.length[ending];
    while (text && left > 0) {
        ssize_t written = write(watchdog.descriptor, text, left);
        if (written <= 0) break;
        text += written;
        left -= (size_t)written;
    }
    _exit(EXIT_WRONG);
}

/* Outside basicSgemm a crash is ours, and is left to the system. */
static void on_crash(int signal) {
    for (int i = 1; i < ENDINGS && watchdog.running; i++) {
        if (endings[i].signal == signal) end_run(i);
    }
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
    raise(signal);
}

/* Once, and before the CPU backend takes its own faults and hands on what is none of them.
 * Sanitizers, which were here before, know more about a crash than we do and keep it. */
static void catch_crashes(void) {
    static char stack[64 * 1024]; /* the thread's own may be what overflowed */
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack}, current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE))
        sigaltstack(&alternative, NULL);
    for (int i = 1; i < ENDINGS; i++) {
        struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK}, before;
        sigaction(endings[i].signal, NULL, &before);
        if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
            sigaction(endings[i].signal, &action, NULL);
    }
}

static void *watchdog_run(void *unused) {
    int status = 0;
    pthread_mutex_lock(&watchdog.mutex);
    while (!watchdog.ended && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&watchdog.condition, &watchdog.mutex, &watchdog.deadline);
    if (!watchdog.ended) end_run(0);
    pthread_mutex_unlock(&watchdog.mutex);
    return unused;
}

static void make_texts(const struct report *report, double seconds) {
    for (int i = 0; i < ENDINGS; i++) {
        char message[MESSAGE_SIZE];
        watchdog.text[i] = NULL;
        FILE *out = open_memstream(&watchdog.text[i], &watchdog.length[i]);
        if (!out) continue;
        if (endings[i].signal == 0)
            snprintf(message, sizeof message, endings[0].format, seconds);
        else
            snprintf(message, sizeof message, "%s", endings[i].format);
        print_cause(report, message, out);
        fclose(out);
    }
}

void watchdog_start(const struct report *report, double seconds) {
    pthread_condattr_t attributes;
    watchdog_stop();
    fflush(report->out);
    make_texts(report, seconds);
    watchdog.descriptor = fileno(report->out);
    watchdog.ended = false;
    clock_gettime(CLOCK_MONOTONIC, &watchdog.deadline);
    watchdog.deadline.tv_sec += (time_t)seconds;
    watchdog.deadline.tv_nsec += (long)((seconds - floor(seconds)) * 1e9);
    if (watchdog.deadline.tv_nsec >= 1000000000) {
        watchdog.deadline.tv_nsec -= 1000000000;
        watchdog.deadline.tv_sec++;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog.condition, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&watchdog.mutex, NULL);
    watchdog.running = pthread_create(&watchdog.thread, NULL, watchdog_run, NULL) == 0;
}

void watchdog_stop(void) {
    if (!watchdog.running) return;
    pthread_mutex_lock(&watchdog.mutex);
    watchdog.ended = true;
    pthread_cond_signal(&watchdog.condition);
    pthread_mutex_unlock(&watchdog.mutex);
    pthread_join(watchdog.thread, NULL);
    pthread_cond_destroy(&watchdog.condition);
    pthread_mutex_destroy(&watchdog.mutex);
    for (int i = 0; i < ENDINGS; i++) {
        free(watchdog.text[i]);
        watchdog.text[i] = NULL;
    }
    watchdog.running = false;
}
