/* What a device allows, and how it fails: CUDA's limits, a kernel's launch and why a GPU refuses
 * one, the errors of its runtime (cuda_errors.def), and what ends a kernel or the host's code
 * (faults.def). */
#ifndef ENGINE_REPORT_DEVICE_H
#define ENGINE_REPORT_DEVICE_H
#include "../finding.h"
#include "text/text.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
 * Compute Capability"), checked against an H200. */
enum {
    WARP_SIZE = 32,
    MAX_BLOCK_THREADS = 1024,
    MAX_BLOCK_X = 1024,
    MAX_BLOCK_Y = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_X = 2147483647,
    MAX_GRID_Y = 65535,
    MAX_GRID_Z = 65535,
    SHARED_PER_BLOCK = 48 * 1024 /* bytes, without asking */
};

/* available.c: bytes that this process can still get: what Linux calls available, or less where a
 * control group allows less; and into `all`, unless it is null, those that it could ever get.
 * Without a GPU that is the device's memory, too. */
size_t memory_available(size_t *all);

/* --- launches --------------------------------------------------------------------------------- */

/* What a GPU allows, as cudaDeviceProp has it. */
struct launch_limits {
    unsigned grid[3], block[3], threads;
    size_t shared;
};

extern const struct launch_limits launch_usual_limits; /* those above */

/* How many threads it has, beside its output, if it names one, in one line:
 * "kernel<<<(3, 2), (16, 16)>>>: 48 x 32 threads (x, y); C has 20 columns and 35 rows". */
void launch_describe(const struct finding_launch *launch, char text[LAUNCH_TEXT]);

/* Whether it has a thread for each element of its output, columns along x and rows along y. */
bool launch_covers(const struct finding_launch *launch);

/* What is wrong with a launch, into text, and a hint; NULL where these limits allow it. */
const char *launch_refusal(const struct finding_launch *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]);

/* --- errors and faults ------------------------------------------------------------------------ */

/* "cudaErrorInvalidValue"; "unrecognized error code". */
const char *cuda_error_name(int error);
/* "invalid argument"; likewise. */
const char *cuda_error_text(int error);

enum fault_code {
    FAULT_NONE,
#define FAULT(name, ...) FAULT_##name,
#include "faults.def"
#undef FAULT
    FAULTS
};

struct fault_facts {
    enum fault_code code; /* FAULT_NONE: all that there is to say has been said elsewhere */
    double seconds;
    uint64_t blocks, of;   /* done; of how many */
    int signal;            /* that ended the host's code */
    const void *address;   /* the device pointer */
    const char *assertion; /* null: not known */
};

/* "deadlock"; null: there is no such fault. */
const char *fault_name(enum fault_code code);
/* One sentence. */
void fault_say(const struct fault_facts *facts, char *text, size_t bytes);
/* Behind it, for who reads it at a terminal; it may be empty. */
const char *fault_advice(enum fault_code code);

#ifdef __cplusplus
}
#endif

#endif
