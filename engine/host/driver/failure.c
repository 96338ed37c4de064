/* What is said of a run. A failure in words: its launches, damage outside C, how much of C is wrong
 * or was never written, the first wrong elements, a map of C, and what C is instead. And a run as
 * JSON. */
#include "../../report/text/json.h"
#include "../../report/text/numbers.h"
#include "../../report/text/text.h"
#include "driver.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The output that the verdict describes. */
static const struct lab_array *the_output(const struct report *report) {
    return &lab.arrays[report->verdict.array];
}
static const char *output_name(const struct report *report) { return the_output(report)->name; }
static uint64_t elements_of_output(const struct report *report) {
    return (uint64_t)lab_elements(the_output(report), &report->options.which.shape);
}
static bool output_has_rows(const struct report *report) {
    return the_output(report)->dimensions > 1;
}

/* Whether a kernel has shared memory, as far as is known. */
static bool has_shared(const struct report *report) {
    bool any = !report->launch_count || report->launches_left_out;
    for (int i = 0; i < report->launch_count; i++)
        any |= report->launches[i].static_bytes + report->launches[i].shared_bytes > 0;
    return any;
}

/* Whether one launch has a thread for each element of the output. */
static bool has_threads(const struct report *report) {
    for (int i = 0; i < report->launch_count; i++)
        if (launch_covers(&report->launches[i])) return true;
    return false;
}

void report_print_launches(const struct report *report, FILE *out) {
    for (int i = 0; i < report->launch_count; i++) {
        char text[LAUNCH_TEXT];
        launch_describe(&report->launches[i], text);
        if (report->launch_repeats[i] > 1) APPEND(text, "; %d times", report->launch_repeats[i]);
        print_paragraph("", "", text, out);
    }
    if (report->launches_left_out)
        fprintf(out, "and %d more launch%s\n", report->launches_left_out,
                report->launches_left_out == 1 ? "" : "es");
}

/* -- what is wrong -- */

static void print_damage(const struct report *report) {
    for (int i = 0; i < lab_arrays(&lab); i++) {
        const struct damage *d = &report->damage[i];
        const char *name = lab.arrays[i].name;
        if (d->elements)
            fprintf(report->out, "%s element%s of the input %s changed: only %s may be written.\n",
                    grouped(d->elements).text, plural(d->elements), name, output_name(report));
        if (d->before)
            fprintf(report->out,
                    "%s float%s just before %s %s overwritten: an index is negative.\n",
                    grouped(d->before).text, plural(d->before), name, was_or_were(d->before));
        if (d->after)
            fprintf(report->out,
                    "%s float%s just after %s %s overwritten: is each store guarded?\n",
                    grouped(d->after).text, plural(d->after), name, was_or_were(d->after));
    }
}

/* "rows 3 to 5" */
static void print_span(FILE *out, const char *what, int first, int last, const char *end) {
    if (first == last)
        fprintf(out, "%s %d%s", what, first, end);
    else
        fprintf(out, "%ss %d to %d%s", what, first, last, end);
}

/* They may be all of the box, or some within it; a box of all elements says nothing. */
static void print_box(const struct report *report, const struct box *box, uint64_t count) {
    const uint64_t elements = box_elements(box);
    const bool rows = output_has_rows(report);
    if (elements == (uint64_t)lab_elements(the_output(report), &report->options.which.shape))
        return;
    const char *const one = rows ? "It is in " : "It is ";
    const char *const some = count == elements ? "They are all of " : "They lie within ";
    fputs(count == 1 ? one : some, report->out);
    if (rows) print_span(report->out, "row", box->row_first, box->row_last, ", ");
    print_span(report->out, rows ? "column" : "element", box->col_first, box->col_last, ".\n");
}

