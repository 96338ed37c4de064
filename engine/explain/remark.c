/* Remarks about loads, sectors, banks and blocks: see remark.h. */
#include "remark.h"
#include "../../lab/mistakes/cause.h"
#include "../report/text/numbers.h"
#include "../watch/launches.h"
#include "../watch/surplus.h"
#include <string.h>
#include <unistd.h>

void remark_at(struct remark *remark, enum remark_kind kind, const char *file, int line) {
    memset(remark, 0, sizeof *remark);
    remark->kind = kind;
    remark->line = line;
    snprintf(remark->file, sizeof remark->file, "%.*s", (int)sizeof remark->file - 1,
             place_relative(file));
}

/* --- what was counted ------------------------------------------------------------------------- */

struct counts_of_run {
    const struct counted_launch *launches;
    int count;
    struct shape shape;
};

/* A remark of counts: true, and *remark, if it holds. */
typedef bool counts_rule(const struct counts_of_run *run, struct remark *remark);

static void say_shape(struct remark *remark, struct shape s) {
    REMARK_SAY(DETAIL, ROW(COUNTED_WITH), W(lab_shape_text(&lab, &s).of));
}

static int columns_of(int matrix, struct shape s) {
    return matrix == MATRIX_OF_A ? shape_size(&s, PARAM_K) : shape_size(&s, PARAM_N);
}
static int rows_of(int matrix, struct shape s) {
    return matrix == MATRIX_OF_B ? shape_size(&s, PARAM_K) : shape_size(&s, PARAM_M);
}

static struct counted sum_of(const struct counts_of_run *run, int place, enum counted_way way) {
    struct counted sum = {0};
    for (int i = 0; i < run->count; i++) counted_add(&sum, &run->launches[i].of[place][way]);
    return sum;
}

/* Sectors of global memory, and requests of shared memory, by one launch. */
static uint64_t sectors_of(const struct counted_launch *l) {
    uint64_t sectors = 0;
    for (int place = 0; place < COUNTED_SHARED; place++)
        for (int way = 0; way < COUNTED_WAYS; way++) sectors += l->of[place][way].sectors;
    return sectors;
}

static uint64_t shared_requests_of(const struct counted_launch *l) {
    const struct counted *shared = l->of[COUNTED_SHARED];
    return shared[COUNTED_LOADS].requests + shared[COUNTED_STORES].requests;
}

static const double worth_it = 0.1; /* of what the launch moves: less is no loss that counts */

/* --- naive-loads ------------------------------------------------------------------------------ */

/* How often each element is loaded; 0: not all of them equally often. */
static int times_loaded(const struct counts_of_run *run, int matrix) {
    const uint64_t loads = sum_of(run, matrix, COUNTED_LOADS).elements,
                   elements = (uint64_t)rows_of(matrix, run->shape) *
                              (uint64_t)columns_of(matrix, run->shape);
    return loads % elements ? 0 : (int)(loads / elements);
}

/* A product needs an element of A for each column of C, one of B for each row. */
static int times_needed(int matrix, struct shape s) {
    return matrix == MATRIX_OF_A ? shape_size(&s, PARAM_N) : shape_size(&s, PARAM_M);
}

static bool is_naive(const struct counts_of_run *run, int matrix) {
    return times_loaded(run, matrix) >= times_needed(matrix, run->shape);
}

/* The instruction that loads most of a matrix; null: none is in the trace. */
static const void *main_load(const struct trace *t, int matrix) {
    enum { CODES = 32 };
    struct {
        const void *code;
        size_t words;
    } load[CODES + 1] = {{NULL, 0}};
    int count = 0, most = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        int at = 0;
        if (a->array != matrix || a->write) continue;
        while (at < count && load[at].code != a->code) at++;
        if (at == CODES) continue;
        if (at == count) load[count++].code = a->code;
        load[at].words += a->elements;
        if (load[at].words > load[most].words) most = at;
    }
    return load[most].code;
}

/* Line 0: it is not loaded, or not known where. */
static struct place place_of_load(int matrix) {
    const void *code = main_load(trace_shown(), matrix);
    return code ? place_before(code) : (struct place){.line = 0};
}

