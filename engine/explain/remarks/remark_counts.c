/* Remarks in words; and those about loads, sectors, banks and blocks: see outcome.h. */
#include "../../report/text/numbers.h"
#include "../../report/text/source.h"
#include "../../report/words/vocabulary.h"
#include "../../watch/launches.h"
#include "../../watch/record/record.h"
#include "../index/index.h"
#include "../outcome.h"
#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

enum {
    SAY_COUNTED_WITH,
    SAY_LOADED_TIMES,
    SAY_OTHER_LINE,
    SAY_AS_NAIVE,
    SAY_UNCOALESCED,
    SAY_ONE_BANK,
    SAY_IDLE,
    SAY_SURPLUS,
    SAY_BARRIER_NOT_NEEDED
};

/* What, detail and hint, with what is put into them: see sentences.h. */
static const struct sentence_row rows[] = {
    [SAY_COUNTED_WITH] = {{"", "\ncounted with %t; ./%s-check --counts shows more", ""}},
    [SAY_LOADED_TIMES] = {{"every element of %t is loaded %n times", "", ""}},
    [SAY_OTHER_LINE] = {{"", "%t in line %d, ", ""}},
    [SAY_AS_NAIVE] =
        {{"",
          "from global memory, %t in the naive kernel; if blocks of %d x %d threads loaded it once "
          "into shared memory, it would be %n times",
          ""}},
    [SAY_UNCOALESCED] =
        {{"only %t % of the bytes that this line moves are used",
          "threadIdx.x counts rows of %t here, so neighboring threads %s elements %t apart; "
          "global memory moves %d bytes at a time",
          ""}},
    [SAY_ONE_BANK] =
        {{"%d threads of a warp %t one bank of shared memory",
          "each a different word of it, so the request takes %d passes instead of one; words "
          "whose numbers are the same modulo %d are in one bank",
          ""}},
    [SAY_IDLE] =
        {{"%n of the %n %ts that were examined load no element of an input",
          "this line stores what was not loaded there; where does the loop over phases end?", ""}},
    [SAY_SURPLUS] = {{"the grid has %n blocks; %n store elements of %s", "", ""}},
    [SAY_BARRIER_NOT_NEEDED] =
        {{"this __syncthreads() is not needed",
          "even without it, no element of shared memory would be stored by one thread and accessed "
          "by another between the same two barriers",
          ""}},
};
static const struct sentence_table remark_sentences = {rows, LENGTH(rows)};

/* Says one of them in *remark: REMARK_SAY(LOADED_TIMES, W("A"), W(64)). */
#define REMARK_SAY(...) SENTENCES_ADD(&remark->said, &remark_sentences, __VA_ARGS__)

static void remark_at(struct remark *remark, enum remark_kind kind, const char *file, int line) {
    memset(remark, 0, sizeof *remark);
    remark->kind = kind;
    remark->line = line;
    snprintf(remark->file, sizeof remark->file, "%.*s", (int)sizeof remark->file - 1, file);
}

const char *remark_name(enum remark_kind kind) {
    static const char *const names[REMARKS] = {
        NULL,          "naive-loads",      "uncoalesced",   "bank-conflicts",
        "idle-phases", "unneeded-barrier", "surplus-blocks"};
    return names[kind];
}

void remark_say(const struct remark *r, struct finding_words *w) {
    memset(w, 0, sizeof *w);
    finding_launch_say(&r->launch, w->detail, sizeof w->detail);
    sentences_say(&r->said, &remark_sentences, w);
}

/* --- what was counted ------------------------------------------------------------------------- */

struct counts_of_run {
    const struct counted_launch *launches;
    int count;
    struct shape shape;
};

/* A remark of counts: true, and *remark, if it holds. */
typedef bool counts_rule(const struct counts_of_run *run, struct remark *remark);

/* "k", "k + 1", "4" */
static void name_row(int array, char *name, size_t bytes) {
    const struct lab_extent *row = &lab.arrays[array].extent[lab.arrays[array].dimensions - 1];
    if (row->param >= 0) append(name, bytes, "%s", lab.params[row->param].name);
    if (row->plus || row->param < 0)
        append(name, bytes, "%s%d", row->param >= 0 ? " + " : "", row->plus);
}

