/* What became of a run of the wrapper, for what explains and shows it; the remark on a kernel that
 * is correct; and the rules by which a lab explains what went wrong. Plain data, which lies in
 * memory that the run's process shares with its parent. */
#ifndef ENGINE_EXPLAIN_OUTCOME_H
#define ENGINE_EXPLAIN_OUTCOME_H
#include "../engine.h"
#include "../form/cause.h"
#include "../lab.h"
#include "../report/words/print.h"
#include "index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a correct kernel could do better: one remark below the clean report, or none.
 *
 * Each remark states figures that were counted, of one run on one shape; a kernel stays correct
 * whatever is remarked. Where a good kernel could object, nothing is said.
 *
 *   remark_counts.c   loads, sectors, banks, blocks: counted (record.h); and a remark in words
 *   remark_barrier.c  barriers: from a trace (record.h)
 *
 * In the order of their weight. */
enum remark_kind {
    REMARK_NONE,
    REMARK_NAIVE_LOADS,
    REMARK_UNCOALESCED,
    REMARK_BANK_CONFLICTS,
    REMARK_IDLE_PHASES,
    REMARK_UNNEEDED_BARRIER,
    REMARK_SURPLUS_BLOCKS,
    REMARKS
};

/* Plain data. */
struct remark {
    enum remark_kind kind; /* REMARK_NONE: nothing */
    char file[FINDING_FILE];
    int line;
    struct finding_launch launch; /* to be shown; or of no kernel */
    struct sentences said;
};

/* Sets *remark, if there is one to make of what this process's run of the shape has counted
 * (counts_launches()) and kept (trace_shown()). */
void remark_counts(struct shape shape, struct remark *remark);

/* Likewise of barriers alone: one without which no two threads of a block would conflict; and the
 * code behind it, null where there is none. */
void remark_barriers(struct remark *remark);
const void *remark_unneeded_barrier(void);

/* --- words ------------------------------------------------------------------------------------ */

/* "naive-loads" */
const char *remark_name(enum remark_kind kind);

void remark_say(const struct remark *remark, struct finding_words *words);

/* --- the run ---------------------------------------------------------------------------------- */

/* Launches that are kept, and that --launch N can choose. */
enum { OUTCOME_LAUNCHES = 8 };

/* What came of recording a walkthrough: show/page/walk.h. */
enum walk_result {
    WALK_RECORDED,
    WALK_NO_BLOCK, /* nothing: the block did not run */
    WALK_NO_MEMORY,
    WALK_NO_DISK
};
struct walked {
    enum walk_result result;
    unsigned block[3];              /* that is shown */
    unsigned wanted[3];             /* that should be: where the mistake is */
    uint64_t launch, wanted_launch; /* likewise, from 1; wanted 0: the first that loads an input */
    unsigned grid[3];               /* of the launch that is shown, or was asked for */
};

struct outcome {
    bool done;       /* the child came to its end */
    bool in_wrapper; /* it is, or was when it died, inside the wrapper */
    struct shape shape;
    int call; /* of the wrapper, from 1, with the finding; 0: none of those that were watched */
    double seconds;
    struct engine_blocks blocks; /* where not all were watched */
    uint64_t launches;           /* that the wrapper has made */
    /* The first of them, where there is a finding and they are several; the rest is zero. */
    struct finding_launch launch[OUTCOME_LAUNCHES];
    uint64_t hash_of_c;               /* of what came back; 0: nothing did */
    bool plain_is_correct;            /* a run of the plain build has shown it */
    struct finding finding;           /* kind FINDING_NONE: nothing wrong */
    struct explained explained;       /* where it has SLOT_EXPLAINED or SLOT_ELSEWHERE */
    struct cause cause;               /* of a finding */
    struct remark remark;             /* where there is no finding */
    int phases;                       /* phases seen, with --phases */
    struct walked walked;             /* with --walk */
    char machine_fault[MESSAGE_SIZE]; /* empty: none */
};

/* --- a lab's rules: of its form, for make check alone ----------------------------------------- */

/* What proves the mistakes of lab_lessons. */
struct lab_rules {
    /* Sets *cause if the launches that this run of the shape has kept (trace_launches()) prove a
     * mistake that `failed` comes from; else its kind is CAUSE_NONE. False: out of memory. Null:
     * the lab has no rules.
     *
     * `ended`: the wrapper has returned, and each launch has come to its end. Of a run that was
     * stopped, what is not there may be missing for that reason alone; of a launch that ended
     * before (struct trace) only other launches may be missing. */
    bool (*find)(value_decoder *decode, struct shape shape, bool ended,
                 const struct outcome *failed, struct cause *cause);
};

extern const struct lab_rules lab_rules;

#ifdef __cplusplus
}
#endif
#endif
