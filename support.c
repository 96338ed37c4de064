/* support.c: names of fills and modes, this machine's memory, and the matrices of a run. What each
 * function promises is in support.h; the comments here say how and why. The rest of support.h is in
 * lab/ and engine/host/. */
#define _GNU_SOURCE /* PATH_MAX */
#include "support.h"
#include "engine/host/cores.h"
#include "engine/report/numbers.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

/* ---- names --------------------------------------------------------------------------------- */

static const char *const fill_names[] = {"random", "ones-twos", "identity", "index",
                                         "exact",  "extremes",  "counting"};
static const char *const verify_names[] = {"full", "quick", "none"};

const char *fill_name(enum fill fill) { return fill_names[fill]; }
const char *verify_name(enum verify_mode mode) { return verify_names[mode]; }

/* The place of a name in a list; -1: it is not there. */
static int find(const char *name, const char *const names[], int count) {
    while (--count >= 0 && strcmp(name, names[count]) != 0) continue;
    return count;
}

bool fill_parse(const char *name, enum fill *fill) {
    int found = find(name, fill_names, LENGTH(fill_names));
    if (found >= 0) *fill = (enum fill)found;
    return found >= 0;
}

bool verify_parse(const char *name, enum verify_mode *mode) {
    int found = find(name, verify_names, LENGTH(verify_names));
    if (found >= 0) *mode = (enum verify_mode)found;
    return found >= 0;
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
