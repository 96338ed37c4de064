/* plan.h: from a recording to what is to be replayed, or to a reason why it cannot be. Plain C, no
 * CUDA: between recording.c, which knows the file, and replay.c, which knows the driver. */
#ifndef PLAN_H
#define PLAN_H

#include "judgement.h"
#include "recording.h"

/* No submission needs more; a plan within them is small, whatever the recording was. */
enum {
    PLAN_BUFFERS = 64, /* the lab's arrays included */
    PLAN_LAUNCHES = 256,
    PLAN_KERNELS = 64,
    PLAN_WRITTEN = RECORDING_DATA /* bytes from the host in one call: tables, not arrays */
};
#define PLAN_SCRATCH (UINT64_C(8) << 30) /* bytes in all that a submission may allocate */

#define PLAN_STRAY_ADDRESS                                                                         \
    "an address is passed that is neither in an array nor in what it has allocated in this call"

struct kernel {
    const char *name;
    uint32_t shared; /* the most dynamic shared memory of its launches */
    int carveout;    /* percent; -1: not set */
};

struct plan {
    const struct recording *recording;
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

/* A checked recording (recording_check()), which must outlive the plan. False: judged, with the
 * reason in a student's words. */
bool plan_make(const struct recording *recording, const struct shape *shape, struct plan *plan,
               struct judgement *judgement);

#endif
