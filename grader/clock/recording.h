/* recording.h: what a submission's basicSgemm asked of CUDA's runtime, as text.
 *
 * The recorder (record.cu) writes it in the sandbox, in one process with the submission, so it is
 * hostile, and not trusted. recording_read() checks form and bounds, plan.c what
 * it means; what then is replayed are kernels of the submission's own on buffers that ./clock
 * allocates. Plain C, no CUDA. One line a step, the product in the order M K N:
 *
 *     sgemm recording 1
 *     product 512 512 512
 *     allocate 3 4096
 *     set 3 0 4096 4096 1 0
 *     launch _Z7mysgemmiiiPKfS0_Pf 32 32 1 16 16 1 0 00020000...0000 16=0+0 24=1+0 32=2+0
 *     end
 *
 *     allocate   buffer, bytes
 *     set        buffer, offset, pitch; width in bytes, height; value
 *     copy       to: buffer, offset, pitch; from: the same; width in bytes, height
 *     write      buffer, offset; data
 *     variable   name, offset; data
 *     carveout   kernel, percent
 *     launch     kernel; grid x y z; block x y z; dynamic shared bytes; data
 *     end        basicSgemm returned and its kernels have ended
 *     stopped    refused, faulted or time-limit; the reason. Instead of `end`
 *
 * Buffers have numbers: A, B, C are 0, 1, 2 as in support.h, what the submission allocates follows
 * in order. Data are hexadecimal digits (- for none) and pointers: 16=2+64 says that the 8 bytes
 * from the 16th on are the address of byte 64 of buffer 2. So no address is ever written, and two
 * runs of a submission write the same recording.
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

#include "../../lab/verify.h"
#include "judgement.h"
#include <stdint.h>

#define RECORDING_FIRST_LINE "sgemm recording 1"

/* Far above what a product needs, far below what would hurt the reader. */
enum {
    RECORDING_BYTES = 4 << 20, /* of the text */
    RECORDING_STEPS = 2048,
    RECORDING_NAME = 2048, /* of a kernel or a variable, mangled: templates have long ones */
    RECORDING_DATA = 32764 /* bytes of one kernel's parameters, CUDA's own limit; more in a write */
};

enum step_kind {
    STEP_ALLOCATE, /* buffer `to`: the next number; `width` bytes */
    STEP_SET,      /* `height` rows of `width` bytes at `to` become `value` */
    STEP_COPY,     /* ... are copied there from `from` */
    STEP_WRITE,    /* `data`, from the host, to `to` */
    STEP_VARIABLE, /* `data`, from the host, into the __device__ or __constant__ variable `name`,
                      `to.offset` bytes after its begin */
    STEP_CARVEOUT, /* kernel `name` prefers `value` percent of an SM's L1 as shared memory */
    STEP_LAUNCH,   /* kernel `name`, its parameters in `data` */
    STEP_KINDS
};

struct area { /* of a buffer; `pitch` bytes from row to row */
    int buffer;
    uint64_t offset, pitch;
};

/* The 8 bytes from `at` on are the address `offset` bytes after the begin of a buffer. */
struct pointer {
    uint32_t at;
    int buffer;
    uint64_t offset;
};

struct data {
    unsigned char *bytes; /* 0 where pointers are */
    uint32_t size;
    struct pointer *pointers;
    int pointer_count;
};

struct step {
    enum step_kind kind;
    char *name;
    struct area to, from;
    uint64_t width, height;
    int value;
    uint32_t grid[3], block[3], shared; /* shared: dynamic, in bytes */
    struct data data;
};

/* How the run in the sandbox ended. */
enum recording_end {
    RECORDING_BROKEN, /* not by itself: the process was ended, or killed */
    RECORDING_ENDED,
    RECORDING_STOPPED /* `state` and `reason` say why; the steps are of no use */
};

struct recording {
    int m, n, k;
    struct step *steps;
    int count;
    enum recording_end end;
    enum state state; /* refused, faulted or time-limit */
    char reason[REASON_SIZE];
    char *text;               /* the steps' names and bytes are in it, */
    struct pointer *pointers; /* and their pointers here */
};

/* ---- writing: the recorder's --------------------------------------------------------------- */

void recording_begin(FILE *out, int m, int n, int k);
void recording_step(FILE *out, const struct step *step);
void recording_end(FILE *out);
void recording_stop(FILE *out, enum state state, const char *reason);

/* ---- reading ------------------------------------------------------------------------------- */

/* `text` is any bytes. NULL, with a one-line reason, when it is no recording. Takes memory in
 * proportion to `size`, and reads nothing outside. The caller ends it with recording_free(). */
struct recording *recording_read(const char *text, size_t size, char reason[REASON_SIZE]);
void recording_free(struct recording *recording); /* NULL is fine */

#endif
