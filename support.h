/* support.h: what main.cu leans on. Plain C11 without any CUDA, usable from C and C++.
 *
 * main.cu runs the student's kernel; everything around it is here: the command line, the clock, the
 * matrices, the reference in double precision, the verdict and how it is printed. Names, memory and
 * matrices are in support.c, the other sections in files of their names in lab/ and engine/host/.
 *
 * All but the last two sections compute and print nothing, so that a grader can link the same code
 * and judge a C that came out of another process.
 *
 * Everywhere: C = A B, A is m x k, B is k x n, C is m x n, row-major and without padding, so
 * element (row, col) of a matrix with cols columns is at [row * cols + col]. Parameters are in the
 * order m, n, k; only the command line says m k n.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include "engine/report/progress.h"
#include "engine/report/launch.h"
#include "engine/report/source.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SGEMM_VERSION "1.0.0" /* of the whole repository; grader/record.py reads it here */

/* Exit statuses. A grader must be able to distinguish a wrong kernel from a broken machine. */
enum exit_status {
    EXIT_PASSED = 0,  /* the result is right, or was not compared (--verify none) */
    EXIT_WRONG = 1,   /* the kernel is wrong: result, launch, fault or time limit */
    EXIT_USAGE = 2,   /* the command line is wrong */
    EXIT_MACHINE = 3, /* the machine is at fault: no GPU, no memory, driver */
};

/* ---- options ------------------------------------------------------------------------------- */

enum fill {
    FILL_RANDOM,    /* uniform on (-1, 1), mean 0 */
    FILL_ONES_TWOS, /* A = 1, B = 2 */
    FILL_IDENTITY,  /* A picks rows of B, whose values are their own places */
    FILL_INDEX,     /* B picks columns of A, whose values are their own places */
    FILL_EXACT,     /* integers that TF32 and BF16 cannot hold and float32 adds up exactly */
    FILL_EXTREMES,  /* magnitudes from 2^-30 to 2^30 */
    FILL_COUNTING,  /* A and B: 1, 2, 3, ... row by row, for examples done by hand */
    FILL_COUNT
};

enum verify_mode { VERIFY_FULL, VERIFY_QUICK, VERIFY_NONE };

struct options {
    int m, n, k;
    uint64_t seed;
    enum fill fill;
    int repeat; /* timed launches; 0: not given, the backend's own default */
    enum verify_mode verify;
    double timeout; /* seconds that one launch may take */
    bool json;
    bool help, version;
};

/* Read the command line into *options, defaults included (a seed that was not given is drawn
 * fresh). Prints nothing and does not exit. EXIT_PASSED, or EXIT_USAGE with a one-line message. */
enum exit_status options_parse(int argc, char **argv, struct options *options,
                               char message[MESSAGE_SIZE]);

/* The same for a program's main(): prints help, the version or the error and exits; also exits
 * (EXIT_MACHINE) when the sizes do not fit into this machine's memory. */
struct options options_read(int argc, char **argv);

/* Their names on the command line. *_parse: false where there is none of this name. */
const char *fill_name(enum fill fill);
bool fill_parse(const char *name, enum fill *fill);
const char *verify_name(enum verify_mode mode);
bool verify_parse(const char *name, enum verify_mode *mode);

/* Seconds that a launch may take unless --timeout says otherwise. */
double default_timeout(int m, int n, int k);

/* ---- clock and cores ----------------------------------------------------------------------- */

/* Seconds from some fixed moment; only differences mean something. */
double clock_seconds(void);

/* The number of threads of the functions below; 0, the default: one per core. */
void set_threads(int threads);

/* ---- memory and matrices ------------------------------------------------------------------- */

/* Bytes of host memory that main.cu and verify() take for these sizes (device memory not counted),
 * and bytes that this process can still get: what Linux calls available, or less where a control
 * group allows less. SIZE_MAX when neither is known. */
size_t memory_needed(int m, int n, int k);
size_t memory_available(void);

/* C is filled with this before each launch. It is a signalling NaN: an element that still has
 * exactly these bits was never written, while arithmetic on it (C += x) gives another NaN. */
#define POISON_BITS UINT32_C(0x7FA5A5A5)

