/* replay.h: a plan carried out on the GPU, in the process that calls it: the player's (player.h),
 * in which there is nothing that a submission's kernels may not reach. Driver API; between plan.c,
 * which knows no GPU, and clock.c, which knows what a sample is.
 *
 * What returns bool judges when it returns false: the submission or the machine. */
#ifndef REPLAY_H
#define REPLAY_H

#include "plan.h"

struct replay;

/* `image`: a fat binary, which with the plan must outlive the replay. NULL: judged. */
struct replay *replay_new(const void *image, const struct plan *plan, struct judgement *judgement);

/* Load the kernels, as if never before: __device__ variables are as they were compiled. */
bool replay_load(struct replay *replay, struct judgement *judgement);
bool replay_unload(struct replay *replay, struct judgement *judgement);

/* New inputs, from arrays on the host; outputs, to those. */
bool replay_give(struct replay *replay, void *const arrays[LAB_ARRAYS],
                 struct judgement *judgement);
bool replay_take(struct replay *replay, void *const arrays[LAB_ARRAYS],
                 struct judgement *judgement);

/* All steps once, on poisoned outputs and poisoned scratch; waits for them. */
bool replay_run(struct replay *replay, struct judgement *judgement);

/* The same, timed as timer.h does it. */
bool replay_time(struct replay *replay, struct times *times, struct judgement *judgement);

#endif
