/* plan.h: from a recording to what is to be replayed, or to a reason why it cannot be. Plain C, no
 * CUDA: between recording.c, which knows the text, and replay.c, which knows the driver. */
#ifndef PLAN_H
#define PLAN_H

#include "judgement.h"
#include "recording.h"

/* No product needs more; a plan within them is small, whatever the recording was. */
enum {
    PLAN_BUFFERS = 64, /* A, B and C included */
    PLAN_LAUNCHES = 256,
    PLAN_KERNELS = 64,
    PLAN_WRITTEN = 64 << 10 /* bytes from the host in one call: tables, not matrices */
};
#define PLAN_SCRATCH (UINT64_C(8) << 30) /* bytes in all that a submission may allocate */

struct kernel {
    const char *name;
    uint32_t shared; /* the most dynamic shared memory of its launches */
    int carveout;    /* percent; -1: not set */
};

struct plan {
    int buffer_count;
    uint64_t bytes[PLAN_BUFFERS]; /* of each buffer */
    int kernel_count, launch_count;
    struct kernel kernels[PLAN_KERNELS];
    /* The recording's steps that take GPU time, in order: launches, copies and memsets.
     * kernel_of[i] is a launch's kernel. */
    int count;
    const struct step *steps[RECORDING_STEPS];
    int kernel_of[RECORDING_STEPS];
};

/* The recording must outlive the plan. False: judged, with the reason in a student's words. */
bool plan_make(const struct recording *recording, int m, int n, int k, struct plan *plan,
               struct judgement *judgement);

#endif