static void print_unwritten(const struct report *report, uint64_t elements) {
    const struct verdict *v = &report->verdict;
    if (v->unwritten == elements) {
        if (elements == 1)
            fprintf(report->out, "The one element of %s was not written.\n", output_name(report));
        else
            fprintf(report->out, "None of the %s elements of %s were written.\n",
                    grouped(elements).text, output_name(report));
        if (lab.first_step) fprintf(report->out, "Start in kernel.cu: %s\n", lab.first_step);
        return;
    }
    fprintf(report->out, "%s of %s %s never written.\n", how_many(v->unwritten, elements).text,
            output_name(report), was_or_were(v->unwritten));
    print_box(report, &v->unwritten_box, v->unwritten);
    if (report->explanation_count == 0 && !has_threads(report))
        fprintf(report->out,
                "Each element needs a thread: does the grid, rounded up, cover all of %s?\n",
                output_name(report));
}

static void print_first(const struct report *report) {
    const struct verdict *v = &report->verdict;
    const bool rows = output_has_rows(report);
    if (rows) fprintf(report->out, "%7s ", "row");
    fprintf(report->out, "%8s %15s %15s %11s\n", rows ? "column" : "element", "expected", "got",
            "tolerance");
    for (int i = 0; i < v->first_count; i++) {
        const struct wrong_element *e = &v->first[i];
        if (rows) fprintf(report->out, "%7d ", e->row);
        fprintf(report->out, "%8d %15.9g %15.9g ", e->col, e->expected, e->got);
        if (v->exact)
            fprintf(report->out, "%11s\n", "0 (exact)");
        else
            fprintf(report->out, "%11.2e\n", e->bound);
    }
    if (v->wrong > (uint64_t)v->first_count) fprintf(report->out, "%7s\n", "...");
}

static void print_nan(const struct report *report) {
    const struct verdict *v = &report->verdict;
    bool explained = !lab.nan;
    for (int i = 0; i < report->explanation_count; i++)
        explained |= report->explanations[i].about_nan;
    if (v->nan < v->wrong)
        fprintf(report->out, "%s of them %s", grouped(v->nan).text, is_or_are(v->nan));
    else
        fputs(v->nan == 1 ? "It is" : "All of them are", report->out);
    fprintf(report->out, " NaN%s\n",
            explained            ? "."
            : has_shared(report) ? lab.nan_with_shared
                                 : lab.nan);
}

static void print_wrong(const struct report *report) {
    const struct verdict *v = &report->verdict;
    struct how_many wrong = how_many(v->wrong, elements_of_output(report));
    wrong.text[0] = (char)toupper((unsigned char)wrong.text[0]);
    fprintf(report->out, "%s of %s %s wrong.\n", wrong.text, output_name(report),
            is_or_are(v->wrong));
    if (v->nan) print_nan(report);
    print_box(report, &v->wrong_box, v->wrong);
    print_first(report);
    if (lab_truth.say_fill) lab_truth.say_fill(&report->options.which, report->out);
}

/* Cells of the map by what their elements are, the character first. */
static const char *const cells[] = {[IS_RIGHT] = ". correct",
                                    [IS_WRONG | IS_RIGHT] = "x some wrong",
                                    [IS_WRONG] = "X all wrong",
                                    [IS_UNWRITTEN | IS_RIGHT] = "u some never written",
                                    [IS_UNWRITTEN] = "U none written"};

/* Where some are wrong, it does not matter which of the others were written. */
static int cell_at(const struct verdict *v, int row, int col) {
    const int cell = v->map[row][col];
    return cell & IS_WRONG && cell != IS_WRONG ? IS_WRONG | IS_RIGHT : cell;
}