/* Sectors of global memory, by one launch. */
static uint64_t sectors_of(const struct counted_launch *l) {
    uint64_t sectors = 0;
    for (int place = 0; place < COUNTED_SHARED; place++)
        for (int way = 0; way < COUNTED_WAYS; way++) sectors += l->of[place][way].sectors;
    return sectors;
}

static const double worth_it = 0.1; /* of what the launch moves: less is no loss that counts */

/* --- naive-loads ------------------------------------------------------------------------------ */

/* How often each element is loaded; 0: not all of them equally often. */
static int times_loaded(const struct counts_of_run *run, int array) {
    const uint64_t elements = (uint64_t)lab_elements(&lab.arrays[array], &run->shape);
    uint64_t loads = 0;
    for (int i = 0; i < run->count; i++)
        loads += run->launches[i].of[array][COUNTED_LOADS].elements;
    return loads % elements ? 0 : (int)(loads / elements);
}

/* How many elements of the output a factor of the sum is needed for: as many as the axes have that
 * it is not indexed by. */
static int times_needed(const struct counts_of_run *run, int factor) {
    const struct lab_array *output = &lab.arrays[lab.sum.output];
    int64_t extent[ENGINE_DIMENSIONS], times = 1;
    lab_extents(output, &run->shape, extent);
    for (int axis = 0; axis < output->dimensions; axis++) {
        bool indexed = false;
        for (int i = 0; i < lab.arrays[lab.sum.factor[factor].array].dimensions; i++)
            indexed = indexed || lab.sum.factor[factor].index[i] == axis;
        if (!indexed) times *= extent[axis];
    }
    return (int)times;
}

static bool is_naive(const struct counts_of_run *run, int factor) {
    return times_loaded(run, lab.sum.factor[factor].array) >= times_needed(run, factor);
}

/* Of the line that loads most of it. Line 0: it is not loaded, or not known where. */
static struct place place_of_load(int array) {
    struct place place = {.line = 0};
    struct recovery recovery;
    size_t most = 0;
    if (!recover(trace_shown(), NULL, &recovery)) return place;
    for (int i = 0; i < recovery.count; i++) {
        const struct recovered *a = &recovery.access[i];
        const size_t words = a->count * (size_t)a->elements;
        if (a->array != array || a->write || words <= most) continue;
        most = words;
        place = a->place;
    }
    recover_free(&recovery);
    return place;
}

static bool is_as_naive(const struct counts_of_run *run, int factor, int times) {
    return is_naive(run, factor) && times_loaded(run, lab.sum.factor[factor].array) == times;
}

static bool naive_loads(const struct counts_of_run *run, struct remark *remark) {
    const int block = 16; /* rows and columns of threads that could share what they load */
    char names[80] = "";
    int first = 0;
    while (first < lab.sum.factors && !is_naive(run, first)) first++;
    if (first == lab.sum.factors) return false;
    const int times = times_loaded(run, lab.sum.factor[first].array);
    const struct place place = place_of_load(lab.sum.factor[first].array);
    if (!place.line) return false;
    for (int i = first; i < lab.sum.factors; i++)
        if (is_as_naive(run, i, times))
            APPEND(names, "%s%s", i > first ? " and of " : "",
                   lab.arrays[lab.sum.factor[i].array].name);
    remark_at(remark, REMARK_NAIVE_LOADS, place.file, place.line);
    REMARK_SAY(LOADED_TIMES, W(names), W(times));
    for (int i = first + 1; i < lab.sum.factors; i++) {
        const int array = lab.sum.factor[i].array, line = place_of_load(array).line;
        if (is_as_naive(run, i, times) && line != place.line)
            REMARK_SAY(OTHER_LINE, W(lab.arrays[array].name), W(line));
    }
    const int needed = times_needed(run, first);
    REMARK_SAY(AS_NAIVE, W(times > needed ? "more often than" : "as"), W(block), W(block),
               W(needed / block));
    return true;
}

