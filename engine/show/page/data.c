/* Writes the walkthrough's data: see walk.h. run.js, which reads it, says what the members mean. */
#include "../../cuda/program/program.h"
#include "../../explain/explain.h"
#include "../../report/element_type.h"
#include "../../report/text/numbers.h"
#include "../../report/text/source.h"
#include "../../report/words/print.h"
#include "../../report/words/vocabulary.h"
#include "../../watch/launches.h"
#include "../../watch/shadow/shadow.h"
#include "../show.h"
#include "walk.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ACCESSES = 200000, /* that are shown: 12 bytes each, with a step for each warp, ... */
    MOST_BYTES = 4200000,   /* ... more with one for each thread. A page stays below 5 MB */
    MOST_ELEMENTS = 40000,  /* of an array whose values are all in the page */
    MOST_WRONG = 2000       /* elements of an output */
};

struct page {
    struct json json;
    const struct walk_asked *asked;
    const struct outcome *outcome;
    const struct array_data *data;
    const struct trace *trace;
    struct walk_steps steps;
    struct walk_parties access; /* the finding's */
    size_t at, other;           /* the steps that hold them; step_count: none */
};

/* --- values ----------------------------------------------------------------------------------- */

/* With as many digits as tell it from all others of its type. */
static void write_value(struct json *json, enum element element, double value) {
    if (isnan(value))
        json_value(json, NULL, "null");
    else if (isinf(value))
        json_value(json, NULL, value > 0 ? "1e999" : "-1e999"); /* which is read as infinity */
    else
        json_value(json, NULL, element == ELEMENT_F32 ? "%.9g" : "%.17g", value);
}

