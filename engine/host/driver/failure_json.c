/* The report as JSON: one object on one line. From `compared` on, members are there once the
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
 *                            in a row are one), text: the line of a failed run
 *   launches_left_out        how many more
 *   times                    seconds of each stage, null where it was not reached; kernel: of each
 *                            timed launch
 *   median, min, max, gflops of the timed launches, or null
 *   inputs_changed           elements of each input that the kernel changed
 *   guard_writes             for each array: elements overwritten before and behind it
 *   compared, wrong, nan, unwritten    elements; nan are among the wrong ones
 *   suspect_rows             quick only: rows that fail Freivalds' check and have no wrong element
 *   not_float32              within the bound, but less precise than float32
 *   max_error_u, rms_error_u of |C - ref| / G, in units of u
 *   first_wrong              the first ones, by row and column: expected, got, bound
 *   wrong_box, unwritten_box the smallest rectangle that holds them: rows, columns, both ends
 *                            included; or null
 *   map                      C in cells of cell_rows x cell_columns: . correct, x partly and X all
 *                            wrong, u partly and U all unwritten, blank: not compared
 *   explanations             at most 3: formula (a name), text, hint, explained elements of (of)
 */
#include "../../report/text/json.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>

static void json_box(struct json *json, const char *name, const struct box *box) {
    if (box->row_first > box->row_last)
        json_text(json, name, NULL);
    else
        json_value(json, name, "{\"rows\": [%d, %d], \"columns\": [%d, %d]}", box->row_first,
                   box->row_last, box->col_first, box->col_last);
}

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
        char text[LAUNCH_TEXT];
        json_open(json, NULL, '{');
        json_text(json, "kernel", l->kernel);
        json_extent(json, "grid", l->grid);
        json_extent(json, "block", l->block);
        json_unsigned(json, "static_shared", l->static_bytes);
        json_unsigned(json, "dynamic_shared", l->shared_bytes);
        json_value(json, "times", "%d", report->launch_repeats[i]);
        launch_describe(l, text);
        json_text(json, "text", text);
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
    json_value(json, "suspect_rows", "%d", v->suspect_rows);
    json_value(json, "not_float32", v->not_float32 ? "true" : "false");
    json_real(json, "max_error_u", v->max_error_u);
    json_real(json, "rms_error_u", v->rms_error_u);
    json_first_wrong(json, v);
    json_box(json, "wrong_box", &v->wrong_box);
    json_box(json, "unwritten_box", &v->unwritten_box);
    json_open(json, "map", '{');
    json_value(json, "cell_rows", "%d", v->cell_rows);
    json_value(json, "cell_columns", "%d", v->cell_cols);
    json_open(json, "rows", '[');
    for (int i = 0; i < v->map_rows; i++)
        json_value(json, NULL, "\"%.*s\"", v->map_cols, v->map[i]);
    json_close(json, ']');
    json_close(json, '}');
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

void report_json(const struct report *report, enum exit_status status, const char *message,
                 FILE *out) {
    static const char *const words[] = {"passed", "failed", "error", "error"};
    struct json json = {out, false};
    bool unverified = status == EXIT_PASSED && report && !report->verified;
    json_open(&json, NULL, '{');
    json_text(&json, "status", unverified ? "unverified" : words[status]);
    json_value(&json, "exit_status", "%d", status);
    json_text(&json, "message", message);
    if (report) json_run(&json, report);
    if (report && report->verified) {
        json_verdict(&json, &report->verdict);
        json_explanations(&json, report);
    }
    json_close(&json, '}');
    fputc('\n', out);
}