static bool naive_loads(const struct counts_of_run *run, struct remark *remark) {
    const bool a = is_naive(run, MATRIX_OF_A), b = is_naive(run, MATRIX_OF_B);
    const int matrix = a ? MATRIX_OF_A : MATRIX_OF_B, times = times_loaded(run, matrix), tile = 16;
    const bool both = a && b && times_loaded(run, MATRIX_OF_B) == times;
    if (!a && !b) return false;
    const struct place place = place_of_load(matrix), other = place_of_load(MATRIX_OF_B);
    if (!place.line) return false;
    remark_at(remark, REMARK_NAIVE_LOADS, place.file, place.line);
    REMARK_SAY(WHAT, ROW(LOADED_TIMES), W(both ? "A and of B" : a ? "A" : "B"), W(times));
    if (both && other.line != place.line) REMARK_SAY(DETAIL, ROW(OTHER_LINE), W(other.line));
    REMARK_SAY(DETAIL, ROW(AS_NAIVE), W(tile), W(tile), W(times_needed(matrix, run->shape) / tile));
    say_shape(remark, run->shape);
    return true;
}

/* --- uncoalesced ------------------------------------------------------------------------------ */

static double percent_used(const struct counted *c) {
    return 100.0 * (double)c->bytes / ((double)c->sectors * SECTOR);
}

/* Whether threads that are neighbours in x access elements that are neighbours in a column. */
static bool x_counts_rows(const struct recovered *a, int columns) {
    for (int i = 0; a->exact && i < a->formula.terms; i++) {
        const struct index_term *term = &a->formula.term[i];
        if (term->variable == INDEX_THREAD_X && !term->shift) return term->coefficient == columns;
    }
    return false;
}

static bool is_line(const struct recovered *a, const struct counted_line *line) {
    return a->array == line->place && a->write == (line->way == COUNTED_STORES) &&
           a->place.line == line->line && strcmp(a->place.file, line->file) == 0;
}

/* All accesses of the matrix in that line, of which there is one at least. */
static bool line_counts_rows(const struct counted_line *line, struct shape s) {
    struct recovery recovery;
    bool any = false, all = true;
    if (!recover(trace_shown(), NULL, &recovery)) return false;
    for (int i = 0; i < recovery.count; i++) {
        if (!is_line(&recovery.access[i], line)) continue;
        any = true;
        all = all && x_counts_rows(&recovery.access[i], columns_of(line->place, s));
    }
    recover_free(&recovery);
    return any && all;
}

static bool uncoalesced(const struct counts_of_run *run, struct remark *remark) {
    static const char *const names[] = {"A", "B", "C"}, *const columns[] = {"k", "n", "n"};
    const struct counted_launch *l = &run->launches[0];
    const double low = 50; /* percent: that of a float4 of each row, which may be meant so */
    for (int i = 0; i < l->line_count; i++) {
        const struct counted_line *line = &l->lines[i];
        const struct counted *c = &line->counted;
        if (line->place >= ENGINE_ARRAYS || line->way == COUNTED_ATOMICS ||
            percent_used(c) >= low || (double)c->sectors < worth_it * (double)sectors_of(l) ||
            !line_counts_rows(line, run->shape))
            continue;
        const bool store = line->way == COUNTED_STORES;
        remark_at(remark, REMARK_UNCOALESCED, line->file, line->line);
        char percent[32];
        snprintf(percent, sizeof percent, "%.3g", percent_used(c));
        REMARK_SAY(WHAT, ROW(PERCENT_USED), W(percent));
        REMARK_SAY(DETAIL, ROW(ROWS_APART), W(names[line->place]), W(store ? "store" : "load"),
                   W(columns[line->place]), W(SECTOR));
        say_shape(remark, run->shape);
        return true;
    }
    return false;
}

/* --- bank-conflicts --------------------------------------------------------------------------- */

static const unsigned many_words = 8; /* of one bank */

