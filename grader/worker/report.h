/* What passes between the judge and a worker: two memory files, and the worker's report.
 *
 * The worker is the process in which the submission runs. It gets a sealed file with A, B and the
 * poisoned C, gives back a file of the same layout with what the device's memory holds afterwards,
 * and reports in a third one how far it came. The judge believes nothing of it but what it can
 * check: lengths, terminated strings, known numbers. */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H
#include "../../engine/finding.h"
#include "../../support.h"

/* A matrix in both files: a buffer as struct matrix has it, guards included; A's at the beginning,
 * B's and C's behind it. */
struct passage {
    int rows, cols;
    size_t guard;  /* floats in each guard */
    size_t offset; /* of the buffer, in bytes */
    size_t bytes;  /* of the buffer */
};

struct layout {
    struct passage of[MATRIX_COUNT];
    size_t bytes;
};

/* Without the guards. */
static inline size_t elements_bytes(const struct passage *p) {
    return (size_t)p->rows * (size_t)p->cols * sizeof(float);
}

static inline struct layout layout_of(int m, int n, int k) {
    const int rows[MATRIX_COUNT] = {m, k, m}, cols[MATRIX_COUNT] = {k, n, n};
    const size_t guard = guard_size(m, n, k);
    struct layout layout;
    layout.bytes = 0;
    for (int i = 0; i < MATRIX_COUNT; i++) {
        const size_t bytes = matrix_bytes(rows[i], cols[i], guard);
        const struct passage passage = {rows[i], cols[i], guard, layout.bytes, bytes};
        layout.of[i] = passage;
        layout.bytes += bytes;
    }
    return layout;
}

enum worker_state {
    WORKER_STARTED,    /* basicSgemm has not been called yet */
    WORKER_IN_WRAPPER, /* it has, and has not come back, nor has its kernel */
    WORKER_RETURNED,   /* it has, and the device's memory is in the output file */
    WORKER_STOPPED,  /* the runtime or the checker ended the run: `detail` or `finding` says why */
    WORKER_ENDLESS,  /* a block of a kernel does not end */
    WORKER_DEADLOCK, /* threads of a block wait for each other */
    WORKER_TIME_LIMIT, /* the wrapper, or blocks one after the other, took too long */
    WORKER_MACHINE,    /* this machine is at fault: `detail` */
    WORKER_STATES
};

enum { WORKER_MAGIC = 0x53474d31 };

/* Room for struct writers, as ../run.py makes it. */
enum { WORKER_WRITERS_BYTES = 64 << 10 };

struct worker_report {
    uint32_t magic;
    uint32_t state;
    int32_t launches;
    int32_t line;                                    /* 0: not known */
    uint64_t bytes_to_host;                          /* copied from the device by the wrapper */
    uint64_t bytes_into_c;                           /* copied from the host into C */
    uint64_t work;                                   /* of all launches, of runtime.h's kind */
    uint64_t counted;                                /* 1: the next four say something */
    uint64_t loads, loads_once_per_block, exchanged; /* struct counted_reuse has them */
    uint64_t threads; /* that shared in the loads of all launches: watch_checked.c */
    char file[512];
    char detail[MESSAGE_SIZE];
    char launch[2 * MESSAGE_SIZE]; /* the wrapper's last, in words; empty: not known */
    struct finding finding;
    uint64_t blocks, blocks_watched; /* of launches of which not all blocks were watched: all of
                                        them, and those that were; 0, 0: there is none */
};

#endif