/* --- uncoalesced ------------------------------------------------------------------------------ */

static double percent_used(const struct counted *c) {
    return 100.0 * (double)c->bytes / ((double)c->sectors * SECTOR);
}

/* Whether threads that are neighbors in x access elements that are neighbors in a column: in all
 * accesses of the array in that line, of which there is one at least. */
static bool x_counts_rows(const struct counts_of_run *run, const struct counted_line *line) {
    const struct lab_array *array = &lab.arrays[line->place];
    struct recovery recovery;
    int64_t extent[ENGINE_DIMENSIONS];
    bool any = false, all = true;
    if (!recover(trace_shown(), NULL, &recovery)) return false;
    lab_extents(array, &run->shape, extent);
    for (int i = 0; i < recovery.count; i++) {
        const struct recovered *a = &recovery.access[i];
        if (a->array != line->place || a->write != (line->way == COUNTED_STORES) ||
            a->place.line != line->line || strcmp(a->place.file, line->file) != 0)
            continue;
        any = true;
        all &= a->exact &&
               part_coefficient(&a->formula, INDEX_THREAD_X) == extent[array->dimensions - 1];
    }
    recover_free(&recovery);
    return any && all;
}

static bool uncoalesced(const struct counts_of_run *run, struct remark *remark) {
    const struct counted_launch *l = &run->launches[0];
    const double low = 50; /* percent: that of a float4 of each row, which may be meant so */
    for (int i = 0; i < l->line_count; i++) {
        const struct counted_line *line = &l->lines[i];
        const struct counted *c = &line->counted;
        if (line->place >= lab_arrays(&lab) || line->way == COUNTED_ATOMICS ||
            percent_used(c) >= low || (double)c->sectors < worth_it * (double)sectors_of(l) ||
            !x_counts_rows(run, line))
            continue;
        const bool store = line->way == COUNTED_STORES;
        remark_at(remark, REMARK_UNCOALESCED, line->file, line->line);
        char percent[32], row[64] = "";
        name_row(line->place, row, sizeof row);
        snprintf(percent, sizeof percent, "%.3g", percent_used(c));
        REMARK_SAY(UNCOALESCED, W(percent), W(lab.arrays[line->place].name),
                   W(store ? "store" : "load"), W(row), W(SECTOR));
        return true;
    }
    return false;
}

/* --- bank-conflicts --------------------------------------------------------------------------- */

/* The requests of a line take that long on average, not just one of them. */
static bool bank_conflicts(const struct counts_of_run *run, struct remark *remark) {
    const unsigned many_words = 8; /* of one bank */
    const struct counted_launch *l = &run->launches[0];
    const struct counted *shared = l->of[COUNTED_SHARED];
    const uint64_t requests = shared[COUNTED_LOADS].requests + shared[COUNTED_STORES].requests;
    for (int i = 0; i < l->line_count; i++) {
        const struct counted_line *line = &l->lines[i];
        const struct counted *c = &line->counted;
        if (line->place != COUNTED_SHARED || line->way == COUNTED_ATOMICS ||
            c->worst < many_words || c->conflicts < c->requests * (many_words - 1) ||
            (double)c->conflicts < worth_it * (double)requests)
            continue;
        remark_at(remark, REMARK_BANK_CONFLICTS, line->file, line->line);
        REMARK_SAY(ONE_BANK, W(c->worst), W(line->way == COUNTED_STORES ? "store to" : "read from"),
                   W(c->worst), W(BANKS));
        return true;
    }
    return false;
}

/* --- idle-phases ------------------------------------------------------------------------------ */

enum { PHASES = 4096 };

/* What is done in an interval between barriers; VALUES: not only zeros. */
enum { IT_STORES = 1, IT_STORES_VALUES = 2, IT_LOADS = 4 };

/* Of the first block's intervals those in which it stores to shared memory. */
struct phases_seen {
    unsigned char did[PHASES];
    int stored, idle;       /* idle: without a load of an input, and without values, such as sums */
    const void *idle_store; /* a store in one of these */
};

