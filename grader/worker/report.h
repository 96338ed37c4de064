/* What passes between the judge and a worker: two memory files, and the worker's report.
 *
 * The worker is the process in which the submission runs. It gets a sealed file with the inputs and
 * the poisoned outputs, laid out as host_layout_of() has it with guards, gives back a file of the
 * same layout with what the device's memory holds afterwards, and reports in a third one how far it
 * came. The judge believes nothing of it but what it can check: lengths, known numbers, and that
 * names look like some (finding_check()). */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H
#include "../../engine/finding.h"
#include "../../engine/host/driver/driver.h"
#include "../../engine/host/host.h"

enum worker_state {
    WORKER_STARTED,    /* the wrapper has not been called yet */
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

/* Room for struct writers, as ../run/once.py makes it. */
enum { WORKER_WRITERS_BYTES = 64 << 10 };

struct worker_report {
    uint32_t magic;
    uint32_t state;
    int32_t launches;
    int32_t line;                                    /* 0: not known */
    uint64_t bytes_to_host;                          /* copied from the device by the wrapper */
    uint64_t bytes_into_output;                      /* copied from the host into an output */
    uint64_t work;                                   /* of all launches, of runtime.h's kind */
    uint64_t counted;                                /* 1: the next five say something */
    uint64_t loads, loads_once_per_block, exchanged; /* struct counted_reuse has them */
    uint64_t threads;  /* that shared in the loads of all launches: watch_checked.c */
    uint64_t accesses; /* elements of global memory loaded and stored, in all launches */
    char file[512];
    char detail[MESSAGE_SIZE];
    struct finding_launch launch; /* the wrapper's last */
    struct finding finding;
    uint64_t blocks, blocks_watched; /* of launches of which not all blocks were watched: all of
                                        them, and those that were; 0, 0: there is none */
};

#endif
