/* make check: runs the lab's wrapper on small shapes under watch, and names the first mistake.
 *
 *   main.c          the command line's run: one shape after the other, each in its own process
 *   check_options.c the command line
 *   check_run.c     one shape: arrays, the wrapper, what was seen, what came out
 *   child.c         the processes that all this runs in
 *   programs.c      other programs that are asked: what the plain build says of the same shape,
 *                   which blocks write (writers_program.c), what local variables have to do with it
 *   evidence.c      runs that show what a kernel's indices are, and what a correct one could do
 *                   better
 *   cause.c         the mistake behind a finding, from the source, from runs with other local
 *                   variables; a lab's rules (explain/outcome.h) do the same from evidence
 *   check_print.c   findings as text and as JSON
 *
 * Behind it, ../../show/ has what --counts, --phases, --indices and --walk print.
 *
 * Always on the CPU, on a machine with a GPU too. */
#ifndef ENGINE_HOST_CHECK_H
#define ENGINE_HOST_CHECK_H
#include "../../explain/index/index.h"
#include "../../explain/outcome.h"
#include "../../lab.h"
#include "../../report/text/source.h"
#include "../../show/show.h"
#include "../../watch/locals/locals.h"
#include "../driver/driver.h"
#include "../host.h"
#include <sys/types.h>

struct check_options {
    /* First: sizes (without them a handful of small shapes is tried), seed, fill, timeout, json: as
     * the plain program has them. */
    struct options run;
    bool counts, phases, indices;
    const char *plain; /* the program that `make` builds; null: it is not asked */
    const char *walk;  /* the file for the walkthrough; null: none is asked for */
    /* --launch: whose phases, indices, walkthrough; 0: the first one that loads an input. */
    uint64_t launch;
    bool launch_given;
    struct chosen_block {
        bool given; /* --block */
        unsigned of[3];
    } block;         /* whose phases (of z = 0), or whose walkthrough */
    FILE *report;    /* what --counts and --phases say: written by the shape's process; or null */
    FILE *walk_data; /* for the walkthrough of this run: ../show/page/walk.h; or null */
    struct shape *shapes; /* to check, in this order */
    int shape_count;
    int calls;       /* of the wrapper, for each shape */
    bool all_blocks; /* are watched, however many there are */
    /* Files; null: this program makes them when it asks them (programs.c). */
    const char *writers_program, *locals_program;
    /* In the program that knows the local variables. */
    int answer;                 /* descriptor for a struct cause_answer; 0: none is asked for */
    const char *locals_request; /* --locals; null: none, as in the usual one */
    int locals_answer;          /* descriptor for a struct cause; 0: none is asked for */
    struct locals_failed {
        enum finding_kind kind;
        int line;               /* 0: unknown */
    } locals_failed;            /* the run whose mistake it is */
    struct locals *locals_seen; /* null: they are left alone */
    struct locals_change locals_change;
};

/* A launch whose blocks end may take so many times as long as one block. */
enum { CHECK_LAUNCH_BLOCKS = 4 };

/* --- check_options.c -------------------------------------------------------------------------- */

/* Reads the command line; prints and exits on --help and on errors. */
struct check_options check_options_read(int argc, char **argv);

/* --- check_run.c ------------------------------------------------------------------------------ */

/* Runs one shape in this process, which is spent afterwards. */
void run_shape(const struct check_options *options, struct shape shape, struct outcome *outcome);

/* FNV-1a of these bytes, behind those whose hash is `before`; 0: there are none. */
static inline uint64_t check_hash(const void *bytes, size_t count, uint64_t before) {
    uint64_t hash = 0xCBF29CE484222325 + before;
    for (size_t at = 0; at < count; at++)
        hash = (hash ^ ((const unsigned char *)bytes)[at]) * 0x100000001B3;
    return hash;
}

/* Of the kernel.cu that this program carries. */
static inline uint64_t check_source_hash(void) {
    const char *text = source_text();
    return check_hash(text, text ? strlen(text) : 0, 0);
}

/* --- evidence.c ------------------------------------------------------------------------------- */

enum { EVIDENCE_TILE = 16 }; /* where nothing else is known */

/* How wide a part a block works on, as far as the kernel's shared arrays and the launch of this
 * run say. */
int evidence_tile(const struct outcome *run);

/* The shape that shows most of a kernel that wide. False: the lab has none. */
bool evidence_shape(const struct outcome *run, struct shape *shape);

/* Runs one of these in this process, which is spent afterwards, and sets outcome->cause if the run
 * proves a mistake that `failed` comes from. If `indices` is not null, prints there what the
 * kernel's accesses compute, as text or JSON. */
void run_evidence(const struct check_options *options, struct shape shape,
                  const struct outcome *failed, FILE *indices, struct outcome *outcome);

