/* Launches: which ones basicSgemm made, why a GPU refuses one, how long they took. */
#include "../host/report.h"

#include <math.h>
#include <stdlib.h>

/* ---- in words ---- */

/* "(3, 2)", or "3" where it has one dimension. */
static void append_dim3(char *text, size_t size, const unsigned extent[3]) {
    if (extent[2] != 1)
        append(text, size, "(%u, %u, %u)", extent[0], extent[1], extent[2]);
    else if (extent[1] != 1)
        append(text, size, "(%u, %u)", extent[0], extent[1]);
    else
        append(text, size, "%u", extent[0]);
}

/* In x and in y where blocks have rows of threads, and the grid rows of blocks: which direction is
 * which of C's is then the kernel's usual meaning. Else only their number says nothing wrong. */
static void append_threads(char *text, size_t size, const struct launch_shape *launch) {
    const unsigned *g = launch->grid, *b = launch->block;
    const unsigned long long blocks = (unsigned long long)g[0] * g[1] * g[2];
    const unsigned long long threads = (unsigned long long)b[0] * b[1] * b[2];
    if (g[2] == 1 && b[2] == 1 && b[1] > 1 && (g[1] > 1 || g[0] == 1))
        append(text, size, "%llu x %llu threads (x, y)", (unsigned long long)g[0] * b[0],
               (unsigned long long)g[1] * b[1]);
    else
        append(text, size, "%llu block%s of %llu thread%s", blocks, plural(blocks), threads,
               plural(threads));
}

void launch_describe(const struct launch_shape *launch, const char *matrix, int rows, int cols,
                     char text[2 * MESSAGE_SIZE]) {
    const size_t size = 2 * MESSAGE_SIZE;
    snprintf(text, size, "%s<<<", launch->kernel);
    append_dim3(text, size, launch->grid);
    append(text, size, ", ");
    append_dim3(text, size, launch->block);
    if (launch->dynamic_shared) append(text, size, ", %zu", launch->dynamic_shared);
    append(text, size, ">>>: ");
    append_threads(text, size, launch);
    append(text, size, "; %s has %d column%s and %d row%s", matrix, cols, plural((uint64_t)cols),
           rows, plural((uint64_t)rows));
}

/* Rows usually end with the threads in y, columns with those in x; but not in every kernel. */
static void explain_end(const struct launch_shape *launch, int end, int size, int usual,
                        const char *what, struct explanation *out) {
    for (int i = 0; i < 2 && 0 < end && end < size; i++) {
        const int way = i ? !usual : usual;
        const unsigned blocks = launch->grid[way], threads = launch->block[way];
        if ((unsigned long long)blocks * threads != (unsigned long long)end) continue;
        APPEND(out->text, " The grid has %u x %u = %d thread%s in %c; C has %d %s.", blocks,
               threads, end, plural((uint64_t)end), "xy"[way], size, what);
        return;
    }
}

void launch_explain(const struct launch_shape *launch, int m, int n, struct explanation *out) {
    explain_end(launch, out->row_end, m, 1, "rows", out);
    explain_end(launch, out->col_end, n, 0, "columns", out);
}

/* ---- refused ones ---- */

static bool exceeds(const unsigned extent[3], const unsigned limit[3]) {
    return extent[0] > limit[0] || extent[1] > limit[1] || extent[2] > limit[2];
}

static bool is_empty(const unsigned extent[3]) { return !extent[0] || !extent[1] || !extent[2]; }

const char *launch_refusal(const struct launch_shape *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]) {
    const unsigned *g = launch->grid, *b = launch->block, *most = limits->grid;
    const unsigned long long threads = (unsigned long long)b[0] * b[1] * b[2];
    text[0] = '\0';
    if (is_empty(g)) {
        snprintf(text, MESSAGE_SIZE, "the grid has no blocks: %u x %u x %u", g[0], g[1], g[2]);
        return "an integer division rounds down: what does it give for a matrix smaller than a "
               "tile?";
    }
    if (is_empty(b)) {
        snprintf(text, MESSAGE_SIZE, "a block has no threads: %u x %u x %u", b[0], b[1], b[2]);
        return "how many threads does a tile need?";
    }
    if (threads > limits->threads || exceeds(b, limits->block)) {
        char in_z[32] = "";
        if (threads <= limits->threads)
            snprintf(in_z, sizeof in_z, ", %u of them in z", limits->block[2]);
        snprintf(text, MESSAGE_SIZE, "a block has %u x %u x %u = %llu threads, a GPU allows %u%s",
                 b[0], b[1], b[2], threads, limits->threads, in_z);
        return "a block is a tile of C, not all of it: what grows with the matrix?";
    }
    if (exceeds(g, limits->grid)) {
        snprintf(text, MESSAGE_SIZE, "the grid is %u x %u x %u blocks, a GPU allows %u x %u x %u",
                 g[0], g[1], g[2], most[0], most[1], most[2]);
        return "how many elements of C does a block compute?";
    }
    if (launch->static_shared + launch->dynamic_shared > limits->shared) {
        snprintf(text, MESSAGE_SIZE, "a block needs %zu bytes of shared memory, a GPU allows %zu",
                 launch->static_shared + launch->dynamic_shared, limits->shared);
        return "how many bytes do all shared arrays of a block take together?";
    }
    return NULL;
}

/* ---- those of a run ---- */

static bool same_launch(const struct launch_shape *a, const struct launch_shape *b) {
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->static_shared == b->static_shared && a->dynamic_shared == b->dynamic_shared;
}

bool report_launch(struct report *report, const struct launch_shape *launch) {
    int last = report->launch_count - 1;
    if (last >= 0 && !report->launches_left_out && same_launch(&report->launches[last], launch)) {
        report->launch_repeats[last]++;
    } else if (report->launch_count < REPORTED_LAUNCHES) {
        report->launches[report->launch_count] = *launch;
        report->launch_repeats[report->launch_count++] = 1;
        return true;
    } else {
        report->launches_left_out++;
    }
    return false;
}

void report_print_launches(const struct report *report, FILE *out) {
    const struct options *o = &report->options;
    for (int i = 0; i < report->launch_count; i++) {
        char text[2 * MESSAGE_SIZE];
        launch_describe(&report->launches[i], "C", o->m, o->n, text);
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
        any |= report->launches[i].static_shared + report->launches[i].dynamic_shared > 0;
    return any;
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
        launch_explain(&report->launches[0], o->m, o->n, &report->explanations[i]);
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
    const struct options *o = &report->options;
    if (s.median > 0) s.gflops = 2.0 * o->m * o->n * o->k / s.median / 1e9;
    free(sorted);
    return s;
}