/* The requests of the line take that long on average, not just one of them. */
static bool is_conflict(const struct counted_launch *l, const struct counted_line *line) {
    const struct counted *c = &line->counted;
    return line->place == COUNTED_SHARED && line->way != COUNTED_ATOMICS &&
           c->worst >= many_words && c->conflicts >= c->requests * (many_words - 1) &&
           (double)c->conflicts >= worth_it * (double)shared_requests_of(l);
}

static bool bank_conflicts(const struct counts_of_run *run, struct remark *remark) {
    const struct counted_launch *l = &run->launches[0];
    for (int i = 0; i < l->line_count; i++) {
        const struct counted_line *line = &l->lines[i];
        if (!is_conflict(l, line)) continue;
        remark_at(remark, REMARK_BANK_CONFLICTS, line->file, line->line);
        REMARK_SAY(WHAT, ROW(ONE_BANK), W(line->counted.worst),
                   W(line->way == COUNTED_STORES ? "store to" : "read from"));
        REMARK_SAY(DETAIL, ROW(PASSES), W(line->counted.worst), W(BANKS));
        say_shape(remark, run->shape);
        return true;
    }
    return false;
}

/* --- surplus-blocks --------------------------------------------------------------------------- */

static bool surplus_blocks(const struct counts_of_run *run, struct remark *remark) {
    const struct counted_launch *l = &run->launches[0];
    struct finding finding = {.kind = FINDING_NONE};
    if (run->count != 1 || !l->idle_blocks || cause_may_loop_over_tiles() ||
        l->blocks_ended != l->blocks)
        return false;
    engine_add_launch(&finding, true);
    if (!finding.launch.line) return false;
    remark_at(remark, REMARK_SURPLUS_BLOCKS, finding.launch.file, finding.launch.line);
    REMARK_SAY(WHAT, ROW(SURPLUS), W(l->blocks), W(l->blocks - l->idle_blocks));
    remark->launch = finding.launch;
    say_shape(remark, run->shape);
    return true;
}

/* --- the run ---------------------------------------------------------------------------------- */

static counts_rule *const rules[] = {naive_loads, uncoalesced, bank_conflicts, surplus_blocks};

static const double limit = 1; /* seconds for a launch: a remark is worth no more */

static void stopped(const struct engine_result *result) {
    (void)result;
    _exit(EXIT_WRONG);
}

/* Which blocks write does not depend on the values that they read, as far as a remark goes. */
static struct shape shape_of_run;
static const struct writers *writers(void) {
    const struct check_options plain = {.run = {.timeout = limit}};
    return ask_writers(&plain, shape_of_run);
}

/* Loads of blocks that did not run are not counted. */
static bool all_ran(const struct counts_of_run *run) {
    for (int i = 0; i < run->count; i++)
        if (run->launches[i].passed_over) return false;
    return true;
}

void run_counts_remark(struct shape shape, struct outcome *outcome) {
    struct counts_of_run run = {.shape = shape_of_run = shape};
    outcome->done = evidence_run(shape, limit, true, writers, stopped);
    if (!outcome->done) return;
    outcome->blocks = surplus_seen();
    run.count = counts_launches(&run.launches);
    for (size_t i = 0; i < LENGTH(rules) && run.count && !outcome->remark.kind; i++)
        if (rules[i] == surplus_blocks || all_ran(&run)) rules[i](&run, &outcome->remark);
    engine_add_launch(&outcome->finding, true);
}

/* Whether another launch than the one that is looked at has barriers, which may be the same ones;
 * or may have, because nothing of it is kept. */
static bool others_wait(const struct trace *looked_at) {
    const struct trace *const *traces;
    const int count = trace_launches(&traces);
    for (int i = 0; i < count; i++)
        if (traces[i] != looked_at && traces[i]->barrier_count) return true;
    return launches_noted() > (uint64_t)count;
}

void run_barriers_remark(struct shape shape, struct outcome *outcome) {
    shape_of_run = shape;
    outcome->done = evidence_run(shape, limit, false, writers, stopped);
    if (outcome->done && !others_wait(trace_shown()))
        remark_barriers(trace_shown(), &outcome->remark);
}