static void print_map(const struct report *report) {
    static const int legend[] = {IS_RIGHT, IS_WRONG | IS_RIGHT, IS_WRONG, IS_UNWRITTEN | IS_RIGHT,
                                 IS_UNWRITTEN};
    const struct verdict *v = &report->verdict;
    const bool rows = output_has_rows(report);
    unsigned used = 0;
    fprintf(report->out, "\n%s, one character for ", output_name(report));
    if (rows) fprintf(report->out, "%d rows x ", v->cell_rows);
    fprintf(report->out, "%d %s:\n", v->cell_cols, rows ? "columns" : "elements");
    for (int i = 0; i < v->map_rows; i++) {
        fprintf(report->out, "%s%10d |", i == 0 && rows ? " row" : "    ", i * v->cell_rows);
        for (int j = 0; j < v->map_cols; j++) {
            fputc(cells[cell_at(v, i, j)][0], report->out);
            used |= 1u << cell_at(v, i, j);
        }
        fputs("|\n", report->out);
    }
    fputs("   ", report->out);
    for (int l = 0; l < LENGTH(legend); l++)
        if (used >> legend[l] & 1) fprintf(report->out, "  %s", cells[legend[l]]);
    fputc('\n', report->out);
}

/* One hint: of what explains most. The same mistake may be behind the others. */
static void print_explanations(const struct report *report) {
    for (int i = 0; i < report->explanation_count; i++) {
        fputc('\n', report->out);
        print_paragraph("", "", report->explanations[i].text, report->out);
        if (i == 0) print_paragraph("", "hint: ", report->explanations[i].hint, report->out);
    }
}

void report_failure(const struct report *report) {
    const struct verdict *v = &report->verdict;
    const uint64_t elements = elements_of_output(report);
    print_damage(report);
    if (v->unwritten) print_unwritten(report, elements);
    if (v->wrong) print_wrong(report);
    if (v->not_float32 && lab_truth.say_precision) {
        char text[MESSAGE_SIZE] = "";
        lab_truth.say_precision(v, text);
        print_paragraph("", "", text, report->out);
    }
    if ((v->wrong || v->unwritten) && v->unwritten < elements && v->map_rows * v->map_cols > 1)
        print_map(report);
    if (v->unwritten < elements) print_explanations(report);
}

/* Rows usually end with the threads in y, columns with those in x; but not in every kernel. */
static void explain_end(const struct finding_launch *launch, int end, int size, int usual,
                        const char *what, struct explanation *out) {
    for (int i = 0; i < 2 && 0 < end && end < size; i++) {
        const int way = i ? !usual : usual;
        const unsigned blocks = launch->grid[way], threads = launch->block[way];
        if ((unsigned long long)blocks * threads != (unsigned long long)end) continue;
        APPEND(out->text, " The grid has %u x %u = %d thread%s in %c; %s has %d %s.", blocks,
               threads, end, plural((uint64_t)end), "xy"[way],
               lab.arrays[lab_first_output(&lab)].name, size, what);
        return;
    }
}

void launch_explain(const struct finding_launch *launch, const struct shape *shape,
                    struct explanation *out) {
    int64_t extent[ENGINE_DIMENSIONS];
    const struct lab_array *array = &lab.arrays[lab_first_output(&lab)];
    if (array->dimensions != 2) return;
    lab_extents(array, shape, extent);
    explain_end(launch, out->row_end, (int)extent[0], 1, "rows", out);
    explain_end(launch, out->col_end, (int)extent[1], 0, "columns", out);
}

/* What is said of a NaN from there: a variable without a value may hold one that was left behind.
 */
static void forget_shared(struct report *report) {
    int kept = 0;
    for (int i = 0; i < report->explanation_count; i++)
        if (strcmp(report->explanations[i].formula, "shared-unwritten") != 0)
            report->explanations[kept++] = report->explanations[i];
    report->explanation_count = kept;
}

void report_explain_launch(struct report *report) {
    const struct options *o = &report->options;
    if (!has_shared(report)) forget_shared(report);
    if (report->launch_count != 1 || report->launches_left_out) return; /* which one wrote what? */
    for (int i = 0; i < report->explanation_count; i++)
        launch_explain(&report->launches[0], &o->which.shape, &report->explanations[i]);
}

