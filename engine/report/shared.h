/* What support.c, the files beside this one and the checker share. support.h is public. */
#ifndef ENGINE_REPORT_SHARED_H
#define ENGINE_REPORT_SHARED_H
#include "../../support.h"

#include <stdatomic.h>
#include <string.h>

/* ---- small tools --------------------------------------------------------------------------- */

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static inline int min_int(int a, int b) { return a < b ? a : b; }

static inline int max_int(int a, int b) { return a > b ? a : b; }

static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

static inline size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* For qsort(). */
static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define EXACT_LIMIT (INT64_C(1) << 24) /* float32 holds every integer up to here */

static inline uint32_t get_bits(const float *value) {
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

static inline void box_add(struct box *box, int row, int col) {
    box->row_first = min_int(box->row_first, row);
    box->row_last = max_int(box->row_last, row);
    box->col_first = min_int(box->col_first, col);
    box->col_last = max_int(box->col_last, col);
}

/* The finaliser of splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; constants as in Vigna's public-domain splitmix64.c. */
static inline uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The index-th number of a stream: splitmix64 started at `key`, which is a pure function of both.
 */
static inline uint64_t random64(uint64_t key, uint64_t index) {
    return mix64(key + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* ---- cores.c: work for all cores ------------------------------------------------------------ */

enum { MAX_WORKERS = 256 };

/* Threads for `count` pieces of `work` elementary steps in all: starting one takes as long as some
 * hundred thousand steps, so small problems stay in the caller's. */
int worker_count(size_t count, double work);

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

void parallel_run(struct parallel_job *job, int workers);

/* ---- reference.c: products, tile by tile ------------------------------------------------------
 */

enum {
    TILE_ROWS = 96,  /* a multiple of each microkernel's rows */
    TILE_COLS = 256, /* a multiple of each microkernel's columns */
    SLICE = 256,     /* of k. 32 KiB of B for one pass of the widest microkernel: level-1 cache */
};

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
    const struct isa_entry *isa;
    int tiles_across;
    struct workspace *workspace; /* one for each worker */
};

/* Computes the product and gives each tile to its consumer. False: no memory. `job` carries the
 * progress, if any. */
bool product_run(struct product *product, struct parallel_job job);

/* Element `position` of a product's list of rows or columns. */
static inline int at(const int *list, int position) { return list ? list[position] : position; }

/* ---- text.c: text ----------------------------------------------------------------------- */

/* Whether to print in colour there: on a terminal that has it, unless NO_COLOR is set. */
bool use_colour(FILE *out);

/* One paragraph, up to a newline, in lines of at most 80 columns; further lines are indented as far
 * as `first` is long. */
void print_paragraph(const char *indent, const char *first, const char *text, FILE *out);

/* Endings and verbs of "1 element is", "2 elements are". */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }
static inline const char *is_or_are(uint64_t count) { return count == 1 ? "is" : "are"; }
static inline const char *was_or_were(uint64_t count) { return count == 1 ? "was" : "were"; }

/* Adds to the end of a text, as far as there is room in its `size` bytes. */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define APPEND(array, ...) append(array, sizeof(array), __VA_ARGS__)

/* ---- json.c --------------------------------------------------------------------------------- */

/* A writer: places commas between the members of an object, or the elements of a list. A member has
 * a name; an element, and the outermost value, has NULL. */
struct json {
    FILE *out;
    bool comma; /* before the next value */
};

void json_open(struct json *json, const char *name, char bracket); /* '{' or '[' */
void json_close(struct json *json, char bracket);

/* A string; null where there is no text (NULL or empty). */
void json_text(struct json *json, const char *name, const char *text);

/* JSON text from a format: an integer, true, [1, 2]. */
void json_value(struct json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void json_unsigned(struct json *json, const char *name, uint64_t count);

/* JSON knows neither NaN nor infinity: they become strings. */
void json_real(struct json *json, const char *name, double value);

/* The same; null where the value is not known. */
void json_real_if(struct json *json, const char *name, bool known, double value);

/* [x, y, z] */
void json_extent(struct json *json, const char *name, const unsigned extent[3]);

/* A list of strings, one for each line. */
void json_text_lines(struct json *json, const char *name, const char *lines);

/* source.c: "source": {"file": ..., "changed": true, false, or null: it is gone}; or null. */
void source_json(struct json *json, enum source_state state);

/* A string without a writer; it may be empty. */
void json_string(FILE *out, const char *text);

#endif
