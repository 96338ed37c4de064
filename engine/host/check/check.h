/* make check: runs the lab's wrapper on small shapes under watch, and names the first mistake.
 *
 *   check.c         the command line's run: one shape after the other, each in its own process
 *   check_options.c the command line
 *   check_run.cu    one shape: arrays, the wrapper, what was seen, what came out
 *   ask_writers.c   a run of the plain build, writers_program.c: which blocks write
 *   plain.c         what the plain program says of the same shape
 *   ../result.c     from a wrong C to a finding
 *   evidence.c      a run that shows what a kernel's indices are
 *   ../../../lab/mistakes/cause*.c  from a finding and such a run to the mistake behind it
 *   locals_program.c  the mistake may be one of local variables
 *   child.c         the processes that all this runs in
 *   check_print.c   findings as text and as JSON
 *   ../../explain/remark*.c  what a correct kernel could do better
 *   ../../show/counts.c  loads, stores, sectors, conflicts: --counts
 *   ../../show/phases.c  the phases of one block: --phases
 *   ../../show/page/   a page that plays one block's run back: --walk
 *
 * Always on the CPU, on a machine with a GPU too. */
#ifndef ENGINE_HOST_CHECK_H
#define ENGINE_HOST_CHECK_H
#include "../../../lab/mistakes/mistake.h"
#include "../../report/words/explained.h"
#include "../../show/sum.h"
#include "../../watch/locals/locals.h"
#include "../../watch/record/counts.h"
#include "../driver/options.h"
#include "../host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct json; /* ../report/json.h */