struct launch_times launch_times(const struct report *report) {
    struct launch_times s = {NAN, NAN, NAN, NAN};
    int count = report->sample_count;
    double *sorted = count ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted) return s;
    memcpy(sorted, report->samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    s.min = sorted[0];
    s.max = sorted[count - 1];
    s.median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    if (s.median > 0) s.gflops = truth_operations(&report->options.which.shape) / s.median / 1e9;
    free(sorted);
    return s;
}

/* -- as JSON -- */

static void json_times(struct json *json, const struct report *report) {
    static const char *const stages[STAGE_COUNT] = {"setup",  "allocate",    "to_device",
                                                    "launch", "from_device", "verify"};
    struct launch_times s = launch_times(report);
    bool timed = report->sample_count > 0;
    json_open(json, "times", '{');
    for (int i = 0; i < STAGE_COUNT; i++)
        json_real_if(json, stages[i], report->stage_seconds[i] >= 0, report->stage_seconds[i]);
    json_open(json, "kernel", '[');
    for (int i = 0; i < report->sample_count; i++) json_real(json, NULL, report->samples[i]);
    json_close(json, ']');
    json_close(json, '}');
    json_real_if(json, "median", timed, s.median);
    json_real_if(json, "min", timed, s.min);
    json_real_if(json, "max", timed, s.max);
    json_real_if(json, "gflops", timed && isfinite(s.gflops), s.gflops);
}

