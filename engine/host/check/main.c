/* make check: each shape in a separate process, because a mistake may end the process it
 * happens in; the parent reports what became of it. */
#define _GNU_SOURCE
#include "../../explain/outcome.h"
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../show/page/walk.h"
#include "../../watch/machine.h"
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const double grace = 5; /* seconds: the checker, which can say where, speaks first */

static _Noreturn void machine(const struct check_options *o, const char *message) {
    check_stop(o, EXIT_MACHINE, message);
}

static FILE *temporary_file(const struct check_options *o) {
    FILE *file = tmpfile();
    if (!file) machine(o, "no temporary file can be made");
    return file;
}

/* The child did not come to its end, and did not say why. */
static void explain_death(struct outcome *outcome, bool killed, int status) {
    struct finding *f = &outcome->finding;
    if (!outcome->in_wrapper) {
        snprintf(outcome->machine_fault, sizeof outcome->machine_fault,
                 "the checking process died (%s)",
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
        return;
    }
    check_file(f->at.file, sizeof f->at.file);
    f->kind = killed ? FINDING_ENDLESS : FINDING_HOST_FAULT;
    if (killed)
        slot_set(f->slot, SLOT_RETURNS_NOT, 1);
    else if (WIFSIGNALED(status))
        slot_set(f->slot, SLOT_SIGNAL, WTERMSIG(status));
    snprintf(f->named, sizeof f->named, "%s", lab.wrapper);
}

static void run_in_child(const struct check_options *o, struct shape shape,
                         struct outcome *outcome) {
    const double limit = o->calls * (o->run.timeout + grace);
    const struct child_limits limits = {limit, 10 * CHECK_LAUNCH_BLOCKS * limit};
    int status = 0, printed[2];
    memset(outcome, 0, sizeof *outcome);
    outcome->shape = shape;
    fflush(NULL);
    if (pipe2(printed, O_CLOEXEC) != 0) machine(o, "no pipe can be made");
    pid_t child = fork();
    if (child < 0) machine(o, "no further process can be started (fork)");
    if (child == 0) {
        close(printed[0]);
        /* What a kernel prints: through the parent, at once; or not among the JSON. */
        dup2(o->run.json ? STDERR_FILENO : printed[1], STDOUT_FILENO);
        setvbuf(stdout, NULL, _IOLBF, 0);
        run_shape(o, shape, outcome);
        fflush(NULL);
        _exit(EXIT_PASSED);
    }
    close(printed[1]);
    bool ended = child_wait(child, printed[0], &shape, &limits, &status);
    close(printed[0]);
    if (!outcome->done) explain_death(outcome, !ended, status);
}

/* Whether blocks that did not run could have part in what was found: as far as they write nothing
 * to device memory in the plain build, not in what threads of one block did. */
static bool may_be_of_blocks_left_out(const struct finding *f) {
    switch (f->kind) {
    case FINDING_NONE: return false;
    case FINDING_ENDLESS:
    case FINDING_TIME_LIMIT:
    case FINDING_UNINITIALIZED_GLOBAL: return true;
    default: return !f->at.in_kernel;
    }
}

/* Where not all blocks were watched, and that may be why something was found: again, with all. What
 * ends in the plain build is no endless loop. */
static void check_shape(const struct check_options *given, struct shape shape,
                        struct outcome *outcome) {
    struct check_options o = *given;
    run_in_child(&o, shape, outcome);
    bool plain_is_correct = outcome->plain_is_correct;
    if (outcome->blocks.all && may_be_of_blocks_left_out(&outcome->finding)) {
        o.all_blocks = true;
        run_in_child(&o, shape, outcome);
    }
    if (!finding_never_ends(outcome->finding.kind)) return;
    const double half = 0.5; /* checks take far more than twice as long */
    if (!plain_is_correct) ask_writers(&o, shape, half, &plain_is_correct);
    if (!plain_is_correct) return;
    outcome->finding.kind = FINDING_TIME_LIMIT;
    slot_set(outcome->finding.slot, SLOT_PLAIN_ENDS, true);
}

/* --- the mistake behind a finding ------------------------------------------------------------- */

/* One run of evidence, of which nothing is heard if it fails. */
static void gather_evidence(const struct check_options *o, struct shape shape,
                            const struct outcome *failed, FILE *indices, struct outcome *outcome) {
    memset(outcome, 0, sizeof *outcome);
    outcome->shape = shape;
    if (child_quiet(shape, &short_run)) {
        run_evidence(o, shape, failed, indices, outcome);
        child_end();
    }
    if (!outcome->done) outcome->cause.kind = CAUSE_NONE;
}

static const double soon = 1; /* seconds: a block of these shapes takes milliseconds */

/* Whether the kernel is seen to be wrong on the shape of the evidence, which else shows no mistake.
 * A run that was stopped for the time it took shows neither. */
static bool is_wrong_on(const struct check_options *o, struct shape shape, struct outcome *room) {
    struct check_options quiet = *o;
    quiet.counts = quiet.phases = quiet.indices = false;
    quiet.report = NULL;
    if (quiet.run.timeout > soon) quiet.run.timeout = soon;
    memset(room, 0, sizeof *room);
    return child_run_shape(&quiet, shape, &short_run, room) && room->finding.kind != FINDING_NONE &&
           !finding_never_ends(room->finding.kind);
}

/* The kernel was correct on a square shape with edges: then it has guards, and mixes up sizes. */
static void suspect_sizes(const struct outcome *square, struct outcome *failed) {
    struct finding *f = &failed->finding;
    const struct shape *s = &square->shape;
    if (square == failed || f->kind != FINDING_OUT_OF_BOUNDS) return;
    for (int i = 1; i < lab_params(&lab); i++)
        if (s->of[i] != s->of[0]) return;
    for (int i = 0; i < 2; i++) /* blocks fit: then it says nothing about guards */
        if (!f->launch.block[i] || s->of[0] % f->launch.block[i] == 0) return;
    char *hint = failed->explained.hint;
    const size_t size = sizeof failed->explained.hint;
    hint[0] = '\0';
    for (int i = 0; i < lab_params(&lab); i++) append(hint, size, "%s=", lab.params[i].name);
    append(hint, size, "%lld is correct, so there are guards: which of ", (long long)s->of[0]);
    for (int i = 0; i < lab_params(&lab); i++)
        append(hint, size, "%s%s", list_separator(i, lab_params(&lab)), lab.params[i].name);
    append(hint, size, " does this line use, and which does its condition?");
}

/* On shapes for parts of this width. */
static void ask_rules(const struct check_options *o, int width, struct outcome *failed,
                      struct outcome *room) {
    struct shape shape;
    for (int i = 0; !failed->cause.kind && truth_shape(SHAPE_TELL, i, width, &shape); i++) {
        gather_evidence(o, shape, failed, NULL, room);
        const struct cause cause = room->cause;
        /* What the launch of the failed run proves, another shape cannot disprove. */
        if (cause.kind && (cause.shows_launch || is_wrong_on(o, shape, room)))
            failed->cause = cause;
    }
}

/* Sets the failed outcome's cause, if another mistake can have shown itself so. Missing barriers,
 * returns, pointers and the rest are what the finding says they are. `room` is shared with the
 * children, for one outcome. */
static void find_cause(const struct check_options *o, struct outcome *failed,
                       struct outcome *room) {
    const enum finding_cause asked = finding_text(failed->finding.kind)->cause;
    if (asked == FINDING_CAUSE_MAYBE) cause_of_body(&failed->finding, &failed->cause);
    if (failed->cause.kind) return;
    if (asked != FINDING_CAUSE_NEVER) locals_ask(o, failed, &failed->cause);
    if (asked != FINDING_CAUSE_MAYBE ||
        (!lab_rules.find && lab_formula(&lab, failed->explained.formula) < 0))
        return;
    const int width = evidence_tile(failed);
    ask_rules(o, width, failed, room);
    /* A block that is narrow where elements are left out may be wider for another shape. */
    if (failed->finding.kind == FINDING_UNWRITTEN && width < EVIDENCE_TILE)
        ask_rules(o, EVIDENCE_TILE, failed, room);
}

/* For what --counts, --phases and --indices say. */
static void open_report(struct check_options *o) {
    if (!o->counts && !o->phases && !o->indices) return;
    if (o->report) fclose(o->report);
    text_fit(stdout);
    o->report = temporary_file(o);
}

/* --- the walkthrough -------------------------------------------------------------------------- */

static const double most_counted = 1 << 22; /* operations: counting makes a run 5 times as long */
static const double endless_seconds = 1;    /* a block's accesses fill a page long before that */

static const char no_disk[] = "a temporary file cannot be written: is the disk full?";

/* Runs the shape once more, with the block under trace; room->walked says what came of it. */
static void record_walk(const struct check_options *o, const struct outcome *shown,
                        struct shape shape, struct outcome *room) {
    const struct child_limits limits = {o->run.timeout + grace,
                                        CHECK_LAUNCH_BLOCKS * o->run.timeout + grace};
    memset(room, 0, sizeof *room);
    room->cause = shown->cause;
    room->walked.result = WALK_NO_BLOCK;
    rewind(o->walk_data);
    if (ftruncate(fileno(o->walk_data), 0) != 0) machine(o, no_disk);
    child_run_shape(o, shape, &limits, room);
    if (room->machine_fault[0]) machine(o, room->machine_fault);
    if (room->walked.result == WALK_NO_MEMORY) machine(o, "out of memory");
    if (room->walked.result == WALK_NO_DISK) machine(o, no_disk);
}

/* Runs the shape with these values. False: it did not go as `shown` did. Counting keeps the threads
 * of a warp together: a page without room for all accesses has those that each of them began with.
 */
static bool try_walk(const struct check_options *given, const struct outcome *shown,
                     struct shape shape, int fill, struct outcome *room) {
    struct check_options o = *given;
    o.counts = truth_operations(&shape) <= most_counted;
    o.run.which.fill = fill;
    record_walk(&o, shown, shape, room);
    const struct walked *walked = &room->walked;
    const bool other_block = memcmp(walked->wanted, o.block.of, sizeof o.block.of) != 0;
    if (!o.block.given && (other_block || walked->wanted_launch != o.launch)) {
        memcpy(o.block.of, walked->wanted, sizeof o.block.of);
        o.launch = walked->wanted_launch;
        record_walk(&o, shown, shape, room);
    }
    if (finding_never_ends(shown->finding.kind))
        return finding_never_ends(room->finding.kind); /* stopped at another line each time */
    return room->finding.kind == shown->finding.kind &&
           room->finding.at.line == shown->finding.at.line;
}

/* On a product that one can look over, with values that can be followed by eye; where those do not
 * show the mistake, as it was found. */
static void gather_walk(const struct check_options *o, const struct outcome *shown,
                        struct outcome *room) {
    const int fill = o->run.fill_given ? o->run.which.fill : lab.counting_fill;
    const struct finding *f = &shown->finding;
    *room = (struct outcome){.done = true, .walked = {.result = WALK_NO_BLOCK}};
    if (f->kind != FINDING_NONE && !f->launch.grid[0]) return; /* the wrapper came to no launch */
    struct shape small;
    if (!o->run.sized && truth_shape(SHAPE_PAGE, 0, evidence_tile(shown), &small) &&
        try_walk(o, shown, small, fill, room))
        return;
    if (try_walk(o, shown, shown->shape, fill, room)) return;
    try_walk(o, shown, shown->shape, o->run.which.fill, room);
}

static void save_page(const struct check_options *o, FILE *indices) {
    char message[MESSAGE_SIZE];
    FILE *page = fopen(o->walk, "wb");
    bool saved = page && walk_page(page, o->walk_data, indices);
    struct stat status;
    const bool is_file = page && fstat(fileno(page), &status) == 0 && S_ISREG(status.st_mode);
    if (page) saved = fclose(page) == 0 && saved;
    if (saved) return;
    const int error = errno;
    if (is_file) unlink(o->walk); /* a part of a page is none */
    snprintf(message, sizeof message, "%.150s cannot be written: %s", o->walk, strerror(error));
    if (error == ENOSPC || error == EIO || error == EDQUOT) machine(o, message);
    fprintf(stderr, "%s-check: %s\n", lab.name, message);
    exit(EXIT_USAGE);
}

/* Which run the page shows: it may be another one than that of the finding above, in `shown`. */
static void print_shown(const struct outcome *shown, const struct outcome *walked) {
    const unsigned *block = walked->walked.block;
    const struct shape *s = &walked->shape;
    const bool other =
        shown->finding.kind != FINDING_NONE && memcmp(s, &shown->shape, sizeof *s) != 0;
    printf("\n    it shows block (%u,%u", block[0], block[1]);
    if (walked->walked.grid[2] > 1) printf(",%u", block[2]);
    fputs(") of ", stdout);
    if (walked->launches > 1)
        printf("launch %" PRIu64 " of %" PRIu64 " of ", walked->walked.launch, walked->launches);
    printf("%s with %s\n", other ? "another run," : "a run", lab_shape_text(&lab, s).of);
}

/* Whether the run has made the launch that was asked for, as far as is known; else says so. */
static bool has_launch(const struct check_options *o, const struct outcome *run) {
    if (run->launches >= o->launch || !run->launches) return true;
    fprintf(stderr, "%s-check: there is no launch %" PRIu64 ": %s makes %" PRIu64 " with %s%s\n",
            lab.name, o->launch, lab.wrapper, run->launches, lab_shape_text(&lab, &run->shape).of,
            run->finding.kind ? ", until the mistake" : "");
    return false;
}

/* False: there is no such block. */
static bool print_walk(const struct check_options *o, const struct outcome *shown,
                       const struct outcome *walked) {
    const unsigned *grid = walked->walked.grid;
    const bool none = walked->walked.result == WALK_NO_BLOCK;
    if (!has_launch(o, walked)) return false;
    if (none && grid[0] && o->block.given) {
        fprintf(stderr, "%s-check: there is no block (%u,%u,%u): the grid has %u x %u x %u\n",
                lab.name, o->block.of[0], o->block.of[1], o->block.of[2], grid[0], grid[1],
                grid[2]);
        return false;
    }
    if (!o->run.json && none) {
        puts(walked->done ? "no walkthrough: no launch was seen that loads an input"
                          : "no walkthrough: the run that was recorded did not come to its end");
    } else if (!o->run.json) {
        printf("open in a browser: %s", o->walk);
        print_shown(shown, walked);
    }
    return true;
}

/* Of the run that `shown` is about. False: there is no block that was asked for. */
static bool write_walk(const struct check_options *given, const struct outcome *shown,
                       struct outcome *room) {
    struct check_options o = *given;
    FILE *indices = temporary_file(given);
    o.phases = o.indices = false;
    o.report = NULL;
    o.calls = 1;
    if (finding_never_ends(shown->finding.kind) && o.run.timeout > endless_seconds)
        o.run.timeout = endless_seconds;
    o.walk_data = temporary_file(given);
    const struct finding_party *at = &shown->finding.at;
    if (!o.launch_given)
        o.launch = at->in_kernel ? shown->finding.launch.number : shown->cause.launch;
    if (!o.block.given && at->in_kernel && o.launch == shown->finding.launch.number)
        memcpy(o.block.of, (unsigned[]){at->block.x, at->block.y, at->block.z}, sizeof o.block.of);
    struct check_options as_json = o;
    as_json.run.json = true;
    struct shape shape;
    room->done = false;
    if (evidence_shape(shown, &shape)) gather_evidence(&as_json, shape, NULL, indices, room);
    if (!room->done && ftruncate(fileno(indices), 0) != 0) machine(&o, no_disk);
    gather_walk(&o, shown, room);
    if (room->walked.result != WALK_NO_BLOCK) save_page(&o, indices);
    fclose(indices);
    fclose(o.walk_data);
    return print_walk(given, shown, room);
}

/* What to try now; null: nothing but to mend the mistake, or to load less, as the remark says.
 * Behind a report it would not be looked for; and another lab may have no cases. */
static const char *next_command(const struct check_options *o, const struct outcome *last) {
    const struct finding *f = &last->finding;
    if (f->kind == FINDING_NONE) {
        const bool none = last->remark.kind == REMARK_NAIVE_LOADS || o->report;
        return none || source_is_of_another_lab() ? NULL : "make grade";
    }
    const bool has_run =
        f->at.in_kernel || f->kind == FINDING_UNWRITTEN || f->kind == FINDING_WRONG_RESULT;
    if (last->call > 1) return NULL; /* it shows a first one */
    return has_run && !o->walk ? "make walk" : NULL;
}

/* Of the run that went wrong. */
static void give_answer(const struct check_options *o, const struct outcome *failed) {
    const struct cause_answer answer = {failed->finding.kind, failed->cause};
    if (o->answer && pwrite(o->answer, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
        machine(o, "the answer cannot be written");
}

/* --- all shapes ------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    struct check_options o = check_options_read(argc, argv);
    if (o.locals_answer) locals_answer(&o);
    size_t bytes = (size_t)(o.shape_count + 1) * sizeof(struct outcome);
    struct outcome *outcomes =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    enum exit_status status = EXIT_PASSED;
    char program[MESSAGE_SIZE];
    struct shape telling;
    int count = 0;
    snprintf(program, sizeof program, "./%s-check", lab.name);
    if (outcomes == MAP_FAILED) machine(&o, "out of memory");
    struct outcome *room = &outcomes[o.shape_count]; /* for further runs */
    while (count < o.shape_count && status == EXIT_PASSED &&
           !(o.phases && count && outcomes[count - 1].phases > 1)) { /* enough to be shown */
        struct outcome *outcome = &outcomes[count++];
        open_report(&o);
        check_shape(&o, o.shapes[count - 1], outcome);
        if (outcome->machine_fault[0]) machine(&o, outcome->machine_fault);
        if (outcome->finding.kind == FINDING_NONE && !plain_is_wrong(&o, outcome)) continue;
        status = EXIT_WRONG;
        if (outcome->call < 2) { /* other runs make one call, which was correct */
            find_cause(&o, outcome, room);
            if (!outcome->cause.kind) suspect_sizes(&outcomes[0], outcome);
        }
        give_answer(&o, outcome);
    }
    if (status == EXIT_PASSED && !o.run.sized && !o.report)
        outcomes[count - 1].remark = find_remark(room);
    struct outcome *last = &outcomes[count - 1];
    if (o.indices && evidence_shape(last, &telling))
        gather_evidence(&o, telling, NULL, o.report, room);
    child_end_line();
    if (o.run.json)
        print_json(stdout, &o, outcomes, count, status, NULL);
    else if (status == EXIT_WRONG)
        print_finding(stdout, last);
    else if (o.report)
        print_clean(stdout, last, 1);
    else
        print_clean(stdout, outcomes, count);
    if (!o.run.json) print_remark(stdout, &last->remark);
    if (!has_launch(&o, last) || (o.indices && !has_launch(&o, room)))
        status = EXIT_USAGE;
    else if (o.report && !o.run.json)
        copy_report(stdout, o.report);
    if (o.walk && status != EXIT_USAGE && !write_walk(&o, last, room)) status = EXIT_USAGE;
    if (!o.run.json && status != EXIT_USAGE)
        source_print_next(source_state(), program, "make check", next_command(&o, last), stdout);
    return status;
}