/* Each matrix is between two guards filled with this one, so that stray reads spoil the result and
 * stray writes are seen. */
#define GUARD_BITS UINT32_C(0x7FB6B6B6)

enum matrix_name { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_COUNT };

/* A matrix in host memory: one buffer, [guard | rows * cols elements | guard]. */
struct matrix {
    int rows, cols;
    size_t guard;  /* floats in each guard */
    size_t bytes;  /* of the whole buffer */
    float *buffer; /* owned; NULL when there was no memory */
    float *data;   /* the elements, inside buffer */
};

/* What a matrix that came back from the device says about stray writes. */
struct damage {
    uint64_t elements;      /* that differ from what was sent (A and B only) */
    uint64_t before, after; /* floats of the two guards that were overwritten */
};

/* Floats in each guard for a product of this size: at least 64 rows of the widest dimension, so
 * that a tile that hangs over the edge lands in it, a multiple of 64 floats, so that the elements
 * are as well aligned as the buffer, and 256 KiB to 16 MiB. */
size_t guard_size(int m, int n, int k);

/* Bytes of such a matrix's buffer. */
size_t matrix_bytes(int rows, int cols, size_t guard);

/* A new matrix, guards set, elements not. The caller ends it with matrix_free(). */
struct matrix matrix_new(int rows, int cols, size_t guard);
void matrix_free(struct matrix *matrix);

/* Set every element to POISON_BITS. */
void matrix_poison(struct matrix *matrix);

/* Element (row, col) of matrix A or B, rows x cols, of a fill and seed: a pure function, so that
 * any part of a matrix can be made again anywhere. */
float fill_element(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                   int row, int col);

/* All of it into out[rows * cols], the caller's; on all cores when it is large. */
void fill_matrix(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                 float *out);

/* In a fill whose values are their own places, element (row, col) of a matrix with cols columns is
 * row * place_base(cols) + col (the row modulo so many that it stays below 2^24). */
int64_t place_base(int cols);

/* Compare the guards, and with sent != NULL also the elements, bit for bit. `returned` is the
 * buffer as it came back, laid out as `sent`. */
struct damage matrix_damage(const struct matrix *sent, const float *returned, bool elements);

/* ---- reference ----------------------------------------------------------------------------- */

/* Instruction sets that the reference is compiled for. The best one that the processor has is used
 * unless reference_set_isa() chooses another (for tests and benchmarks; false: not available). */
enum isa { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_COUNT };
bool reference_set_isa(enum isa isa);
enum isa reference_isa(void);
const char *isa_name(enum isa isa);

/* ref = A B and G = |A||B| in double precision, for any rows and any columns of C:
 * ref[i * col_count + j] belongs to element (rows[i], cols[j]). rows == NULL means 0, 1, 2, ...,
 * and so does cols == NULL. All memory is the caller's. False: no memory for the workspace. */
bool reference(const float *A, const float *B, int n, int k, const int *rows, int row_count,
               const int *cols, int col_count, double *ref, double *G);

/* ---- verification -------------------------------------------------------------------------- */

#define UNIT_ROUNDOFF 0x1p-24 /* u of float32 */

/* gamma_n = n u / (1 - n u): for n >= k + 2 no order of summation, with or without FMA, strays
 * further from A B than gamma_n |A||B| (Higham, Accuracy and Stability of Numerical Algorithms,
 * 2nd ed., section 3.1). Infinite when n u >= 1. */
double gamma_bound(int64_t n);

/* How C is compared with the reference. */
enum comparison {
    COMPARE_BOUND,   /* |C - ref| <= gamma_{k+2} G */
    COMPARE_FLOAT32, /* that, and the errors must be those of float32; zero-mean inputs only */
    COMPARE_EXACT,   /* C == ref */
};

/* The strictest comparison that every correct float32 kernel passes with this fill. */
enum comparison fill_comparison(enum fill fill, int m, int n, int k);

/* With COMPARE_FLOAT32 a result is not float32 when its largest |C - ref| / G is above the first,
 * or the root of the mean square above the second. Both in units of u. */
#define FLOAT32_MAX_U 32.0
#define FLOAT32_RMS_U 4.0

