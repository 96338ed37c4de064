/* make check on a GPU: compute-sanitizer watches, and what it says becomes a finding.
 *
 *   sanitizer.c        starts it, once a tool, over ./sgemm-check --watched, and sees to its end
 *   watched.cu         that process: runs the shapes, and writes down what the sanitizer cannot
 * know sanitizer_log.c    from the sanitizer's text to records sanitizer_say.c    from a record to
 * a finding sanitizer_place.c  from a code address of the wrapper's to a line */
#ifndef CHECK_SANITIZER_H
#define CHECK_SANITIZER_H
#include "check.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- watched.cu: what the watched process writes down ------------------------------------------
 */

enum { GPU_BLOCKS = 512, GPU_LAUNCHES = 64 };

/* A piece of the GPU's memory. */
struct gpu_block {
    uint64_t begin, bytes;
    int shape;   /* index in the list of shapes */
    char matrix; /* 'A', 'B' or 'C'; 0: allocated by the wrapper */
    bool freed;
};

/* What stood in a <<<>>>. */
struct gpu_launch {
    struct finding_index grid, block;
    uint64_t shared_bytes;
    int shape;
};

/* Lies in a file that both processes map. The watched one alone writes, and may die at any time. */
struct watched {
    int pid;
    int shape;        /* index of the one that runs, or was the last to run */
    bool started;     /* the GPU answered */
    bool in_wrapper;  /* from the call of basicSgemm to the end of its kernels */
    bool ended;       /* nothing more will come */
    double began;     /* clock_seconds() when basicSgemm was called */
    char file[512];   /* the submission's */
    char pending[96]; /* the error that basicSgemm left behind; empty: none */
    int block_count, launch_count;
    struct gpu_block blocks[GPU_BLOCKS];
    struct gpu_launch launches[GPU_LAUNCHES];
    struct finding crash;             /* of the wrapper */
    char machine_fault[MESSAGE_SIZE]; /* empty: none */
};

/* Files in the directory that both processes know. */
#define WATCHED_STATE "state"
#define WATCHED_LOG "log"   /* what the sanitizer says, and a line "@ shape 3" before each shape */
#define WATCHED_MAPS "maps" /* the watched process's /proc/self/maps after a mistake */

/* Runs all shapes without a look at C. Null where the backend needs no such process. */
extern int (*const check_watched)(const struct check_options *options, const char *directory);

/* --- sanitizer_log.c ---------------------------------------------------------------------------
 */

/* A line of code that a record names. */
struct record_party {
    char function[128];
    char file[512];
    int line; /* 0: unknown */
    bool thread_known;
    struct finding_index thread;
    char access[8]; /* "read" or "write", of a race */
};

struct sanitizer_record {
    char head[400];   /* its first line, without the prefix */
    char access[400]; /* the line that says what is wrong with an address; empty: none */
    int shape;
    bool warning;
    bool in_kernel;
    struct finding_index block;
    struct record_party party[2]; /* the first one alone, but for races */
    struct record_party host;     /* the innermost line of the wrapper's */
    bool has_address;
    uint64_t address;
};

struct sanitizer_log {
    struct sanitizer_record *records; /* freed by log_free() */
    int count;
    bool summary;        /* it came to its end and counted */
    uint64_t counted;    /* errors, hazards and leaks, by its own count */
    char complaint[200]; /* what it says about itself; empty: nothing */
};

/* False: no memory, or no file. */
bool log_read(const char *path, struct sanitizer_log *log);
void log_free(struct sanitizer_log *log);

/* --- sanitizer_say.c ---------------------------------------------------------------------------
 */

/* The finding that a log tells of; kind FINDING_NONE if none of its records is a mistake. `maps` is
 * the path of WATCHED_MAPS. False: there are records that nobody understands. */
bool log_finding(const struct sanitizer_log *log, const struct watched *watched,
                 const struct shape *shapes, const char *maps, struct outcome *outcome);

/* --- sanitizer.c -------------------------------------------------------------------------------
 */

/* Runs all tools until one finds something. True: outcome says what, or what is wrong with the
 * machine; its shape is set. */
bool sanitizer_check(const struct check_options *options, struct outcome *outcome);

enum { SANITIZER_TOOLS = 4 };

/* Names of the tools that ran to their end or found something, as many as the result says. */
int sanitizer_tools_run(const char *names[SANITIZER_TOOLS]);

#ifdef __cplusplus
}
#endif
#endif
