/* ladder.h: what the files of `make bench` share. Plain C; all that touches the GPU is in the
 * worker, another process (worker.cu), which ladder.c asks for one thing after the other and which
 * answers in lines (job.c). */
#ifndef LADDER_H
#define LADDER_H

#include "../../../grader/clock/samples.h"
#include "../../../support/shared.h"

enum {
    NAME_SIZE = 64,
    TEXT_SIZE = 400,
    MOST_FACTS = 24,
    /* Rounds whose times do not count: the first ones load kernels and raise clocks. */
    WARM_UPS = 2,
    MOST_SAMPLES = 1000,
};

/* ---- what is measured ------------------------------------------------------------------------ */

struct shape {
    int m, k, n;
    char problem[TEXT_SIZE]; /* why it could not be measured at all; empty: it could */
    double flops;            /* 2 m n k */
};

enum state {
    STATE_OPEN,     /* not yet known */
    STATE_MEASURED, /* right whenever it was looked at, and timed */
    STATE_NOTHING,  /* wrote nothing: the kernel.cu that is handed out */
    STATE_WRONG,    /* a wrong result */
    STATE_FAULTED,  /* an error of CUDA's, or the end of the process */
    STATE_HUNG,     /* not a word for too long */
    STATE_UNSTEADY, /* events and host clock do not agree */
    STATE_IMPOSSIBLE,
    STATE_UNUSABLE, /* did not compile, or has no basicSgemm */
    STATE_SKIPPED,  /* the shape could not be measured */
    STATE_COUNT
};

/* "measured", "nothing", ...: in the JSON and CSV files. */
const char *state_name(enum state state);

/* Not a figure, and not because nobody had written one: a failure of the kernel's. */
bool state_failed(enum state state);

struct sample {
    int round;
    double event, host; /* seconds of one call */
};

/* One kernel on one shape. */
struct result {
    enum state state;
    char reason[TEXT_SIZE]; /* one line; empty: measured, or nothing to say */
    double max_u, rms_u;    /* errors of the first run, as docs/correctness.md */
    bool graph;             /* timed through a graph of so many calls */
    int calls;
    int count;
    struct sample *samples;
    struct summary seconds; /* of the events */
};

struct kernel {
    char name[NAME_SIZE];
    char path[TEXT_SIZE];    /* the .cu file; empty: cuBLAS */
    char library[TEXT_SIZE]; /* "cublas", or the shared library */
    double intensity;  /* FLOP a byte asked of global memory, from the file's head; 0: not said */
    bool may_be_empty; /* kernel.cu, which is handed out empty */
    enum state state;  /* of the file as a whole: STATE_OPEN, _NOTHING or _UNUSABLE */
    char reason[TEXT_SIZE];
};

struct fact {
    char key[NAME_SIZE], text[TEXT_SIZE];
};

struct ladder {
    char date[32]; /* ISO 8601, UTC */
    struct fact machine[MOST_FACTS];
    int machine_count;
    double ffma_flops, memory_bytes, l2_bytes; /* a second: the ceilings */
    int shape_count, kernel_count;             /* kernel 0 is cuBLAS */
    struct shape *shapes;
    struct kernel *kernels;
    struct result *results; /* of a shape all kernels, then those of the next */
    int samples;            /* 0: by size */
    const char *launch;     /* "held" or "plain": l2_hold() before each timed call, or not */
};

static inline struct result *result_of(const struct ladder *ladder, int shape, int kernel) {
    return &ladder->results[shape * ladder->kernel_count + kernel];
}

double gflops(const struct shape *shape, const struct result *result);
/* Median time of cuBLAS by that of the kernel, of the same rounds; 0: one of them is missing. */
double ratio_to_cublas(const struct ladder *ladder, int shape, int kernel);

/* ---- plan.c: shapes and kernels -------------------------------------------------------------- */

/* Triples m k n, separated by blanks. NULL, with a one-line message, when they are not. The caller
 * frees it. */
struct shape *shapes_parse(const char *text, int *count, char message[TEXT_SIZE]);

/* What `make bench` measures if nobody says otherwise. */
extern const char published_shapes[];

/* Samples of a shape: fewer of large ones, which vary less and take longer. */
int samples_for(const struct shape *shape);

/* The number behind "intensity:" in the first lines of a file; 0: there is none. */
double intensity_read(const char *path);

/* 1000 x 500 x 700, or 512 x 512 x 512. */
struct shape_text {
    char text[40];
};
struct shape_text shape_text(const struct shape *shape);

/* ---- job.c: the worker ----------------------------------------------------------------------- */

enum job_end { JOB_DONE, JOB_DIED, JOB_SILENT, JOB_NOT_STARTED };

struct job_outcome {
    enum job_end end;
    int status;           /* JOB_DONE: its exit status */
    char text[TEXT_SIZE]; /* in words */
};

/* Run the worker with these arguments (NULL-terminated, without program and descriptor), and give
 * each line of its to take(). A worker that says nothing for so many seconds is ended. */
struct job_outcome job_run(const char *worker, const char *const *arguments, double patience,
                           void (*take)(void *context, char *line), void *context);

/* ---- table.c, files.c ------------------------------------------------------------------------ */

void table_begin(FILE *out, const struct ladder *ladder);
void table_shape(FILE *out, const struct ladder *ladder, int shape);

/* DIRECTORY/ladder.json and ladder.csv, as docs/bench.md says; whole files or none. False, with
 * errno: could not be written. */
bool files_write(const char *directory, const struct ladder *ladder);

#endif