struct problem {
    int m, n, k;
    const float *A, *B, *C;
    enum comparison comparison;
    uint64_t seed; /* chooses what --verify quick samples */
};

struct box { /* rows and columns, both ends included; empty when row_first > row_last */
    int row_first, row_last, col_first, col_last;
};

struct wrong_element {
    int row, col;
    float got;
    double expected, bound; /* bound: |got - expected| may be so large */
};

enum { FIRST_WRONG = 8, MAP_ROWS = 20, MAP_COLS = 60, MAP_CELL = 16 };

/* A cell of the map of C. */
enum cell {
    CELL_RIGHT = '.',
    CELL_PARTLY_WRONG = 'x',
    CELL_WRONG = 'X',
    CELL_PARTLY_UNWRITTEN = 'u',
    CELL_UNWRITTEN = 'U',
    CELL_UNKNOWN = ' ', /* --verify quick compared nothing there */
};

struct verdict {
    bool passed;
    enum verify_mode mode;
    enum comparison comparison;
    uint64_t compared;  /* elements of C held against the reference, unwritten ones included */
    uint64_t unwritten; /* elements that no thread wrote (of all of C, in each mode) */
    uint64_t wrong;     /* elements that were written, and wrong */
    uint64_t nan;       /* those of them that are NaN */
    int suspect_rows;   /* quick: rows that fail Freivalds' check but were not compared */
    bool not_float32;   /* COMPARE_FLOAT32: all within the bound, but less precise than float32 */
    double
        max_error_u; /* |C - ref| / (u G) over the compared, finite elements with G > 0: largest */
    double rms_error_u; /* and root of the mean square */
    int first_count;    /* the first wrong elements in row-major order */
    struct wrong_element first[FIRST_WRONG];
    struct box wrong_box, unwritten_box;
    /* A map of C, one enum cell per cell_rows x cell_cols elements. */
    int map_rows, map_cols, cell_rows, cell_cols;
    char map[MAP_ROWS][MAP_COLS];
};

/* Compare C with the reference. Full: every element. Quick, for sizes where that takes too long:
 * the corners of every 16 x 16 tile, some rows and columns in full, Freivalds' check on every row,
 * and every element for being NaN or unwritten. None: nothing, passed stays false.
 * The verdict does not depend on the number of threads (but for the last bits of rms_error_u).
 * progress may be NULL. False: no memory; *verdict is then meaningless. */
bool verify(const struct problem *problem, enum verify_mode mode, const struct progress *progress,
            struct verdict *verdict);

/* ---- explanation --------------------------------------------------------------------------- */

/* What a wrong C is instead of A B, found by computing what common mistakes would give. */
struct explanation {
    char formula[64];            /* a name for programs: "k-cut", "b-transposed", ... */
    bool about_nan;              /* it explains elements that are NaN */
    bool explains_values;        /* it gives all wrong elements but NaN; no other mistake does */
    char text[2 * MESSAGE_SIZE]; /* what C is, and for how many elements; one paragraph */
    char hint[MESSAGE_SIZE];     /* one idea that points at the mistake, not its solution */
    uint64_t explained, of;      /* numbers of wrong (or unwritten) elements */
    /* Where this one mistake explains all that is wrong or unwritten: the part of the products
     * A[i][p] * B[p][j] that are in C, up to 1. Else 0. */
    double products;
    /* Where elements were never written: those in this row or a later one, and in this column or a
     * later one; all others were. 0: they lie otherwise. */
    int row_end, col_end;
};

enum { EXPLANATIONS = 3 }; /* at most: where C was not written, where NaN came from, the rest */

/* Explain the verdict of verify(), any mode but none, on the same problem. Returns how many
 * explanations there are, the one that covers most first; 0 when nothing fits, and when several
 * explanations fit equally well (constant inputs), so that what is said can be believed. Large
 * products are judged by a sample of their elements. */
int explain(const struct problem *problem, const struct verdict *verdict,
            struct explanation out[EXPLANATIONS]);

/* ---- launch -------------------------------------------------------------------------------- */

/* Adds to an explanation of what was never written: the launch's threads end there. Nothing where
 * they do not. */
void launch_explain(const struct launch_shape *launch, int m, int n, struct explanation *unwritten);

/* ---- report -------------------------------------------------------------------------------- */

