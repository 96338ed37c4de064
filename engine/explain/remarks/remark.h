/* What a correct kernel could do better: one remark below the clean report, or none.
 *
 * Each remark states figures that were counted, of one run on one shape; a kernel stays correct
 * whatever is remarked. Where a good kernel could object, nothing is said.
 *
 *   remark.c          a remark in words
 *   remark_counts.c   loads, sectors, banks, blocks: from counts.h
 *   remark_barrier.c  barriers: from trace.h */
#ifndef ENGINE_EXPLAIN_REMARK_H
#define ENGINE_EXPLAIN_REMARK_H
#include "../../lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of their weight. */
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

/* Likewise of barriers alone: one without which no two threads of a block would conflict. */
void remark_barriers(struct remark *remark);

/* --- words ------------------------------------------------------------------------------------ */

extern const struct sentence_table remark_sentences; /* remarks.def */

/* Begins a remark at a line. */
void remark_at(struct remark *remark, enum remark_kind kind, const char *file, int line);

/* "naive-loads" */
const char *remark_name(enum remark_kind kind);

void remark_say(const struct remark *remark, struct finding_words *words);

#ifdef __cplusplus
}
#endif
#endif