static void find_phases_seen(const struct trace *t, struct phases_seen *phases) {
    static const unsigned char zero[TRACE_BYTES];
    int last = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->block || a->interval >= PHASES) continue;
        if ((int)a->interval > last) last = (int)a->interval;
        if (a->array >= TRACE_SHARED && a->write)
            phases->did[a->interval] |=
                memcmp(a->bytes, zero, sizeof zero) == 0 ? IT_STORES : IT_STORES | IT_STORES_VALUES;
        if (a->array < TRACE_SHARED && !a->write && lab.arrays[a->array].role == ROLE_INPUT)
            phases->did[a->interval] |= IT_LOADS;
    }
    for (size_t i = 0; i < t->count && !phases->idle_store; i++) {
        const struct trace_access *a = &t->access[i];
        if (!a->block && a->interval < PHASES && a->array >= TRACE_SHARED && a->write &&
            phases->did[a->interval] == IT_STORES)
            phases->idle_store = a->code;
    }
    /* Where not all has been kept, what comes last is not all of its interval. */
    for (int i = 0; i < PHASES && (t->complete || i < last); i++) {
        phases->stored += phases->did[i] & IT_STORES;
        phases->idle += phases->did[i] == IT_STORES;
    }
}

/* More than half of the phases store only zeros to shared arrays, and load nothing: a loop runs too
 * far. */
static bool idle_phases(const struct counts_of_run *run, struct remark *remark) {
    static struct phases_seen phases;
    const struct trace *t = trace_shown();
    memset(&phases, 0, sizeof phases);
    if (run->count != 1 || !t->block_count || !t->barrier_count) return false;
    find_phases_seen(t, &phases);
    if (2 * phases.idle <= phases.stored) return false;
    const struct place place = place_before(phases.idle_store);
    if (!place.line) return false;
    remark_at(remark, REMARK_IDLE_PHASES, place.file, place.line);
    REMARK_SAY(IDLE, W(phases.idle), W(phases.stored), W(vocabulary()->phase));
    return true;
}

/* --- surplus-blocks --------------------------------------------------------------------------- */

static bool surplus_blocks(const struct counts_of_run *run, struct remark *remark) {
    const struct counted_launch *l = &run->launches[0];
    struct finding finding = {.kind = FINDING_NONE};
    if (run->count != 1 || !l->idle_blocks || source_may_say("gridDim") ||
        l->blocks_ended != l->blocks)
        return false;
    engine_add_launch(&finding, true);
    if (!finding.launch.line) return false;
    remark_at(remark, REMARK_SURPLUS_BLOCKS, finding.launch.file, finding.launch.line);
    REMARK_SAY(SURPLUS, W(l->blocks), W(l->blocks - l->idle_blocks),
               W(lab.arrays[lab_first_output(&lab)].name));
    remark->launch = finding.launch;
    return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

static counts_rule *const rules[] = {naive_loads, uncoalesced, bank_conflicts, idle_phases,
                                     surplus_blocks};

void remark_counts(struct shape shape, struct remark *remark) {
    struct counts_of_run run = {.shape = shape};
    bool all_ran = true; /* loads of blocks that did not run are not counted */
    run.count = counts_launches(&run.launches);
    for (int i = 0; i < run.count; i++) all_ran &= !run.launches[i].passed_over;
    for (size_t i = 0; i < LENGTH(rules) && run.count && !remark->kind; i++)
        if (rules[i] == surplus_blocks || all_ran) rules[i](&run, remark);
    if (remark->kind) REMARK_SAY(COUNTED_WITH, W(lab_shape_text(&lab, &shape).of), W(lab.name));
}

void remark_barriers(struct remark *remark) {
    const void *code = remark_unneeded_barrier();
    if (!code) return;
    const struct place place = place_before(code);
    remark_at(remark, REMARK_UNNEEDED_BARRIER, place.file, place.line);
    REMARK_SAY(BARRIER_NOT_NEEDED);
}