/* What a correct kernel could do better: runs for ../../explain/remarks/. `room` is shared with
 * children. */
struct remark find_remark(struct outcome *room);

/* --- cause.c ---------------------------------------------------------------------------------- */

/* A loop whose body never runs, and a loop or an if that a ; cuts off from its body: sets *cause if
 * the source has one in the finding's function, before its line; of a finding without a line,
 * anywhere. What it says is true whether or not the finding comes from it. */
void cause_of_body(const struct finding *finding, struct cause *cause);

/* Where a result that is wrong in one way throughout (lab.formulas) was stored: sets *cause, if a
 * formula gives what the failed run came to, to where the launches that this run has kept stored
 * the output for the last time; else its kind is CAUSE_NONE. `ended` as in explain/outcome.h: after
 * a launch that was stopped, others may have stored it. False: out of memory. */
bool cause_of_formula(value_decoder *decode, bool ended, const struct outcome *failed,
                      struct cause *cause);

/* Mistakes of local variables, in the program that knows them: answers the request of programs.c
 * with one that runs on the first of the shapes prove, for the run that has gone wrong there. Takes
 * some seconds at most. */
void locals_answer(const struct check_options *o);

/* --- check_print.c ---------------------------------------------------------------------------- */

/* Ends the program with this message, as JSON too if that is asked for. */
void check_stop(const struct check_options *options, enum exit_status status, const char *message)
    __attribute__((noreturn));

/* The submission's file, for findings that have no line. */
void check_file(char *file, size_t bytes);
void print_finding(FILE *out, const struct outcome *outcome);
void print_clean(FILE *out, const struct outcome *outcomes, int count);
void print_remark(FILE *out, const struct remark *remark);
void print_json(FILE *out, const struct check_options *options, const struct outcome *outcomes,
                int count, enum exit_status status, const char *message);
void copy_report(FILE *out, FILE *report);
/* Writes what --counts and --phases say of the run so far to options->report. */
void print_report(const struct check_options *options, struct outcome *outcome,
                  const struct array_data *data);

/* --- child.c ---------------------------------------------------------------------------------- */

/* The processes in which make check runs a wrapper: a mistake may end the one it happens in. */

/* Seconds that a child may take. Kernels have limits of their own, of processor time: the wall
 * clock's is for host code that sleeps, and no busy machine is to reach it. */
struct child_limits {
    double host; /* its host code, of processor time */
    double wall; /* all of it */
};

/* Of a further run of a small shape: it takes some tenths. */
static const struct child_limits short_run = {2, 30};

/* Waits for the child and passes on what it prints into the pipe; kills it beyond its limits.
 * False: it was killed. `status` is waitpid's. */
bool child_wait(pid_t child, int printed, const struct shape *shape,
                const struct child_limits *limits, int *status);

/* Findings begin on a line of their own, whatever a child has printed. */
void child_end_line(void);

/* Forks a child of which nothing is heard, and waits for it. True: this is the child, which is to
 * end with child_end(). */
bool child_quiet(struct shape shape, const struct child_limits *limits);
void child_end(void) __attribute__((noreturn));

/* From here on in a child: what it does when the wrapper calls exit() or abort(). Null: nothing. */
void child_exits_by(void (*function)(void));

/* Runs a shape in such a child (check_run.c). False: it came to no end. */
bool child_run_shape(const struct check_options *options, struct shape shape,
                     const struct child_limits *limits, struct outcome *outcome);

/* --- programs.c ------------------------------------------------------------------------------- */

/* What the program says that knows which blocks write: see writers_program.c. */
struct plain_run {
    struct writers writers;
    bool correct; /* the result */
    bool done;    /* it came to its end: all of this says something */
};

/* Has the plain build run this shape once, in that share of the time which the run under watch has;
 * `correct` is whether its result was. Null, and false: it did not come to its end, or is not
 * there. */
#define PLAIN_SHARE 0.2
const struct writers *ask_writers(const struct check_options *options, struct shape shape,
                                  double share, bool *correct);

/* The plain program beside the watched one, which the grader asks, too, whether C is right: the
 * compiler makes something else of the same kernel.cu there. Runs o->plain on the shape of an
 * outcome that has no finding, with the same values. True, and a finding: that program says that
 * the kernel is wrong. False where it does not, or cannot be run. */
bool plain_is_wrong(const struct check_options *o, struct outcome *outcome);

/* Starts make check once more, from the same kernel.cu, but one that says which local variables
 * come into scope (locals/insert.c), and sets *cause if it proves one for the run that failed. It
 * is made when a mistake may come of such a variable. */
void locals_ask(const struct check_options *o, const struct outcome *failed, struct cause *cause);

/* In that program: reads the request in the value of its option; false: it is none. */
bool locals_read_request(const char *value, struct check_options *o);

#endif
