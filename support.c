/* support.c: what a run is made of: its options, the memory there is, its matrices. What each
 * function promises stands in support.h; the comments here say how and why.
 *
 * The rest of support.h is in support/: cores.c, reference.c, verify.c, report.c.
 */
#define _GNU_SOURCE /* getopt_long */
#include "support/shared.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------- */

static const char *const fill_names[FILL_COUNT] = {"random", "ones-twos", "identity", "index",
                                                   "exact",  "extremes",  "counting"};
static const char fill_list[] = "random, ones-twos, identity, index, exact, extremes, counting";
static const char *const verify_names[] = {"full", "quick", "none"};

enum { DEFAULT_SIZE = 1000, MAX_REPEAT = 1000000 };
static const double max_timeout = 1e6; /* seconds, so eleven days */

static const char help_text[] =
    "usage: ./sgemm [options]          multiply 1000 x 1000 matrices\n"
    "       ./sgemm [options] M        M x M matrices\n"
    "       ./sgemm [options] M K N    A (M x K) by B (K x N)\n"
    "\n"
    "Runs basicSgemm of kernel.cu, compares C = A B with a reference, times it.\n"
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
    "                     counting   1, 2, 3, ... row by row\n"
    "  --repeat N       timed launches (default: 10 on a GPU, 1 on the CPU backend)\n"
    "  --verify MODE    full (default), quick (samples, for large sizes) or none\n"
    "  --timeout S      seconds one launch may take (default: 10, and 1 more for\n"
    "                   every 20 million multiply-adds M K N)\n"
    "  --json           print one JSON object instead of text\n"
    "  --help           print this\n"
    "  --version        print the version\n"
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
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"seed", required_argument, NULL, OPTION_SEED},
    {"fill", required_argument, NULL, OPTION_FILL},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"verify", required_argument, NULL, OPTION_VERIFY},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
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
    case OPTION_VERSION: options->version = true; break;
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
    if (options->help || options->version) return EXIT_PASSED;
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
    if (status == EXIT_PASSED && (options.help || options.version)) {
        fputs(options.help ? help_text : "sgemm " SGEMM_VERSION "\n", stdout);
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

/* ---- matrices ------------------------------------------------------------------------------ */

enum {
    GUARD_ROWS = 64,         /* four tiles of 16 past the edge, two of 32 */
    GUARD_ALIGN = 64,        /* floats: the 256 bytes that cudaMalloc aligns to */
    GUARD_MIN = 64 * 1024,   /* floats: a grid fixed at 1024 rows on a matrix 64 wide */
    GUARD_MAX = 4096 * 1024, /* floats: six guards of 16 MiB are enough memory */
    EXACT_TERMS = 4096,      /* 4096 terms of at most 4095 stay below 2^24 */
    FILL_CHUNK = 64 * 1024,  /* elements that one thread fills at a time */
};

size_t guard_size(int m, int n, int k) {
    size_t widest = (size_t)max_int(m, max_int(n, k));
    size_t guard = widest >= GUARD_MAX / GUARD_ROWS ? GUARD_MAX : widest * GUARD_ROWS;
    return round_up(guard < GUARD_MIN ? GUARD_MIN : guard, GUARD_ALIGN);
}

/* Through memcpy: an assignment of floats may turn a signalling NaN into a quiet one. */
static void set_bits(float *values, size_t count, uint32_t bits) {
    for (size_t i = 0; i < count; i++) memcpy(&values[i], &bits, sizeof bits);
}

size_t matrix_bytes(int rows, int cols, size_t guard) {
    size_t elements = (size_t)rows * (size_t)cols;
    return round_up((elements + 2 * guard) * sizeof(float), GUARD_ALIGN * sizeof(float));
}

struct matrix matrix_new(int rows, int cols, size_t guard) {
    size_t elements = (size_t)rows * (size_t)cols;
    struct matrix matrix = {.rows = rows, .cols = cols, .guard = guard};
    matrix.bytes = matrix_bytes(rows, cols, guard);
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
    case FILL_COUNTING: return (float)(index % EXACT_LIMIT + 1);
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