static void json_launches(struct json *json, const struct report *report) {
    json_open(json, "launches", '[');
    for (int i = 0; i < report->launch_count; i++) {
        const struct finding_launch *l = &report->launches[i];
        json_open(json, NULL, '{');
        json_text(json, "kernel", l->kernel);
        json_extent(json, "grid", l->grid);
        json_extent(json, "block", l->block);
        json_unsigned(json, "static_shared", l->static_bytes);
        json_unsigned(json, "dynamic_shared", l->shared_bytes);
        json_value(json, "times", "%d", report->launch_repeats[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_value(json, "launches_left_out", "%d", report->launches_left_out);
}

/* Stray writes, by array. */
static void json_damage(struct json *json, const struct report *report) {
    json_open(json, "inputs_changed", '{');
    for (int i = 0; i < lab_arrays(&lab); i++)
        if (lab.arrays[i].role == ROLE_INPUT)
            json_unsigned(json, lab.arrays[i].name, report->damage[i].elements);
    json_close(json, '}');
    json_open(json, "guard_writes", '{');
    for (int i = 0; i < lab_arrays(&lab); i++)
        json_value(json, lab.arrays[i].name, "[%" PRIu64 ", %" PRIu64 "]", report->damage[i].before,
                   report->damage[i].after);
    json_close(json, '}');
}

static void json_run(struct json *json, const struct report *report) {
    const struct options *o = &report->options;
    json_shape(json, &lab, &o->which.shape);
    json_unsigned(json, "seed", o->which.seed);
    json_text(json, "fill", lab.fills[o->which.fill].name);
    json_text(json, "verify", verify_name(o->verify));
    json_text(json, "backend", report->backend);
    json_value(json, "repeat", "%d", report->repeat);
    json_text(json, "device", report->device);
    source_json(json, report->source);
    json_launches(json, report);
    json_times(json, report);
    json_damage(json, report);
}

static void json_first_wrong(struct json *json, const struct verdict *v) {
    json_open(json, "first_wrong", '[');
    for (int i = 0; i < v->first_count; i++) {
        const struct wrong_element *e = &v->first[i];
        json_open(json, NULL, '{');
        json_value(json, "row", "%d", e->row);
        json_value(json, "column", "%d", e->col);
        json_real(json, "expected", e->expected);
        json_real(json, "got", e->got);
        json_real(json, "bound", e->bound);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_verdict(struct json *json, const struct verdict *v) {
    json_unsigned(json, "compared", v->compared);
    json_unsigned(json, "wrong", v->wrong);
    json_unsigned(json, "nan", v->nan);
    json_unsigned(json, "unwritten", v->unwritten);
    json_value(json, "not_float32", v->not_float32 ? "true" : "false");
    json_real(json, "max_error_u", v->max_error_u);
    json_real(json, "rms_error_u", v->rms_error_u);
    json_first_wrong(json, v);
}

static void json_explanations(struct json *json, const struct report *report) {
    json_open(json, "explanations", '[');
    for (int i = 0; i < report->explanation_count; i++) {
        const struct explanation *e = &report->explanations[i];
        json_open(json, NULL, '{');
        json_text(json, "formula", e->formula);
        json_text(json, "text", e->text);
        json_text(json, "hint", e->hint);
        json_unsigned(json, "explained", e->explained);
        json_unsigned(json, "of", e->of);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* One object on one line. From `compared` on, members are there once the
 * output was verified. NaN and infinities are written as strings.
 *
 *   status, exit_status      "passed", "failed", "error" or "unverified"; 0 .. 3
 *   message                  why the run ended early, or null
 *   m, n, k                  or what the lab's sizes are called
 *   seed, fill, verify, repeat    what was asked for
 *   backend, device          "cpu" or "cuda", and the device's name
 *   source                   file: what the program was built from; changed: whether it has
 *                            changed since, null when it is gone
 *   launches                 of one call of the wrapper, at most 4: kernel, grid, block,
 *                            static_shared, dynamic_shared (bytes a block), times (equal launches
 *                            in a row are one)
 *   launches_left_out        how many more
 *   times                    seconds of each stage, null where it was not reached; kernel: of each
 *                            timed launch
 *   median, min, max, gflops of the timed launches, or null
 *   inputs_changed           elements of each input that the kernel changed
 *   guard_writes             for each array: elements overwritten before and behind it
 *   compared, wrong, nan, unwritten    elements; nan are among the wrong ones
 *   not_float32              within the bound, but less precise than float32
 *   max_error_u, rms_error_u of |C - ref| / G, in units of u
 *   first_wrong              the first ones, by row and column: expected, got, bound
 *   explanations             at most 3: formula (a name), text, hint, explained elements of (of)
 */
void report_json(const struct report *report, enum exit_status status, const char *message,
                 FILE *out) {
    static const char *const words[] = {"passed", "failed", "error", "error"};
    struct json json = {out, false};
    bool unverified = status == EXIT_PASSED && !report->verified;
    json_open(&json, NULL, '{');
    json_text(&json, "status", unverified ? "unverified" : words[status]);
    json_value(&json, "exit_status", "%d", status);
    json_text(&json, "message", message);
    json_run(&json, report);
    if (report->verified) {
        json_verdict(&json, &report->verdict);
        json_explanations(&json, report);
    }
    json_close(&json, '}');
    fputc('\n', out);
}

/* make check after a failure and, because a race may have a right answer by luck, after a pass. */
void report_print_next(const struct report *report, FILE *out) {
    char program[64];
    snprintf(program, sizeof program, "./%s", lab.name);
    source_print_next(report->source, program, "make", "make check", out);
}

/* A single cause that is known without C. */
static void print_cause(const struct report *report, const char *message, FILE *out) {
    fputs("\nTEST FAILED\n", out);
    for (const char *line = message; *line; line += *line == '\n') {
        print_paragraph("", "", line, out);
        line += strcspn(line, "\n");
    }
    report_print_launches(report, out);
    report_print_next(report, out);
}

void report_end_line(struct report *report) {
    if (report->line != LINE_START) fputc('\n', report->out);
    fflush(report->out);
    report->line = LINE_START;
}

void report_ended_early(struct report *report, enum exit_status status, const char *message) {
    report_end_line(report);
    if (report->options.json && !report->is_complete)
        report_json(report, status, message, report->out);
    else if (status == EXIT_WRONG)
        print_cause(report, message, report->out);
    fflush(report->out);
    if (status != EXIT_WRONG) fprintf(stderr, "%s: %s\n", lab.name, message);
    report->is_complete = true;
}