static void write_values(struct json *json, const char *name, const struct engine_array *array,
                         const void *values) {
    const size_t count = array_elements(array), size = array_element_bytes(array);
    double value;
    if (!values || count > MOST_ELEMENTS || array->element == ELEMENT_BYTES) {
        json_text(json, name, NULL);
        return;
    }
    json_open(json, name, '[');
    for (size_t i = 0; i < count; i++) {
        element_value(array->element, (const char *)values + i * size, &value);
        write_value(json, array->element, value);
    }
    json_close(json, ']');
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* Runs of elements that no thread stored: [first, how many]; and of the first output those that are
 * wrong: [element, what it should be]. */
static void write_amiss(struct page *page, int number, const char *values) {
    struct json *json = &page->json;
    const struct engine_array *array = region_array(number);
    const size_t count = array_elements(array), size = array_element_bytes(array);
    size_t run = 0;
    json_open(json, "unwritten", '[');
    for (size_t i = 0; i <= count; i++) {
        const bool unwritten = i < count && poison_is_at(values + i * size, size);
        if (!unwritten && run) json_value(json, NULL, "[%zu, %zu]", i - run, run);
        run = unwritten ? run + 1 : 0;
    }
    json_close(json, ']');
    if (number != lab_first_output(&lab)) return;
    struct wrong_element wrong[MOST_WRONG];
    const int found = truth_wrong(&page->asked->which, page->data->of, MOST_WRONG, wrong);
    json_open(json, "wrong", '[');
    for (int i = 0; i < found; i++)
        json_value(json, NULL, "[%lld, %.9g]",
                   (long long)(wrong[i].row * array_columns(array) + wrong[i].col),
                   wrong[i].expected);
    json_close(json, ']');
}

static void write_extents(struct json *json, int number) {
    static const struct lab_panel none[LAB_ARRAYS];
    const struct engine_array *array = region_array(number);
    struct lab_panel panel = lab.panels[number];
    json_open(json, "dims", '[');
    for (int i = 0; i < array->dimensions; i++)
        json_value(json, NULL, "%" PRId64, array->extent[i]);
    json_close(json, ']');
    json_open(json, "params", '[');
    for (int i = 0; i < array->dimensions; i++) {
        const struct lab_extent extent = lab.arrays[number].extent[i];
        const bool alone = extent.param >= 0 && !extent.plus;
        json_text(json, NULL, alone ? lab.params[extent.param].name : NULL);
    }
    json_close(json, ']');
    json_value(json, "by", "[%d, %d]", array->axis_of[0], array->axis_of[1]);
    if (memcmp(lab.panels, none, sizeof none) == 0) panel = (struct lab_panel){number, 0, -1, -1};
    json_value(json, "panel", "{\"row\": %d, \"col\": %d, \"rows_with\": %d, \"cols_with\": %d}",
               panel.row, panel.col, panel.rows_with, panel.cols_with);
}

static void write_element(struct json *json, enum element element, size_t bytes) {
    json_value(json, "float32", element == ELEMENT_F32 ? "true" : "false");
    json_value(json, "bytes", "%zu", bytes);
}

static void write_array(struct page *page, int number) {
    struct json *json = &page->json;
    const struct engine_array *array = region_array(number);
    const void *values = page->data->of[number];
    const bool input = array->role == ROLE_INPUT;
    json_open(json, NULL, '{');
    json_text(json, "name", array->name);
    json_text(json, "role", input ? "input" : "output");
    write_extents(json, number);
    write_element(json, array->element, array_element_bytes(array));
    write_values(json, input ? "values" : "final", array, values);
    if (!input && values && array_elements(array) <= MOST_ELEMENTS)
        write_amiss(page, number, values);
    json_close(json, '}');
}

static void write_shared(struct json *json, const struct trace_array *array) {
    json_open(json, NULL, '{');
    json_text(json, "name", array->name);
    json_text(json, "role", "shared");
    json_open(json, "dims", '[');
    for (int i = 0; i < array->dimensions; i++) json_value(json, NULL, "%zu", array->dimension[i]);
    json_close(json, ']');
    json_value(json, "words", "%zu", array->elements);
    write_element(json, array->element, element_type_bytes(array->element));
    json_close(json, '}');
}

/* --- steps ------------------------------------------------------------------------------------ */

static void write_sites(struct page *page) {
    struct json *json = &page->json;
    int named = 0; /* arrays of the run; shared ones follow them */
    while (named < ENGINE_ARRAYS && region_array(named)) named++;
    json_open(json, "sites", '[');
    for (int i = 0; i < page->steps.site_count; i++) {
        const struct walk_site *site = &page->steps.site[i];
        const struct trace_access *a = site->first;
        json_value(json, NULL,
                   "{\"line\": %d, \"array\": %d, \"write\": %s, \"atomic\": %s, \"words\": %d}",
                   site->line, a->array < TRACE_SHARED ? a->array : a->array - TRACE_SHARED + named,
                   a->write ? "true" : "false", a->atomic ? "true" : "false", a->elements);
    }
    json_close(json, ']');
}

static void write_access(struct page *page, size_t number) {
    struct json *json = &page->json;
    const struct trace_access *a = &page->trace->access[number];
    const enum element element = trace_element(page->trace, a->array);
    const size_t size = trace_element_bytes(page->trace, a->array);
    double value;
    json_open(json, NULL, '[');
    json_value(json, NULL, "%d, %d, %" PRId64, page->steps.site_of[number], a->thread % WARP_SIZE,
               a->offset);
    for (int i = 0; i < (a->atomic ? 2 : 1) * a->elements; i++) {
        const bool kept = a->valued || i >= a->elements;
        const bool known = kept && element_value(element, a->bytes + (size_t)i * size, &value);
        write_value(json, element, known ? value : NAN);
    }
    json_close(json, ']');
}

/* Runs of threads: [first, how many]. */
static void write_threads(struct json *json, const char *name, const struct threads *set) {
    json_open(json, name, '[');
    for (unsigned t = 0, end; t < MAX_BLOCK_THREADS; t = end) {
        for (end = t + 1; end < MAX_BLOCK_THREADS && threads_has(set, end) == threads_has(set, t);
             end++)
            continue;
        if (threads_has(set, t)) json_value(json, NULL, "[%u, %u]", t, end - t);
    }
    json_close(json, ']');
}

static void write_waiting(struct json *json, const struct waiting waiting[BARRIER_PLACES],
                          const struct threads *returned) {
    json_open(json, "waiting", '[');
    for (int i = 0; i < 2 && waiting[i].code; i++) {
        json_open(json, NULL, '{');
        json_value(json, "line", "%d", walk_line(waiting[i].code));
        write_threads(json, "threads", &waiting[i].threads);
        json_close(json, '}');
    }
    json_close(json, ']');
    write_threads(json, "returned", returned);
}

static void write_step(struct page *page, const struct walk_step *step) {
    struct json *json = &page->json;
    const struct walk_steps *s = &page->steps;
    json_open(json, NULL, '[');
    json_value(json, NULL, "%d, %u, %d", step->line, step->interval, step->warp);
    if (step->warp < 0) {
        const struct trace_barrier *b = &page->trace->barrier[step->first];
        json_value(json, NULL, "%u",
                   threads_count(&b->at[0].threads) + threads_count(&b->at[1].threads));
        if (b->at[1].code) {
            json_open(json, NULL, '{');
            write_waiting(json, b->at, &b->returned);
            json_close(json, '}');
        }
    } else {
        json_open(json, NULL, '[');
        for (size_t v = step->first; v < step->first + step->count; v++)
            for (size_t i = 0; i < s->visit[v].count; i++)
                write_access(page, s->by_thread[s->visit[v].first + i]);
        json_close(json, ']');
    }
    json_close(json, ']');
}

/* Null: there is none. */
static void write_step_number(struct page *page, const char *name, size_t step) {
    json_real_if(&page->json, name, step < page->steps.step_count, (double)step);
}

static void write_steps(struct page *page) {
    struct json *json = &page->json;
    json_open(json, "steps", '[');
    for (size_t i = 0; i < page->steps.step_count; i++) {
        if (ftell(json->out) > MOST_BYTES)
            walk_steps_cut(&page->steps, i);
        else
            write_step(page, &page->steps.step[i]);
    }
    json_close(json, ']');
    write_step_number(page, "as_run_from", page->steps.as_run_from);
    json_value(json, "left_out", "%zu", page->trace->count - page->steps.accesses);
    json_value(json, "counted", page->trace->complete ? "true" : "false");
    json_open(json, "end", '{');
    write_waiting(json, page->trace->waiting, &page->trace->returned);
    json_value(json, "stopped", page->trace->stopped ? "true" : "false");
    json_close(json, '}');
}

/* --- the finding ------------------------------------------------------------------------------ */

static void write_party(const struct page *page, struct json *json,
                        const struct finding_party *party) {
    static const char *const accesses[] = {NULL, "read", "write"};
    json_value(json, "line", "%d", source_is(party->file) ? party->line : 0);
    json_index(json, "thread", party->thread, party->in_kernel && page->trace->block_count);
    json_text(json, "access", accesses[party->access]);
}

/* The first barrier that the finding's threads reach and others do not. */
static size_t find_barrier_step(const struct page *page) {
    const struct finding *f = &page->outcome->finding;
    const unsigned *block = page->trace->block, threads = block[0] * block[1] * block[2];
    for (size_t i = 0; i < page->steps.step_count; i++) {
        const struct walk_step *step = &page->steps.step[i];
        if (step->warp >= 0) continue;
        const struct trace_barrier *b = &page->trace->barrier[step->first];
        const bool returned = threads_count(&b->at[0].threads) < threads;
        if (f->kind == FINDING_DIVERGENT_BARRIER && b->at[1].code) return i;
        if (f->kind == FINDING_EARLY_RETURN && returned) return i;
    }
    return page->steps.step_count;
}

static void find_finding(struct page *page) {
    const size_t none = page->steps.step_count;
    page->at = walk_steps_find(&page->steps, page->access.at);
    page->other = walk_steps_find(&page->steps, page->access.other);
    if (page->at == none) page->at = find_barrier_step(page);
    if (page->at == none || page->steps.as_run_from == none) return;
    /* Single threads, one after the other, make many steps: those that follow the mistake say
     * nothing about it. */
    const size_t last = page->other < none && page->other > page->at ? page->other : page->at;
    walk_steps_cut(&page->steps, last + 1);
}

static void write_finding(struct page *page) {
    struct json *json = &page->json;
    const struct finding *f = &page->outcome->finding;
    const struct finding_object *o = &f->object;
    struct finding_words words;
    if (f->kind == FINDING_NONE) {
        json_text(json, "finding", NULL);
        return;
    }
    finding_explain(f, &page->outcome->explained, &words);
    json_open(json, "finding", '{');
    json_words(json, f, &words);
    write_party(page, json, &f->at);
    json_open(json, "other", '{');
    write_party(page, json, &f->other);
    json_close(json, '}');
    json_text(json, "variable", o->name);
    if (o->form == OBJECT_ARRAY || o->form == OBJECT_ELEMENT) {
        json_open(json, "index", '[');
        for (int i = 0; i < o->dimensions; i++) json_value(json, NULL, "%" PRId64, o->index[i]);
        json_close(json, ']');
    } else {
        json_text(json, "index", NULL);
    }
    json_value(json, "never_ends", finding_never_ends(f->kind) ? "true" : "false");
    json_slots(json, f->slot);
    write_step_number(page, "step", page->at);
    write_step_number(page, "other_step", page->other);
    cause_json(json, &page->outcome->cause);
    json_close(json, '}');
}

/* --- the launch, loads ------------------------------------------------------------------------ */

static void write_loads(struct page *page) {
    const struct shape *s = &page->outcome->shape;
    const struct counted_launch *launches;
    const int count = counts_launches(&launches);
    json_value(&page->json, "naive", "%.9g", truth_naive_loads(s) / (double)lab_outputs(&lab, s));
    if (!page->asked->counts || !count) {
        json_text(&page->json, "loads", NULL);
        return;
    }
    const struct loads loads = loads_of(launches, count, *s);
    json_value(&page->json, "loads", "{\"launch\": %" PRIu64 ", \"naive\": %" PRIu64 "}",
               loads.kernel, loads.naive);
}

static void write_sum(struct json *json) {
    const struct array_sum *sum = &lab.sum;
    if (!sum->factors) {
        json_text(json, "sum", NULL);
        return;
    }
    json_open(json, "sum", '{');
    json_value(json, "output", "%d", sum->output);
    json_open(json, "factors", '[');
    for (int i = 0; i < sum->factors; i++)
        json_value(json, NULL, "{\"array\": %d, \"axes\": [%d, %d]}", sum->factor[i].array,
                   sum->factor[i].index[0], sum->factor[i].index[1]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_members(struct page *page) {
    struct json *json = &page->json;
    const struct vocabulary *words = vocabulary();
    const struct trace *t = page->trace;
    struct finding_launch launch = {.number = t->launch, .of = launches_noted()};
    json_text(json, "file", source_name());
    json_text_lines(json, "source", source_text());
    json_open(json, "shape", '{');
    json_shape(json, &lab, &page->outcome->shape);
    json_close(json, '}');
    json_open(json, "words", '{');
    json_text(json, "array", words->array);
    json_text(json, "arrays", words->arrays);
    json_text(json, "phase", words->phase);
    json_close(json, '}');
    write_sum(json);
    launches_kernel_name(t->kernel, launch.kernel, sizeof launch.kernel);
    memcpy(launch.grid, t->grid, sizeof launch.grid);
    memcpy(launch.block, t->block, sizeof launch.block);
    engine_find_launch(t->launch, true, &launch); /* of many launches, no more may be known */
    json_launch(json, &launch);
    json_extent(json, "block", t->blocks[0]);
    json_open(json, "arrays", '[');
    for (int i = 0; i < ENGINE_ARRAYS && region_array(i); i++) write_array(page, i);
    for (int i = 0; i < t->shared_count; i++) write_shared(json, &t->shared[i]);
    json_close(json, ']');
    write_sites(page);
    write_steps(page);
    write_loads(page);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* The launch and the block that the trace is of, and those that it should be of. */
static struct walked walked_so_far(const struct page *page) {
    const struct trace *t = page->trace;
    const struct finding *f = &page->outcome->finding;
    const uint64_t asked = page->asked->launch;
    struct finding_launch launch = f->launch;
    struct walked walked = {.result = WALK_NO_BLOCK, .launch = t->launch};
    if (asked) engine_find_launch(asked, false, &launch);
    memcpy(walked.grid, launch.grid, sizeof walked.grid);
    if (t->block_count) {
        memcpy(walked.block, t->blocks[0], sizeof walked.block);
        memcpy(walked.wanted, walked.block, sizeof walked.wanted);
        memcpy(walked.grid, t->grid, sizeof walked.grid);
        walked.wanted_launch = asked;
    }
    if (f->at.in_kernel) walked.wanted_launch = f->launch.number;
    if (page->asked->launch_given) walked.wanted_launch = asked;
    if (!f->at.in_kernel || walked.wanted_launch == f->launch.number)
        walk_wanted(t, f, &page->asked->which, page->data, walked.wanted);
    return walked;
}

struct walked walk_data(FILE *out, const struct walk_asked *asked, const struct outcome *outcome,
                        const struct array_data *data) {
    struct page page = {
        .json.out = out, .asked = asked, .outcome = outcome, .data = data, .trace = trace_shown()};
    struct walked walked = walked_so_far(&page);
    const enum finding_kind kind = outcome->finding.kind;
    uint32_t as_run = UINT32_MAX; /* no interval */
    if (!page.trace->block_count) return walked;
    page.access = walk_find_parties(page.trace, &outcome->finding);
    /* A race, and what is read that was not stored, depend on who came first. */
    if ((kind == FINDING_SHARED_RACE || kind == FINDING_UNINITIALIZED_SHARED) &&
        page.access.at < page.trace->count)
        as_run = page.trace->access[page.access.at].interval;
    walked.result = WALK_NO_MEMORY;
    if (!walk_steps_make(page.trace, MOST_ACCESSES, as_run, &page.steps)) return walked;
    find_finding(&page);
    json_open(&page.json, NULL, '{');
    write_members(&page);
    if (finding_never_ends(kind) && page.steps.step_count) page.at = page.steps.step_count - 1;
    write_finding(&page);
    walked.result = WALK_RECORDED;
    walk_steps_free(&page.steps);
    return walked;
}