enum { REPORTED_LAUNCHES = 4 };

enum stage {
    STAGE_SETUP,
    STAGE_ALLOCATE,
    STAGE_TO_DEVICE,
    STAGE_LAUNCH,
    STAGE_FROM_DEVICE,
    STAGE_VERIFY,
    STAGE_COUNT
};

/* Everything known about one run. main.cu fills it in as it goes; zero it with report_begin(). */
struct report {
    struct options options;
    const char *backend; /* "cuda" or "cpu" */
    char device[256];    /* its name; empty: not known yet */
    int repeat;          /* timed launches */
    double *samples;     /* seconds of each of them; owned */
    int sample_count;    /* of the launches that are done */
    enum source_state source;
    struct launch_shape launches[REPORTED_LAUNCHES]; /* the first that differ from the one before */
    int launch_repeats[REPORTED_LAUNCHES];           /* how often each was made, one by one */
    int launch_count, launches_left_out;
    struct damage damage[MATRIX_COUNT];
    bool verified; /* verdict holds something */
    struct verdict verdict;
    struct explanation explanations[EXPLANATIONS]; /* of a verdict that is not passed */
    int explanation_count;
    double stage_seconds[STAGE_COUNT]; /* -1: not reached */
    /* private to the functions below */
    FILE *out; /* text: stdout */
    int stage;
    double stage_start;
    enum { LINE_START, LINE_OF_STAGE, LINE_OF_KERNEL } line; /* where the output ends */
};

/* Start a report. With options->json, standard output then belongs to the JSON object alone: what
 * the kernel or the wrapper prints goes to standard error. */
void report_begin(struct report *report, const struct options *options, const char *backend,
                  int repeat);

/* Print the stage's line, and at its end its time. */
void report_stage(struct report *report, enum stage stage);
void report_stage_end(struct report *report);

/* An indented line that says more about the stage that just ended. */
void report_detail(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A timed launch has taken this long. */
void report_sample(struct report *report, double seconds);

/* The wrapper has launched a kernel; true: differently from before. launches.cu calls this, from
 * report_launches_to(report) to report_launches_to(NULL), and takes the launches from the backend.
 */
bool report_launch(struct report *report, const struct launch_shape *launch);
void report_launches_to(struct report *report);

/* Why a GPU refuses one of these launches, a newline, and a hint; NULL where it refuses none. */
const char *report_refusal(const struct report *report, const struct launch_limits *limits,
                           char text[2 * MESSAGE_SIZE]);

/* Detail lines on the launches and their time: kernel, grid, block, shared memory; median, smallest
 * and largest, GFLOP/s. */
void report_launches(struct report *report);

/* Call verify() and explain(), and keep what they say; exits (EXIT_MACHINE) when there is no memory
 * for the first. */
void report_verify(struct report *report, const float *A, const float *B, const float *C);

/* The run ends here and now. EXIT_WRONG prints TEST FAILED and why; the others one line on standard
 * error. The first line of the message says what happened, a second one what to do. */
void report_stop(struct report *report, enum exit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

/* Print the result, free what the report owns, and return the exit status. */
enum exit_status report_end(struct report *report);

/* The one JSON object of --json, as docs/sgemm.md describes it. report may be NULL: the command
 * line was not understood. message: why the run ended early; may be NULL. */
void report_json(const struct report *report, enum exit_status status, const char *message,
                 FILE *out);

/* ---- watchdog ------------------------------------------------------------------------------ */

/* Prepare to end this report's run: once, after report_begin() and before any CUDA call, because
 * the CPU backend passes on the signals that are not its own. */
void watchdog_begin(struct report *report);

/* What the texts of a run that ends early say of its launches has changed. */
void watchdog_launched(void);

/* Between these two calls the wrapper may take `seconds`; then the run ends with TEST FAILED, as it
 * does after a crash (of the wrapper: a device pointer used on the host, say). What is printed
 * meanwhile begins on a separate line. */
void watchdog_start(double seconds);
void watchdog_stop(void);

/* Ends the line that the kernel has left open, if any, before something is printed to standard
 * error. From any thread. */
void watchdog_end_line(void);

#ifdef __cplusplus
}
#endif

#endif
