/* recording.h: what a submission's wrapper asked of CUDA's runtime: one struct recording, in a file
 * that the recorder (record.cu) maps in the sandbox, in one process with the submission. So it is
 * hostile, and not trusted: recording_check() checks form and bounds, plan.c what it means; what
 * then is replayed are kernels of the submission's own on buffers that ./clock allocates. Whatever
 * ends the recorder, the steps up to there are in the file. Plain C, no CUDA.
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

#define RECORDING_MAGIC UINT32_C(0x32636572)

/* Far above what a submission needs, far below what would hurt the reader. */
enum {
    RECORDING_STEPS = 2048,
    RECORDING_NAME = 2048,        /* of a kernel or a variable, mangled: templates have long ones */
    RECORDING_PARAMETERS = 32764, /* bytes of one kernel's parameters, CUDA's own limit */
    RECORDING_DATA = 64 << 10,    /* of a step */
    RECORDING_STORE = 2 << 20     /* of all names and data */
};

enum step_kind {
    STEP_ALLOCATE, /* buffer `to`: the next number; `width` bytes */
    STEP_SET,      /* `height` rows of `width` bytes at `to` become `value` */
    STEP_COPY,     /* ... are copied there from `from` */
    STEP_WRITE,    /* data, from the host, to `to` */
    STEP_VARIABLE, /* data, from the host, into the __device__ or __constant__ variable of this
                      name, `to.offset` bytes after its begin */
    STEP_CARVEOUT, /* the kernel of this name prefers `value` percent of an SM's L1 as shared memory
                    */
    STEP_LAUNCH,   /* the kernel of this name, its parameters in the data */
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

/* What a step has in the store. */
struct stored {
    uint32_t at, bytes;
};

struct step {
    uint32_t kind;
    struct stored name;     /* with a 0 behind it; no bytes: none */
    struct stored data;     /* 0 where pointers are */
    struct stored pointers; /* struct pointer, in the order of their places */
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
    uint32_t magic, end, state, count, used; /* count: of steps; used: of the store */
    char reason[REASON_SIZE];
    struct shape shape;
    struct step steps[RECORDING_STEPS];
    uint64_t store[RECORDING_STORE / sizeof(uint64_t)];
};

static inline const void *recording_at(const struct recording *r, const struct stored *stored) {
    return (const char *)r->store + stored->at;
}

static inline const char *step_name(const struct recording *r, const struct step *step) {
    return (const char *)recording_at(r, &step->name);
}

static inline const struct pointer *step_pointers(const struct recording *r,
                                                  const struct step *step) {
    return (const struct pointer *)recording_at(r, &step->pointers);
}

static inline uint32_t step_pointer_count(const struct step *step) {
    return step->pointers.bytes / (uint32_t)sizeof(struct pointer);
}

/* ---- writing: the recorder's --------------------------------------------------------------- */

struct data {
    unsigned char *bytes;
    uint32_t size;
    struct pointer *pointers;
    uint32_t pointer_count;
};

/* Maps the file, which holds this shape and no step then. NULL: errno says why. */
struct recording *recording_begin(int file, const struct shape *shape);

/* The step, with a name and with data, each of which may be null. False: there is no room. */
bool recording_add(struct recording *recording, const struct step *step, const char *name,
                   const struct data *data);

/* May be called in a handler of a signal. */
void recording_stop(struct recording *recording, enum state state, const char *reason);

/* ---- reading ------------------------------------------------------------------------------- */

/* Whether these bytes are a recording whose steps have all that they say inside of its store.
 * False: `reason` says in one line why not. Nothing outside of them is read. */
bool recording_check(const struct recording *recording, size_t size, char reason[REASON_SIZE]);

/* --- plan.c ------------------------------------------------------------------------------------
 *
 * From a recording to what is to be replayed, or to a reason why it cannot be. Plain C, no
 * CUDA: between recording.c, which knows the file, and replay.c, which knows the driver. */

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
