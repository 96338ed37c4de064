/* What is known about one plain run, and what is said of it: a failure in words, or as JSON
 * (failure.c), launches (launches.cu), what hangs or crashes (watchdog.c).
 * ../../support.c prints it stage by stage. */
#ifndef ENGINE_HOST_REPORT_H
#define ENGINE_HOST_REPORT_H
#include "../../report/launch.h"
#include "../../report/text/source.h"
#include "../host.h"
#include "options.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REPORTED_LAUNCHES = 4 };

enum stage {
    STAGE_SETUP,
    STAGE_ALLOCATE,
    STAGE_TO_DEVICE,
    STAGE_LAUNCH,
    STAGE_FROM_DEVICE,
    STAGE_VERIFY,
    STAGE_COUNT
};

/* Everything known about one run. main.cu fills it in as it goes. It lies in memory that the
 * process of main.cu shares with the one that waits for it (watchdog.c), and report_begin() makes
 * it. */
struct report {
    struct options options;
    const char *backend; /* "cuda" or "cpu" */
    char device[256];    /* its name; empty: not known yet */
    int repeat;          /* timed launches */
    double *samples;     /* seconds of each of them */
    int sample_count;    /* of the launches that are done */
    enum source_state source;
    struct finding_launch
        launches[REPORTED_LAUNCHES];       /* the first that differ from the one before */
    int launch_repeats[REPORTED_LAUNCHES]; /* how often each was made, one by one */
    int launch_count, launches_left_out;
    struct damage damage[LAB_ARRAYS];
    bool verified; /* verdict holds something */
    struct verdict verdict;
    struct explanation explanations[EXPLANATIONS]; /* of a verdict that is not passed */
    int explanation_count;
    double stage_seconds[STAGE_COUNT]; /* -1: not reached */
    /* of those that print */
    FILE *out; /* standard output; stdout is for the kernel and the wrapper */
    int stage;
    double stage_start;
    enum { LINE_START, LINE_OF_STAGE, LINE_OF_KERNEL } line; /* where the output ends */
    /* of the watchdog */
    double call_seconds; /* that a call of the wrapper may take */
    double call_end;     /* when they are over, by clock_seconds(); 0: no call is running */
    bool exit_called;    /* exit(), during a call */
    bool is_cut_off;     /* a call has closed the way to the other process */
    bool backend_spoke;  /* on standard error */
    bool is_complete;    /* the result was said */
};

/* ---- a call of the wrapper: launches.cu ------------------------------------------------------ */

struct cudaDeviceProp;

/* Around a call of the wrapper and the kernels that it has launched, in this order. Its time is
 * limited to options.timeout, and what the first one launches is taken down. The second returns the
 * cudaError_t of the first call or launch in the wrapper that failed, and which. */
void report_call_begins(struct report *report, const struct cudaDeviceProp *properties, bool first);
int report_call_returned(const struct report *report, char what[2 * MESSAGE_SIZE]);
void report_call_ends(void);

/* `what` failed with this cudaError_t: a message for report_stop(), and whose fault it is. The
 * machine's before the first call of the wrapper, and where no kernel can cause such an error. */
enum exit_status report_error(const struct report *report, int error, const char *what,
                              char message[4 * MESSAGE_SIZE]);

/* ---- what is said ---------------------------------------------------------------------------- */

/* The one JSON object of --json, as the document of the plain program describes it. message: why
 * the run ended early; may be NULL. */
void report_json(const struct report *report, enum exit_status status, const char *message,
                 FILE *out);

/* Why the run ended early, as text or as JSON: TEST FAILED and the cause, or (EXIT_MACHINE) a line
 * on standard error. Of a run whose result was said, no second one is. */
void report_ended_early(struct report *report, enum exit_status status, const char *message);

/* So that what follows begins a line. */
void report_end_line(struct report *report);

/* ---- watchdog ------------------------------------------------------------------------------ */

/* From here on this process is a child, and its parent waits for it: once, before any CUDA call.
 * The parent passes on what is printed to stdout, on lines of its own, and says how the run ended
 * where the child cannot. False: the machine has no further process or pipe. Under a debugger or a
 * profiler, or with threads that CUDA has started already, there is one process, and no limit. */
bool watchdog_begin(struct report *report);

/* Between these two calls the wrapper may take `seconds`; then the run ends with TEST FAILED, as it
 * does after a crash (a device pointer used on the host, say) and after exit(). */
void watchdog_start(double seconds);
void watchdog_stop(void);

/* All that was printed until now is passed on, and the line that it has left open is ended, before
 * something is printed to standard error. From any thread. */
void watchdog_end_line(void);

/* --- failure.c: what it says of launches, and of a wrong result ------------------------------ */

/* Of the timed launches, in seconds, and GFLOP/s of the median. NaN: there are none. */
struct launch_times {
    double median, min, max, gflops;
};
struct launch_times launch_times(const struct report *report);

/* A line for each launch, in a run that failed; and what one launch explains of C. */
void report_print_launches(const struct report *report, FILE *out);
void report_explain_launch(struct report *report);

/* Adds to an explanation of what was never written: the launch's threads end there. Nothing where
 * they do not. */
void launch_explain(const struct finding_launch *launch, const struct shape *shape,
                    struct explanation *unwritten);

/* In words; report_json() says it as JSON. */
void report_failure(const struct report *report);

/* The next command to try. */
void report_print_next(const struct report *report, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
