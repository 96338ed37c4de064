/* A finding: one mistake of a kernel or its wrapper, with its place and everybody involved.
 *
 * Made by the checker (this folder), or by the comparison of C with the reference. Printed in one
 * form by print.c. Plain data without pointers, so that it can be copied from one process to
 * another. */
#ifndef CHECKER_FINDING_H
#define CHECKER_FINDING_H
#include <stdbool.h>

enum finding_kind {
    FINDING_NONE,
    FINDING_SHARED_RACE,             /* two threads, shared memory, no barrier between */
    FINDING_GLOBAL_RACE,             /* two threads, global memory, nothing between */
    FINDING_DIVERGENT_BARRIER,       /* threads of one block wait at different barriers */
    FINDING_EARLY_RETURN,            /* threads left before a barrier, and were missed there */
    FINDING_OUT_OF_BOUNDS,           /* outside A, B, C or another allocation */
    FINDING_SHARED_OUT_OF_BOUNDS,    /* outside a shared array, or outside its own row */
    FINDING_LOCAL_OUT_OF_BOUNDS,     /* outside an array of the thread's own */
    FINDING_UNINITIALISED_SHARED,    /* nobody has written what is read */
    FINDING_UNINITIALISED_GLOBAL,    /* the same in global memory, C among it */
    FINDING_INPUT_WRITTEN,           /* A or B */
    FINDING_FREED_MEMORY,            /* used after cudaFree */
    FINDING_DEVICE_POINTER_ON_HOST,  /* host code follows one */
    FINDING_DEVICE_VARIABLE_ON_HOST, /* host code reads a __device__ variable by its name */
    FINDING_HOST_POINTER_ON_DEVICE,  /* a kernel does */
    FINDING_MISALIGNED,              /* a float4 that is not at a multiple of 16 bytes */
    FINDING_BAD_LAUNCH,              /* outside the limits of a GPU */
    FINDING_FAILED_CALL,             /* a call of the CUDA runtime that failed */
    FINDING_NO_LAUNCH,               /* the wrapper launched nothing */
    FINDING_LEAK,                    /* allocated in the wrapper and not freed */
    FINDING_ENDLESS,                 /* a block that does not end */
    FINDING_TIME_LIMIT,              /* blocks end, but not all of them within the time limit */
    FINDING_DEADLOCK,                /* threads wait for each other for ever */
    FINDING_KERNEL_FAULT,            /* anything else that ends a kernel */
    FINDING_HOST_FAULT,              /* the wrapper crashed, or ended the program */
    FINDING_TAMPERING,               /* writes variables of the program that runs it */
    FINDING_UNWRITTEN,               /* elements of C that no thread wrote */
    FINDING_WRONG_RESULT,            /* C is not A B */
    FINDING_NOT_FLOAT32,             /* right, but less precise than float32 */
    FINDING_KINDS
};

/* Of FINDING_NO_LAUNCH, which is seen by whoever calls the wrapper. */
#define NO_LAUNCH_WHAT "basicSgemm launches no kernel"
#define NO_LAUNCH_HINT "mysgemm<<<grid, block>>>(...): how many threads does C need?"

/* x, y, z, as CUDA counts. */
struct finding_index {
    unsigned x, y, z;
};

/* One access, or one thread that stands somewhere. */
struct finding_party {
    bool known, in_kernel; /* in_kernel: thread and block say something */
    char file[512];
    int line; /* 0: unknown */
    char function[128];
    struct finding_index thread, block;
    char access[8]; /* "read", "write", or empty */
};

struct finding {
    enum finding_kind kind;
    char what[240];    /* the headline, without place: "race on shared memory" */
    char detail[1600]; /* lines about who did what, separated by \n, not indented */
    char hint[300];    /* one idea, not the solution */
    char variable[64]; /* "A_s", "A", "C"; empty: unknown */
    char element[160]; /* "A_s[3][7]"; empty: unknown */
    struct finding_party at, other;
    char formula[64];  /* what a wrong C is instead: see explain() in support.h; empty: not known */
    int phase, phases; /* tile phase, counted from 1; 0: not known */
};

#endif
