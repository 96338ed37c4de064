/* The launches of a run: which ones the wrapper made, what they explain, how long they took. */
#include "../../report/text/numbers.h"
#include "../../report/text/text.h"
#include "../host.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what one explains ---- */

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

/* ---- those of a run ---- */

static bool same_launch(const struct finding_launch *a, const struct finding_launch *b) {
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && a->static_bytes == b->static_bytes &&
           a->shared_bytes == b->shared_bytes;
}

/* Beside which a launch is shown. */
static void set_output(struct finding_launch *launch, const struct shape *shape) {
    const struct lab_array *array = &lab.arrays[lab_first_output(&lab)];
    snprintf(launch->output, sizeof launch->output, "%s", array->name);
    launch->dimensions = array->dimensions;
    lab_extents(array, shape, launch->extent);
}

void report_launch(struct report *report, const struct finding_launch *launch) {
    int last = report->launch_count - 1;
    if (last >= 0 && !report->launches_left_out && same_launch(&report->launches[last], launch)) {
        report->launch_repeats[last]++;
    } else if (report->launch_count < REPORTED_LAUNCHES) {
        report->launches[report->launch_count] = *launch;
        set_output(&report->launches[report->launch_count], &report->options.which.shape);
        report->launch_repeats[report->launch_count++] = 1;
    } else {
        report->launches_left_out++;
    }
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

bool report_has_shared(const struct report *report) {
    bool any = !report->launch_count || report->launches_left_out;
    for (int i = 0; i < report->launch_count; i++)
        any |= report->launches[i].static_bytes + report->launches[i].shared_bytes > 0;
    return any;
}

bool report_has_threads(const struct report *report) {
    for (int i = 0; i < report->launch_count; i++)
        if (launch_covers(&report->launches[i])) return true;
    return false;
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
    if (!report_has_shared(report)) forget_shared(report);
    if (report->launch_count != 1 || report->launches_left_out) return; /* which one wrote what? */
    for (int i = 0; i < report->explanation_count; i++)
        launch_explain(&report->launches[0], &o->which.shape, &report->explanations[i]);
}

const char *report_refusal(const struct report *report, const struct launch_limits *limits,
                           char text[2 * MESSAGE_SIZE]) {
    char why[MESSAGE_SIZE];
    for (int i = 0; i < report->launch_count; i++) {
        const char *hint = launch_refusal(&report->launches[i], limits, why);
        if (!hint) continue;
        snprintf(text, 2 * MESSAGE_SIZE, "%s<<<...>>>: %s\nhint: %s", report->launches[i].kernel,
                 why, hint);
        return text;
    }
    return NULL;
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