struct check_options {
    struct options run; /* sizes, seed, fill, timeout, json: as the plain program has them */
    bool sized;         /* sizes were given; else a handful of small shapes is tried */
    bool counts, phases, indices;
    const char *plain; /* the program that `make` builds; null: it is not asked */
    const char *walk;  /* the file for the walkthrough; null: none is asked for */
    int launch;        /* --launch: whose phases, indices, walkthrough; 0: not given */
    bool block_given;  /* --block */
    unsigned block[3]; /* whose phases (of z = 0), or whose walkthrough */
    bool fill_given;   /* --fill */
    FILE *report;      /* what --counts and --phases say: written by the shape's process; or null */
    FILE *walk_data;   /* for the walkthrough of this run: ../show/page/walk.h; or null */
    unsigned walk_block[3];
    uint64_t walk_launch; /* 0: the first one that loads A or B */
    struct shape *shapes; /* to check, in this order */
    int shape_count;
    int calls;       /* of the wrapper, for each shape */
    bool all_blocks; /* are watched, however many there are */
    /* In the program that knows the local variables: locals_program.h. */
    const char *locals_program; /* a file; null: it is within this program */
    int answer;                 /* descriptor for a struct cause_answer; 0: none is asked for */
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

/* --launch N is one of the first so many, as many as a run's records keep at least. */
enum { CHECK_LAUNCHES = 8 };

/* In the order of their weight. */
enum remark_kind {
    REMARK_NONE,
    REMARK_NAIVE_LOADS,
    REMARK_UNCOALESCED,
    REMARK_BANK_CONFLICTS,
    REMARK_UNNEEDED_BARRIER,
    REMARK_SURPLUS_BLOCKS,
    REMARKS
};

/* What a right kernel could do better: remark.h. Plain data. */
struct remark {
    enum remark_kind kind; /* REMARK_NONE: nothing */
    char file[512];
    int line;
    struct finding_launch launch; /* to be shown; or of no kernel */
    struct sentences said;
};

enum {
#define SENTENCE(name, text) SAY_##name,
#include "../../explain/remarks.def"
#undef SENTENCE
    REMARK_SENTENCES
};
extern const struct sentence_table remark_sentences; /* remarks.def */

/* What came of recording a walkthrough. */
enum {
    WALK_NO_STEP = -1,  /* the finding has none */
    WALK_NO_BLOCK = -2, /* nothing: the block did not run */
    WALK_NO_MEMORY = -3,
    WALK_NO_DISK = -4
};
struct walked {
    int step;                       /* that the finding is about, or one of these */
    unsigned block[3];              /* that is shown */
    unsigned wanted[3];             /* that should be: where the mistake is */
    uint64_t launch, wanted_launch; /* likewise, from 1; wanted 0: the first that loads A or B */
    unsigned grid[3];               /* of the launch that is shown, or was asked for */
};

/* What became of one shape. Lies in memory that the child process shares with its parent. */
struct outcome {
    bool done;       /* the child came to its end */
    bool in_wrapper; /* it is, or was when it died, inside the wrapper */
    struct shape shape;
    double seconds;
    struct engine_blocks blocks; /* where not all were watched */
    uint64_t launches;           /* that the wrapper has made */
    /* The first of them, where there is a finding and they are several; the rest is zero. */
    struct finding_launch launch[CHECK_LAUNCHES];
    uint64_t hash_of_c;               /* 0: none came back */
    struct finding finding;           /* kind FINDING_NONE: nothing wrong */
    struct explained explained;       /* where it has SLOT_EXPLAINED or SLOT_ELSEWHERE */
    struct cause cause;               /* of a finding */
    struct remark remark;             /* where there is no finding */
    int phases;                       /* phases seen, with --phases */
    struct walked walked;             /* with --walk */
    char machine_fault[MESSAGE_SIZE]; /* empty: none */
};

/* --- options.c -------------------------------------------------------------------------------- */

/* Reads the command line; prints and exits on --help and on errors. */
struct check_options check_options_read(int argc, char **argv);

/* --- check_run.cu ----------------------------------------------------------------------------- */

/* The submission's file, for findings that have no line. */
void check_file(char *file, size_t bytes);

/* Runs one shape in this process, which is spent afterwards. */
void run_shape(const struct check_options *options, struct shape shape, struct outcome *outcome);

/* --- evidence.c ------------------------------------------------------------------------------- */

/* How wide a part a block works on, as far as the kernel's shared arrays and the launch of this
 * run say. */
int evidence_tile(const struct outcome *run);

/* Runs one of these in this process, which is spent afterwards, and sets outcome->cause if the run
 * proves a mistake that `failed` comes from. If `indices` is not null, prints there what the
 * kernel's accesses compute, as text or JSON. */
void run_evidence(const struct check_options *options, struct shape shape,
                  const struct outcome *failed, FILE *indices, struct outcome *outcome);

/* Runs the wrapper once, on coded arrays of this shape with margins, so many seconds of processor
 * time for a launch at most, its loads and stores counted if `counts` says so, `writers` as in
 * engine.h; their trace (trace.h) is kept. Returns whether nothing wrong was seen; a mistake that
 * ends the run calls `stopped`, and the machine's fault ends the process. */
bool evidence_run(struct shape shape, double seconds, bool counts,
                  const struct writers *(*writers)(void),
                  void (*stopped)(const struct engine_result *result));

/* --- remark_words.c --------------------------------------------------------------------------- */

/* "naive-loads" */
const char *remark_name(enum remark_kind kind);

void remark_say(const struct remark *remark, struct finding_words *words);

/* --- remark.c --------------------------------------------------------------------------------- */

/* Each of these runs a right kernel on one shape in this process, which is spent afterwards, and
 * sets outcome->remark if there is one to make: from counts, or of barriers alone. The first one
 * sets outcome->finding.launch, too. */
void run_counts_remark(struct shape shape, struct outcome *outcome);
void run_barriers_remark(struct shape shape, struct outcome *outcome);

/* --- cause.c ---------------------------------------------------------------------------------- */

/* Whether a mistake that cause.c knows can have shown itself so. Missing barriers, returns,
 * pointers and the rest are what the finding says they are. */
bool cause_is_asked(enum finding_kind kind);

/* --- ask_writers.c ---------------------------------------------------------------------------- */

/* Has the plain build run this shape once. Null: it did not come to its end, or is not there. */
const struct writers *ask_writers(const struct check_options *options, struct shape shape);

/* --- result.c ----------------------------------------------------------------------------------
 */

/* What a verdict that is not passed says, as a finding without a place. False: it is passed. */
bool judge_verdict(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct finding *finding,
                   struct explained *explained);

/* --- check_print.c ---------------------------------------------------------------------------- */

void print_finding(FILE *out, const struct outcome *outcome);
void print_clean(FILE *out, const struct outcome *outcomes, int count);
/* Nothing where there is none. */
void print_remark(FILE *out, const struct remark *remark);
void print_json(FILE *out, const struct check_options *options, const struct outcome *outcomes,
                int count, enum exit_status status, const char *message);
/* The member "cause": null, where none is proved. */
void json_cause(struct json *json, const struct cause *cause);

/* Writes what --counts and --phases say of the run so far to options->report, if they were given.
 */
void print_report(const struct check_options *options, struct outcome *outcome,
                  const struct array_data *data);

/* --- show/counts.c --------------------------------------------------------------------------- */

/* Elements of global memory that all blocks together load; and what the naive kernel would: a row
 * of A and a column of B for each element of C. */
struct loads {
    uint64_t kernel, naive;
};
struct loads loads_of(const struct counted_launch *launches, int count, struct shape shape);

void print_counts(FILE *out, const struct counted_launch *launches, int count, struct shape shape);
/* In one line: loads from global memory, and those of the naive kernel. */
void print_counts_line(FILE *out, const struct counted_launch *launches, int count,
                       struct shape shape);
void json_counts(struct json *json, const struct counted_launch *launches, int count,
                 struct shape shape);

/* --- show/phases.c --------------------------------------------------------------------------- */

/* `phases` is null where the block loads nothing of the inputs. */
void print_phases(FILE *out, const struct phases *phases, const struct array_data *data,
                  const struct array_sum *sum, struct shape shape);
void json_phases(struct json *json, const struct phases *phases, const struct array_data *data,
                 const struct array_sum *sum, struct shape shape);

#ifdef __cplusplus
}
#endif
#endif
