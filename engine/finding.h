/* A finding: one mistake of a kernel or its wrapper, with its place and everybody involved.
 *
 * Made by the checker (this folder), or by the comparison of C with the reference. Printed in one
 * form by check_print.c. Plain data without pointers, so that it can be copied from one process to
 * another. */
#ifndef ENGINE_FINDING_H
#define ENGINE_FINDING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_kind {
    FINDING_NONE,
#define FINDING(name, ...) FINDING_##name,
#include "report/findings.def"
#undef FINDING
    FINDING_KINDS
};

/* Where the address of a finding is; none: it has no address, or it says nothing. */
enum finding_memory { FINDING_MEMORY_NONE, FINDING_MEMORY_SHARED, FINDING_MEMORY_GLOBAL };

/* Whether a run is asked for the mistake behind it: cause.h, locals_program.h. */
enum finding_cause { FINDING_CAUSE_NEVER, FINDING_CAUSE_LOCAL, FINDING_CAUSE_MAYBE };

/* What depends on the kind alone: see findings.def. */
struct finding_kind_text {
    const char *kind; /* "shared-race" */
    enum finding_memory memory;
    enum finding_cause cause;
    const char *headline, *hint;
};

/* x, y, z, as CUDA counts. */
struct finding_index {
    unsigned x, y, z;
};

enum finding_access { FINDING_NO_ACCESS, FINDING_READ, FINDING_WRITE };

/* One access, or one thread that waits somewhere. */
struct finding_party {
    bool known, in_kernel; /* in_kernel: thread and block say something */
    char file[512];
    int line; /* 0: unknown */
    char function[128];
    struct finding_index thread, block;
    enum finding_access access;
};

/* What a kernel is launched with; extents in the order x, y, z. */
struct finding_launch {
    char kernel[128];    /* its name; empty: there is no launch to show */
    uint64_t number, of; /* which launch of the run, from 1; of how many so far */
    unsigned grid[3], block[3];
    size_t shared_bytes; /* dynamic, for each block */
    char file[512];
    int line;       /* of <<<...>>>; 0: unknown */
    char text[512]; /* all of it in words, beside the size of the output */
};

struct finding {
    enum finding_kind kind;
    char what[240];    /* the headline, without place: "race on shared memory" */
    char detail[1600]; /* lines about who did what, separated by \n, not indented */
    char hint[300];    /* one idea, not the solution */
    char variable[64]; /* "A_s", "A", "C"; empty: unknown */
    char element[160]; /* "A_s[3][7]"; empty: unknown */
    struct finding_party at, other;
    char formula[64]; /* what a wrong C is instead: see struct explanation in lab.h; empty: not known */
    bool explains_values; /* likewise */
    double products;      /* likewise; 0 without a formula */
    int barrier_after; /* the line behind which a __syncthreads() is missing; 0: none, not known */
    int phase, phases; /* of the block, counted from 1; 0: not known */
    struct finding_launch launch; /* of the kernel in which it happened; or the last one before */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Null: there is no such kind, or it is FINDING_NONE. */
const struct finding_kind_text *finding_text(enum finding_kind kind);

#ifdef __cplusplus
}
#endif

#endif
