/* What a correct kernel could do better: the runs that remarks are made of. */
#include "../../watch/launches.h"
#include "check.h"
#include <string.h>
#include <unistd.h>

/* --- in a run's own process ------------------------------------------------------------------- */

static const double limit = 5; /* seconds for a launch: a remark is worth no more */

static void stopped(const struct engine_result *result) {
    (void)result;
    _exit(EXIT_WRONG);
}

/* Which blocks write does not depend on the values that they read, as far as a remark goes. */
static struct shape shape_of_run;
static const struct writers *writers(void) {
    const struct check_options plain = {.run = {.timeout = limit}};
    bool correct;
    return ask_writers(&plain, shape_of_run, &correct);
}

/* Of counts; sets outcome->finding.launch, too. */
static void run_counts(struct shape shape, struct outcome *outcome) {
    outcome->done = evidence_run(shape, limit, true, writers, stopped);
    if (!outcome->done) return;
    outcome->blocks = surplus_seen();
    remark_counts(shape, &outcome->remark);
    engine_add_launch(&outcome->finding, true);
}

static void run_barriers(struct shape shape, struct outcome *outcome) {
    outcome->done = evidence_run(shape, limit, false, writers, stopped);
    if (outcome->done) remark_barriers(&outcome->remark);
}

/* --- in their parent -------------------------------------------------------------------------- */

typedef void remark_run(struct shape shape, struct outcome *outcome);

static const struct remark no_remark = {.kind = REMARK_NONE};

/* `room` is shared with the child. */
static struct remark gather(remark_run *run, struct shape shape, struct outcome *room) {
    const struct child_limits limits = {limit, 30};
    memset(room, 0, sizeof *room);
    if (child_quiet(shape, &limits)) {
        shape_of_run = shape;
        run(shape, room);
        child_end();
    }
    return room->done ? room->remark : no_remark;
}

/* A barrier that is not needed at the edges, nor on a shape without any. */
static struct remark find_barrier(const struct outcome *counted, struct outcome *room) {
    struct shape edges, whole;
    if (!evidence_shape(counted, &edges)) return no_remark;
    const struct remark remark = gather(run_barriers, edges, room);
    if (!remark.kind || !truth_shape(SHAPE_WHOLE, 0, 0, &whole)) return remark;
    return gather(run_barriers, whole, room).line == remark.line ? remark : no_remark;
}

struct remark find_remark(struct outcome *room) {
    struct shape shape;
    if (!truth_shape(SHAPE_COUNT, 0, 0, &shape)) return no_remark;
    const struct remark first = gather(run_counts, shape, room);
    const struct outcome counted = *room;
    if (first.kind && first.kind < REMARK_UNNEEDED_BARRIER) return first;
    if (first.kind && counted.blocks.all) return first; /* so many blocks come before a barrier */
    const struct remark barrier = find_barrier(&counted, room);
    return barrier.kind ? barrier : first;
}
