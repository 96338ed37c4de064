/* What became of a run of the wrapper, for what explains and shows it. Plain data, which lies in
 * memory that the run's process shares with its parent. */
#ifndef ENGINE_EXPLAIN_OUTCOME_H
#define ENGINE_EXPLAIN_OUTCOME_H
#include "../engine.h"
#include "../form/cause.h"
#include "../report/words/print.h"
#include "remarks/remark.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
