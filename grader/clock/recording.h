/* recording.h: what a submission's wrapper asked of CUDA's runtime: one struct recording, in a file
 * that the recorder (record.cu) maps in the sandbox, in one process with the submission. So it is
 * hostile, and not trusted: recording_check() checks all of it; what then is replayed are kernels
 * of the submission's own on buffers that ./clock allocates. Whatever ends the recorder, the steps
 * up to there are in the file. Plain C, no CUDA.
 *
 * Buffers have numbers: first the lab's arrays, in its order; what the submission allocates
 * follows. Data are bytes and pointers: {16, 2, 64} says that the 8 bytes from the 16th on are the
 * address of byte 64 of buffer 2. So no address is ever written, and two runs of a submission make
 * the same recording.
 *
 * Which words are pointers: the driver reports offset and size of each parameter. A word of 8
 * bytes, on a multiple of 8, in a parameter of 8 bytes or more, whose value is in a live buffer
 * (its end included) is a pointer, also inside structs and in what is copied from the host. An int
 * cannot be mistaken for one: parameters of 4 bytes are ignored, a size_t or a double of such a
 * value would be larger than 10^14 or smaller than 10^-308, and two ints side by side would have
 * to be 32,000 and a thousand million, together in the range of a buffer. A value near a buffer
 * but not in it, or in other memory of CUDA's, is refused: as a number it would be a stray address
 * in the replay. Each buffer is allocated larger than requested, so that the address one past its
 * end belongs to no other. */
#ifndef RECORDING_H
#define RECORDING_H
#include "../../engine/lab.h"
#include "judgement.h"

#define RECORDING_MAGIC UINT32_C(0x33636572)

/* Far above what a submission needs, far below what would hurt the reader. */
enum {
    RECORDING_STEPS = 2048,
    RECORDING_LAUNCHES = 256,
    RECORDING_BUFFERS = 64, /* the lab's arrays included */
    RECORDING_SYMBOLS = 64,
    RECORDING_NAME = 2048,         /* of a symbol, mangled: templates have long ones */
    RECORDING_PARAMETERS = 32764,  /* bytes of one kernel's parameters, CUDA's own limit */
    RECORDING_WRITTEN = 64 << 10,  /* bytes from the host: tables, not arrays */
    RECORDING_DATA = 2 << 20,      /* of all steps */
    RECORDING_POINTERS = 16 << 10, /* likewise */
};
#define RECORDING_SCRATCH (UINT64_C(8) << 30) /* bytes in all that a submission may allocate */

/* All of them take time on the GPU. */
enum step_kind {
    STEP_SET,      /* `height` rows of `width` bytes at `to` become `value` */
    STEP_COPY,     /* ... are copied there from `from` */
    STEP_WRITE,    /* data, from the host, to `to` */
    STEP_VARIABLE, /* data, from the host, into the variable `symbol`, `to.offset` bytes after its
                      begin */
    STEP_LAUNCH,   /* the kernel `symbol`, its parameters in the data */
    STEP_KINDS
};

struct area { /* of a buffer; `pitch` bytes from row to row */
    int32_t buffer;
    uint64_t offset, pitch;
};

/* The 8 bytes from `at` on are the address `offset` bytes after the begin of a buffer. */
struct pointer {
    uint32_t at;
    int32_t buffer;
    uint64_t offset;
};

/* A kernel, or a __device__ or __constant__ variable. */
struct symbol {
    char name[RECORDING_NAME];
    uint32_t shared;  /* of a kernel: the most dynamic shared memory of its launches, in bytes */
    int32_t carveout; /* and the part of an SM's L1 that it prefers as shared memory, in percent;
                         -1: not set */
};

/* What of the recording's data or pointers is a step's. */
struct part {
    uint32_t begin, count;
};

struct step {
    uint32_t kind, symbol;
    struct part data;     /* bytes, 0 where pointers are */
    struct part pointers; /* in the order of their places */
    struct area to, from;
    uint64_t width, height;
    uint32_t value;
    uint32_t grid[3], block[3], shared; /* shared: dynamic, in bytes */
};

/* How the run in the sandbox ended. */
enum recording_end {
    RECORDING_BROKEN, /* not by itself: the process was ended, or killed */
    RECORDING_ENDED,  /* the wrapper returned, and its kernels have ended */
    RECORDING_STOPPED /* `state` (refused, faulted or time-limit) and `reason` say why */
};

struct recording {
    uint32_t magic, end, state;
    uint32_t count, buffer_count, symbol_count, data_count, pointer_count; /* count: of steps */
    char reason[REASON_SIZE];
    uint64_t bytes[RECORDING_BUFFERS]; /* of each buffer */
    struct symbol symbols[RECORDING_SYMBOLS];
    struct step steps[RECORDING_STEPS];
    struct pointer pointers[RECORDING_POINTERS];
    unsigned char data[RECORDING_DATA];
};

/* ---- writing: the recorder's --------------------------------------------------------------- */

struct data {
    unsigned char *bytes;
    uint32_t size;
    struct pointer *pointers;
    uint32_t pointer_count;
};

/* Maps the file, which holds the lab's arrays of this shape and no step then. NULL: errno says why.
 */
struct recording *recording_begin(int file, const struct shape *shape);

/* The number of the symbol of this name, new or known. -1: there is no room. */
int recording_symbol(struct recording *recording, const char *name);

/* The step with its data. False: there is no room. */
bool recording_add(struct recording *recording, const struct step *step, const struct data *data);

/* May be called in a handler of a signal. */
void recording_stop(struct recording *recording, enum state state, const char *reason);

/* Whether these bytes are a recording that can be replayed on arrays of this shape: no step of it
 * names what is not there, or leaves a buffer. False: judged, in a student's words where the
 * submission alone can have brought it about. Nothing outside of the bytes is read. */
bool recording_check(const struct recording *recording, size_t size, const struct shape *shape,
                     struct judgement *judgement);

/* --- replay.c ----------------------------------------------------------------------------------
 *
 * A recording carried out on the GPU, in the process that calls it: the player's (player.c), in
 * which there is nothing that a submission's kernels may not reach. Driver API; between
 * recording.c, which knows no GPU, and clock.c, which knows what a sample is.
 *
 * What returns bool judges when it returns false: the submission or the machine. */

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
