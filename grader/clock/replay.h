/* replay.h: a recording carried out on the GPU, in the process that calls it: the player's
 * (player.c), in which there is nothing that a submission's kernels may not reach. Driver API;
 * between recording.c, which knows no GPU, and clock.c, which knows what a sample is.
 *
 * What returns bool judges when it returns false: the submission or the machine. */
#ifndef REPLAY_H
#define REPLAY_H
#include "recording.h"

/* In this order for each sample; GIVE once before, for the first warm-up. */
enum command {
    WARM_UP, /* load the kernels, as if never before: __device__ variables are as they were
                compiled; and do all steps once */
    GIVE,    /* new inputs, from memory of the host's */
    TIME,    /* all steps once more, on poisoned outputs and poisoned scratch, timed as timer.h does
                it */
    TAKE     /* outputs, into memory of the host's; unload the kernels */
};

struct replay;

/* `image`: a fat binary; `recording`: a checked one. Both must outlive the replay. NULL: judged. */
struct replay *replay_new(const void *image, const struct recording *recording,
                          struct judgement *judgement);

/* Between arrays on the host and the GPU. `times` are set by TIME. */
bool replay_do(struct replay *replay, enum command command, void *const arrays[LAB_ARRAYS],
               struct times *times, struct judgement *judgement);

/* --- player.c ----------------------------------------------------------------------------------
 *
 * The process in which a submission's kernels run. The clock forks it before either of
 * them starts CUDA.
 *
 * Two contexts of one process share one address space on the GPU: a kernel of one may write to the
 * other's memory (a test shows it). Two processes do not. So the player has the lab's arrays, the
 * submission's scratch and its kernels, and the clock has what they must not reach: the correct
 * result, what is timed beside them, and the verdict. Time is taken in the player, as the way to it
 * and back takes longer than some kernels. Arrays pass through memory of the host's that both see;
 * commands and answers through a socket. Plain C, no CUDA.
 *
 * What returns bool judges when it returns false. */

struct player;

/* `seconds`: what the submission's runs may take in all. Image and recording must outlive the
 * player. NULL: judged. Returns at once; the player starts CUDA while the caller does. */
struct player *player_new(const void *image, const struct recording *recording, double seconds,
                          struct judgement *judgement);

/* Gone when this returns, whatever it was doing. */
void player_free(struct player *player);

/* An array in memory that both see. */
void *player_array(struct player *player, int array);

/* With the arrays in memory that both see. WARM_UP and TIME count against the submission's seconds.
 */
bool player_do(struct player *player, enum command command, struct times *times,
               struct judgement *judgement);

#endif
