/* judgement.h: what ./clock prints in the end, one JSON object on one line. Plain C, no CUDA.
 *
 *     {"state": "timed", "reason": "", "device": "NVIDIA H200", "launches": 1, "samples": 11,
 *      "seconds": {"median": 3.3e-04, "minimum": 3.3e-04, "quartile_1": 3.3e-04,
 *                  "quartile_3": 3.4e-04},
 *      "beside_seconds": {...}}
 *
 * beside_seconds: of what it is timed beside (lab.beside). Only "timed" has times. */
#ifndef JUDGEMENT_H
#define JUDGEMENT_H
#include <stdbool.h>
#include <stdio.h>

/* --- the times of single runs, and what a handful of them says -------------------------------- */

/* Of one run. */
struct times {
    double event_seconds; /* between two events on the GPU, around the run */
    double host_seconds;  /* by the host's clock, around those, the hold before them (timer.h) and
                             the wait for the device */
};

/* Whether both can be right. If not, work went on outside of what the events enclose, or a clock
 * was tampered with, or the machine was busy with something else. */
bool clocks_agree(const struct times *times);

/* The time that counts. Where the clocks differ, the slower one: work that is hidden from the
 * events is not hidden from the host. */
double counted_seconds(const struct times *times);

/* In seconds. Quartiles as Python's statistics.quantiles(method="inclusive") and NumPy's default
 * have them: linear between neighbors, the smallest is the 0th, the largest the 4th. */
struct summary {
    int count;
    double median, minimum, quartile_1, quartile_3;
};

/* count >= 1 times, in any order; they are sorted. All zero, count too, when count < 1 or one of
 * them is no positive, finite number: then there is nothing to say. */
struct summary summarise(double *seconds, int count);

/* --- what is said of them --------------------------------------------------------------------- */

enum state {
    STATE_TIMED,
    STATE_REFUSED,    /* it cannot be replayed, or there is no recording */
    STATE_WRONG,      /* a sample's result: wrong, never written, or less precise than float32 */
    STATE_FAULTED,    /* a launch or a kernel failed */
    STATE_TIME_LIMIT, /* a kernel was still running */
    STATE_IMPOSSIBLE, /* a time in which so many float32 operations cannot be done */
    STATE_MACHINE,    /* nothing is said about the submission */
    STATES
};

enum { REASON_SIZE = 240, DEVICE_NAME_SIZE = 256 };

struct judgement {
    enum state state;
    char reason[REASON_SIZE]; /* one line of printable ASCII; empty when timed */
    char device[DEVICE_NAME_SIZE];
    double operations; /* of one run */
    int launches;
    int samples; /* of which the summaries are */
    struct summary seconds, beside_seconds;
};

/* Sets state and reason; what is not printable ASCII becomes '?'. Returns false, always: for
 * `return judge(...)` in what returns whether all is well. */
__attribute__((format(printf, 3, 4))) bool judge(struct judgement *judgement, enum state state,
                                                 const char *format, ...);

#define NAME "%.64s" /* as much of a mangled name as fits into a reason */

void judgement_print(FILE *out, const struct judgement *judgement);

#endif
