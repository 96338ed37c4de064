/* What a plain program is made of, beside the lab's host: its command line (options.c), which make
 * check's is like; what is known about one run, and what is said of it: a failure in words, or as
 * JSON (failure.c), launches (launches.cu), what hangs or crashes (watchdog.c). ../../support.c
 * prints it stage by stage. */
#ifndef ENGINE_HOST_DRIVER_H
#define ENGINE_HOST_DRIVER_H
#include "../../lab.h"
#include "../../report/device.h"
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../host.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exit statuses. A grader must be able to distinguish a wrong kernel from a broken machine. */
enum exit_status {
    EXIT_PASSED = 0,  /* the result is right, or was not compared (--verify none) */
    EXIT_WRONG = 1,   /* the kernel is wrong: result, launch, fault or time limit */
    EXIT_USAGE = 2,   /* the command line is wrong */
    EXIT_MACHINE = 3, /* the machine is at fault: no GPU, no memory, driver */
};

enum verify_mode { VERIFY_FULL, VERIFY_NONE };

struct options {
    struct lab_case which;
    bool sized; /* sizes were given */
    int repeat; /* timed launches; 0: not given, the backend's own default */
    enum verify_mode verify;
    double timeout; /* seconds that one launch may take */
    bool json;
    bool help, version;
    bool fill_given, timeout_given;
};

/* An option, which sets a member of the options. */
struct option_row {
    const char *name;  /* "--seed" */
    const char *value; /* what it takes, for --help: "N"; null: nothing */
    size_t member;     /* its offset */
    const char *help;  /* what it does; null: --help does not say */
    /* Sets the member to a value; false: it is none. Null: to the text; without a value, to true.
     */
    bool (*read)(const char *value, void *member);
    const char *wanted;       /* behind "is wrong": what to do instead */
    const char *const *usual; /* its default, for --help; null: it has none, or help says it */
};

extern const struct option_row options_of_run[]; /* of the plain program; ends with zeros */

/* What the programs have in common: sets members of struct options. */
bool read_seed(const char *value, void *seed);
bool read_fill(const char *value, void *fill);
bool read_timeout(const char *value, void *seconds);
extern const char wanted_seed[], wanted_fill[], wanted_timeout[];

/* Reads the command line into *options, which begins what the rows set members of; the rest of that
 * is the caller's. Defaults included (a seed that was not given is drawn fresh). Prints nothing and
 * does not exit. EXIT_PASSED, or EXIT_USAGE with a one-line message; then options->json says how to
 * print it. Moves words of argv. */
enum exit_status options_parse(int argc, char **argv, const struct option_row *rows,
                               struct options *options, char message[MESSAGE_SIZE]);

/* What they do, a paragraph each. */
void options_help(const struct option_row *rows);

/* options_parse() for a program's main(): prints help, the version or the error and exits; also
 * exits (EXIT_MACHINE) when the sizes do not fit into this machine's memory. */
struct options options_read(int argc, char **argv);

/* The program ends before its run begins: a line on standard error, or a JSON object, too. */
void options_stop(enum exit_status status, const char *message, bool json)
    __attribute__((noreturn));

/* Its name on the command line. */
const char *verify_name(enum verify_mode mode);

/* --- what is known about a run ---------------------------------------------------------------- */

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
    /* Of the first launch that the GPU refuses: why, a newline, and a hint; empty: there is none.
     */
    char refused[2 * MESSAGE_SIZE];
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
