/* The report: what a run prints, as text or as JSON. How it ends when something hangs or crashes is
 * in watchdog.c. */
#define _GNU_SOURCE
#include "shared.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TIME_COLUMN = 42 }; /* the longest stage line, and some air */

static const char *const stage_text[STAGE_COUNT] = {
    "Setting up the problem...",           "Allocating device variables...",
    "Copying data from host to device...", "Launching kernel...",
    "Copying data from device to host...", "Verifying results...",
};
static const char *const stage_key[STAGE_COUNT] = {"setup",  "allocate",    "to_device",
                                                   "launch", "from_device", "verify"};
static const char *const matrix_letter[MATRIX_COUNT] = {"A", "B", "C"};

void report_begin(struct report *report, const struct options *options, const char *backend,
                  int repeat) {
    *report = (struct report){.options = *options,
                              .backend = backend,
                              .repeat = repeat,
                              .source = source_state(),
                              .out = stdout,
                              .stage = -1};
    for (int i = 0; i < STAGE_COUNT; i++) report->stage_seconds[i] = -1;
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0) /* closed: nothing else may get its number */
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    if (options->json) { /* keep the real standard output for ourselves */
        int copy = dup(STDOUT_FILENO);
        FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
        if (out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) report->out = out;
    }
    watchdog_catch_ends();
}

void report_stage(struct report *report, enum stage stage) {
    report->stage = stage;
    report->stage_start = clock_seconds();
    if (report->options.json) return;
    fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[stage]);
    fflush(report->out); /* so that it is seen even when the next thing hangs or crashes */
    report->line = LINE_OF_STAGE;
}

void report_stage_end(struct report *report) {
    double seconds = clock_seconds() - report->stage_start;
    report->stage_seconds[report->stage] = seconds;
    if (report->options.json) return;
    if (report->line != LINE_OF_STAGE) { /* something was printed behind it */
        report_end_line(report);
        fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[report->stage]);
    }
    fprintf(report->out, "%9.3f s\n", seconds);
    fflush(report->out);
    report->line = LINE_START;
}

void report_end_line(struct report *report) {
    if (report->line != LINE_START) fputc('\n', report->out);
    report->line = LINE_START;
}

void report_detail(struct report *report, const char *format, ...) {
    if (report->options.json) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("    ", report->out);
    vfprintf(report->out, format, arguments);
    fputc('\n', report->out);
    va_end(arguments);
}

void report_sample(struct report *report, double seconds) {
    if (!report->samples) report->samples = calloc((size_t)report->repeat, sizeof *report->samples);
    if (!report->samples)
        report_stop(report, EXIT_MACHINE, "out of memory for %d times", report->repeat);
    report->samples[report->sample_count++] = seconds;
}

struct summary {
    double median, min, max, gflops; /* seconds; gflops of the median */
};

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the timed launches; all NaN when there is none. */
static struct summary summarize(const struct report *report) {
    struct summary s = {NAN, NAN, NAN, NAN};
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

void print_paragraph(const char *indent, const char *first, const char *text, FILE *out) {
    enum { WIDTH = 80 };
    int margin = (int)(strlen(indent) + strlen(first)), column = margin;
    fprintf(out, "%s%s", indent, first);
    while (*text && *text != '\n') {
        int length = (int)strcspn(text, " \n");
        if (column > margin && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", margin, "");
            column = margin;
        }
        column += fprintf(out, "%s%.*s", column > margin ? " " : "", length, text);
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

/* -- launches -- */

static bool same_launch(const struct launch_shape *a, const struct launch_shape *b) {
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->static_shared == b->static_shared && a->dynamic_shared == b->dynamic_shared;
}

void report_launch(struct report *report, const struct launch_shape *launch) {
    int last = report->launch_count - 1;
    if (last >= 0 && !report->launches_left_out && same_launch(&report->launches[last], launch)) {
        report->launch_repeats[last]++;
    } else if (report->launch_count < REPORTED_LAUNCHES) {
        report->launches[report->launch_count] = *launch;
        report->launch_repeats[report->launch_count++] = 1;
    } else {
        report->launches_left_out++;
    }
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

struct extent {
    char text[48];
};

/* "44 x 63": without the 1s at its end. */
static struct extent extent(const unsigned size[3]) {
    struct extent e;
    int length = snprintf(e.text, sizeof e.text, "%u", size[0]);
    int shown = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
    for (int i = 1; i < shown; i++)
        length += snprintf(e.text + length, sizeof e.text - (size_t)length, " x %u", size[i]);
    return e;
}

static void print_launch(const struct report *report, int index) {
    const struct launch_shape *l = &report->launches[index];
    size_t shared = l->static_shared + l->dynamic_shared;
    char text[MESSAGE_SIZE], dynamic[48] = "", repeats[32] = "";
    if (l->dynamic_shared)
        snprintf(dynamic, sizeof dynamic, ", %zu of them dynamic", l->dynamic_shared);
    if (report->launch_repeats[index] > 1)
        snprintf(repeats, sizeof repeats, ", %d times", report->launch_repeats[index]);
    snprintf(text, sizeof text, "%s, grid %s, block %s, %zu bytes of shared memory%s%s", l->kernel,
             extent(l->grid).text, extent(l->block).text, shared, dynamic, repeats);
    print_paragraph("    ", "", text, report->out);
}

static void print_launches(struct report *report) {
    if (report->options.json) return;
    for (int i = 0; i < report->launch_count; i++) print_launch(report, i);
    if (report->launches_left_out)
        report_detail(report, "and %d more launches", report->launches_left_out);
}

void report_launches(struct report *report) {
    struct summary s = summarize(report);
    print_launches(report);
    bool cpu = strcmp(report->backend, "cpu") == 0;
    char spread[96] = "", rate[64] = "";
    if (report->sample_count > 1)
        snprintf(spread, sizeof spread, ", median of %d (%.3f to %.3f)", report->sample_count,
                 1e3 * s.min, 1e3 * s.max);
    if (!cpu) snprintf(rate, sizeof rate, ", %.4g GFLOP/s", s.gflops);
    report_detail(report, "kernel %.3f ms%s%s", 1e3 * s.median, spread, rate);
    if (cpu) report_detail(report, "(on the CPU: it predicts nothing about the time on a GPU)");
}

/* -- progress: on standard error, for those who watch and would have to wait -- */

struct progress_bar {
    double start;
    bool shown;
};

static void progress_show(void *context, double fraction) {
    const double patience = 2.0; /* seconds */
    struct progress_bar *bar = context;
    if (clock_seconds() - bar->start < patience) return;
    fprintf(stderr, "\rverified %3.0f %%", 100 * fraction);
    fflush(stderr);
    bar->shown = true;
}

void report_verify(struct report *report, const float *A, const float *B, const float *C) {
    const struct options *o = &report->options;
    struct problem problem = {.m = o->m,
                              .n = o->n,
                              .k = o->k,
                              .A = A,
                              .B = B,
                              .C = C,
                              .comparison = fill_comparison(o->fill, o->m, o->n, o->k),
                              .seed = o->seed};
    struct progress_bar bar = {.start = clock_seconds()};
    struct progress progress = {progress_show, &bar};
    bool watched = isatty(STDERR_FILENO);
    bool enough = verify(&problem, o->verify, watched ? &progress : NULL, &report->verdict);
    if (bar.shown) {
        fputs("\r              \r", stderr);
        /* The wiped line held the stage's name when both streams are one terminal. */
        if (report->line == LINE_OF_STAGE && isatty(STDOUT_FILENO))
            fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[report->stage]);
    }
    if (!enough) report_stop(report, EXIT_MACHINE, "out of memory while verifying");
    report->verified = o->verify != VERIFY_NONE;
    report->explanation_count = explain(&problem, &report->verdict, report->explanations);
}

/* -- what is known about a failure, in words -- */

struct span {
    char text[64];
};

static struct span span(const char *what, int first, int last) {
    struct span s;
    if (first == last)
        snprintf(s.text, sizeof s.text, "%s %d", what, first);
    else
        snprintf(s.text, sizeof s.text, "%ss %d..%d", what, first, last);
    return s;
}

static void print_box(const struct report *report, const struct box *box, uint64_t count) {
    fprintf(report->out, "%s %s, %s.\n", count == 1 ? "It is in" : "They lie within",
            span("row", box->row_first, box->row_last).text,
            span("column", box->col_first, box->col_last).text);
}

static void print_first(const struct report *report) {
    const struct verdict *v = &report->verdict;
    fprintf(report->out, "%10s %10s %16s %16s %16s\n", "row", "column", "expected", "got",
            "may be off by");
    for (int i = 0; i < v->first_count; i++) {
        const struct wrong_element *e = &v->first[i];
        fprintf(report->out, "%10d %10d %16.9g %16.9g ", e->row, e->col, e->expected,
                (double)e->got);
        if (v->comparison == COMPARE_EXACT)
            fprintf(report->out, "%16s\n", "0 (exact)");
        else
            fprintf(report->out, "%16.2e\n", e->bound);
    }
    if (v->wrong > (uint64_t)v->first_count) fprintf(report->out, "%10s\n", "...");
}

bool use_colour(FILE *out) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && !(no_colour && *no_colour) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

static const struct {
    char cell;
    const char *colour, *meaning;
} legend[] = {
    {CELL_RIGHT, "\33[0;32m", "right"},
    {CELL_PARTLY_WRONG, "\33[0;31m", "some wrong"},
    {CELL_WRONG, "\33[0;31;1m", "all wrong"},
    {CELL_PARTLY_UNWRITTEN, "\33[0;33m", "some never written"},
    {CELL_UNWRITTEN, "\33[0;33;1m", "none written"},
    {CELL_UNKNOWN, "\33[0m", "not compared"},
};

static const char *cell_colour(char cell) {
    for (int i = 0; i < LENGTH(legend); i++) {
        if (legend[i].cell == cell) return legend[i].colour;
    }
    return "";
}

static void print_map(const struct report *report) {
    const struct verdict *v = &report->verdict;
    bool colour = use_colour(report->out);
    fprintf(report->out, "\nC, one character for %d rows x %d columns:\n", v->cell_rows,
            v->cell_cols);
    for (int i = 0; i < v->map_rows; i++) {
        fprintf(report->out, "%s%10d |", i == 0 ? " row" : "    ", i * v->cell_rows);
        for (int j = 0; j < v->map_cols; j++) {
            char cell = v->map[i][j];
            bool change = colour && (j == 0 || v->map[i][j - 1] != cell);
            fprintf(report->out, "%s%c", change ? cell_colour(cell) : "", cell);
        }
        fprintf(report->out, "%s|\n", colour ? "\33[0m" : "");
    }
    fputs("   ", report->out);
    for (int l = 0; l < LENGTH(legend); l++) {
        bool used = false;
        for (int i = 0; i < v->map_rows; i++)
            used = used || memchr(v->map[i], legend[l].cell, (size_t)v->map_cols) != NULL;
        if (used && legend[l].cell == CELL_UNKNOWN)
            fprintf(report->out, "  blank %s", legend[l].meaning);
        else if (used)
            fprintf(report->out, "  %c %s", legend[l].cell, legend[l].meaning);
    }
    fputc('\n', report->out);
}

static void print_unwritten(const struct report *report, uint64_t elements) {
    const struct verdict *v = &report->verdict;
    if (v->unwritten == elements) {
        if (elements == 1)
            fputs("The one element of C was not written.\n", report->out);
        else
            fprintf(report->out, "None of the %" PRIu64 " elements of C were written.\n", elements);
        fputs("Start in kernel.cu: basicSgemm launches mysgemm with enough threads, and\n"
              "each thread of mysgemm computes one element of C and stores it.\n",
              report->out);
        return;
    }
    fprintf(report->out, "%" PRIu64 " of the %" PRIu64 " elements of C %s never written.\n",
            v->unwritten, elements, v->unwritten == 1 ? "was" : "were");
    print_box(report, &v->unwritten_box, v->unwritten);
    if (report->explanation_count == 0)
        fputs("Each element needs a thread: does the grid, rounded up, cover all of C?\n",
              report->out);
}

/* Is it known where the NaN came from? */
static bool explains_nan(const struct report *report) {
    for (int i = 0; i < report->explanation_count; i++) {
        if (strstr(report->explanations[i].text, "NaN")) return true;
    }
    return false;
}

static void print_wrong(const struct report *report) {
    const struct verdict *v = &report->verdict;
    const struct options *o = &report->options;
    fprintf(report->out, "%" PRIu64 " of the %" PRIu64 " elements of C%s %s wrong.\n", v->wrong,
            v->compared, v->mode == VERIFY_QUICK ? " that were compared" : "",
            v->wrong == 1 ? "is" : "are");
    if (v->nan && explains_nan(report)) {
        fprintf(report->out, "%" PRIu64 " of them %s NaN.\n", v->nan, v->nan == 1 ? "is" : "are");
    } else if (v->nan) {
        fprintf(report->out,
                "%" PRIu64 " of them %s NaN: something was read that lies outside A "
                "and B,\nor in shared memory or C before it was written.\n",
                v->nan, v->nan == 1 ? "is" : "are");
    }
    print_box(report, &v->wrong_box, v->wrong);
    print_first(report);
    if (o->fill == FILL_IDENTITY || o->fill == FILL_INDEX) {
        bool identity = o->fill == FILL_IDENTITY;
        fprintf(report->out,
                "Values name their place in %s, row * %" PRId64 " + column.\nRight is %s.\n",
                identity ? "B" : "A", place_base(identity ? o->n : o->k),
                identity ? "C[i][j] = B[i % k][j]" : "C[i][j] = A[i][j % k]");
    }
}

void report_explanation(const struct explanation *explanation, const char *indent, FILE *out) {
    print_paragraph(indent, "", explanation->text, out);
    if (explanation->hint[0]) print_paragraph(indent, "hint: ", explanation->hint, out);
}

static void print_explanations(const struct report *report) {
    for (int i = 0; i < report->explanation_count; i++) {
        fputc('\n', report->out);
        report_explanation(&report->explanations[i], "", report->out);
    }
}

static void print_verdict(const struct report *report) {
    const struct verdict *v = &report->verdict;
    uint64_t elements = (uint64_t)report->options.m * (uint64_t)report->options.n;
    if (v->unwritten) print_unwritten(report, elements);
    if (v->wrong) print_wrong(report);
    if (v->suspect_rows)
        fprintf(report->out, "%d more row%s of C fail%s Freivalds' check.\n", v->suspect_rows,
                v->suspect_rows == 1 ? "" : "s", v->suspect_rows == 1 ? "s" : "");
    if (v->not_float32)
        fprintf(report->out,
                "The result is not float32: its errors are up to %.3g u of |A||B| (rms %.3g u),\n"
                "u = 2^-24, where float32 in any order stays below %g u (rms %g u).\n"
                "Inputs or sums were rounded to less: TF32, BF16 or FP16?\n",
                v->max_error_u, v->rms_error_u, FLOAT32_MAX_U, FLOAT32_RMS_U);
    if ((v->wrong || v->unwritten) && v->unwritten < elements && v->map_rows * v->map_cols > 1)
        print_map(report);
    if (v->unwritten < elements) print_explanations(report);
}

static bool guards_changed(const struct report *report) {
    for (int i = 0; i < MATRIX_COUNT; i++) {
        if (report->damage[i].before || report->damage[i].after) return true;
    }
    return false;
}

static bool inputs_changed(const struct report *report) {
    return report->damage[MATRIX_A].elements || report->damage[MATRIX_B].elements;
}

static void print_damage(const struct report *report) {
    for (int i = 0; i < MATRIX_COUNT; i++) {
        const struct damage *d = &report->damage[i];
        if (d->elements)
            fprintf(report->out,
                    "%" PRIu64 " element%s of the input %s changed: only C may be "
                    "written.\n",
                    d->elements, d->elements == 1 ? "" : "s", matrix_letter[i]);
        if (d->before)
            fprintf(report->out,
                    "%" PRIu64 " float%s just before %s %s overwritten: an index is "
                    "negative.\n",
                    d->before, d->before == 1 ? "" : "s", matrix_letter[i],
                    d->before == 1 ? "was" : "were");
        if (d->after)
            fprintf(report->out,
                    "%" PRIu64 " float%s just after %s %s overwritten: is each store "
                    "guarded?\n",
                    d->after, d->after == 1 ? "" : "s", matrix_letter[i],
                    d->after == 1 ? "was" : "were");
    }
}

/* make check after a failure and, because a race may have a right answer by luck, after a pass. */
static void print_next(const struct report *report, FILE *out) {
    source_print_next(report->source, "./sgemm", "make", "make check", out);
}

static void print_passed(const struct report *report) {
    const struct verdict *v = &report->verdict;
    uint64_t elements = (uint64_t)report->options.m * (uint64_t)report->options.n;
    fprintf(report->out, "TEST PASSED %" PRIu64 "\n", v->compared);
    if (v->compared < elements)
        fprintf(report->out,
                "%" PRIu64 " of %" PRIu64 " elements were compared (--verify quick),\n"
                "and every row was checked as a whole.\n",
                v->compared, elements);
}

static void print_failed(const struct report *report) {
    fputs("TEST FAILED\n", report->out);
    print_damage(report);
    if (report->verified) print_verdict(report);
}

/* -- JSON -- */

/* The same for what may not have been measured: null. */
static void json_measured(FILE *out, bool measured, double value) {
    if (measured)
        json_number(out, value);
    else
        fputs("null", out);
}

static void json_box(FILE *out, const struct box *box) {
    if (box->row_first > box->row_last)
        fputs("null", out);
    else
        fprintf(out, "{\"rows\": [%d, %d], \"columns\": [%d, %d]}", box->row_first, box->row_last,
                box->col_first, box->col_last);
}

static void json_times(const struct report *report, FILE *out) {
    struct summary s = summarize(report);
    bool timed = report->sample_count > 0;
    fputs(", \"times\": {", out);
    for (int i = 0; i < STAGE_COUNT; i++) {
        fprintf(out, "\"%s\": ", stage_key[i]);
        json_measured(out, report->stage_seconds[i] >= 0, report->stage_seconds[i]);
        fputs(", ", out);
    }
    fputs("\"kernel\": [", out);
    for (int i = 0; i < report->sample_count; i++) {
        fputs(i ? ", " : "", out);
        json_number(out, report->samples[i]);
    }
    fputs("]}, \"median\": ", out);
    json_measured(out, timed, s.median);
    fputs(", \"min\": ", out);
    json_measured(out, timed, s.min);
    fputs(", \"max\": ", out);
    json_measured(out, timed, s.max);
    fputs(", \"gflops\": ", out);
    json_measured(out, timed && isfinite(s.gflops), s.gflops);
}

static void json_verdict(const struct verdict *v, FILE *out) {
    fprintf(out,
            ", \"compared\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"nan\": %" PRIu64
            ", \"unwritten\": %" PRIu64 ", \"suspect_rows\": %d, \"not_float32\": %s",
            v->compared, v->wrong, v->nan, v->unwritten, v->suspect_rows,
            v->not_float32 ? "true" : "false");
    fputs(", \"max_error_u\": ", out);
    json_number(out, v->max_error_u);
    fputs(", \"rms_error_u\": ", out);
    json_number(out, v->rms_error_u);
    fputs(", \"first_wrong\": [", out);
    for (int i = 0; i < v->first_count; i++) {
        const struct wrong_element *e = &v->first[i];
        fprintf(out, "%s{\"row\": %d, \"column\": %d, \"expected\": ", i ? ", " : "", e->row,
                e->col);
        json_number(out, e->expected);
        fputs(", \"got\": ", out);
        json_number(out, (double)e->got);
        fputs(", \"bound\": ", out);
        json_number(out, e->bound);
        fputc('}', out);
    }
    fputs("], \"wrong_box\": ", out);
    json_box(out, &v->wrong_box);
    fputs(", \"unwritten_box\": ", out);
    json_box(out, &v->unwritten_box);
    fprintf(out, ", \"map\": {\"cell_rows\": %d, \"cell_columns\": %d, \"rows\": [", v->cell_rows,
            v->cell_cols);
    for (int i = 0; i < v->map_rows; i++)
        fprintf(out, "%s\"%.*s\"", i ? ", " : "", v->map_cols, v->map[i]);
    fputs("]}", out);
}

static void json_explanations(const struct report *report, FILE *out) {
    fputs(", \"explanations\": [", out);
    for (int i = 0; i < report->explanation_count; i++) {
        const struct explanation *e = &report->explanations[i];
        fprintf(out, "%s{\"formula\": ", i ? ", " : "");
        json_string(out, e->formula);
        fputs(", \"text\": ", out);
        json_string(out, e->text);
        fputs(", \"hint\": ", out);
        json_string(out, e->hint);
        fprintf(out, ", \"explained\": %" PRIu64 ", \"of\": %" PRIu64 "}", e->explained, e->of);
    }
    fputc(']', out);
}

static void json_launches(const struct report *report, FILE *out) {
    fputs(", \"launches\": [", out);
    for (int i = 0; i < report->launch_count; i++) {
        const struct launch_shape *l = &report->launches[i];
        fputs(i ? ", {" : "{", out);
        json_member(out, "kernel", l->kernel);
        fprintf(out,
                ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"static_shared\": %zu, "
                "\"dynamic_shared\": %zu, \"times\": %d}",
                l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                l->static_shared, l->dynamic_shared, report->launch_repeats[i]);
    }
    fprintf(out, "], \"launches_left_out\": %d", report->launches_left_out);
}

static void json_run(const struct report *report, FILE *out) {
    const struct options *o = &report->options;
    const struct damage *d = report->damage;
    fprintf(out, ", \"m\": %d, \"n\": %d, \"k\": %d, \"seed\": %" PRIu64, o->m, o->n, o->k,
            o->seed);
    fprintf(out, ", \"fill\": \"%s\", \"verify\": \"%s\", \"backend\": \"%s\", \"repeat\": %d",
            fill_name(o->fill), verify_name(o->verify), report->backend, report->repeat);
    fputs(", \"device\": ", out);
    if (report->device[0])
        json_string(out, report->device);
    else
        fputs("null", out);
    fputs(", ", out);
    source_json(report->source, out);
    json_launches(report, out);
    json_times(report, out);
    fprintf(out, ", \"inputs_changed\": {\"A\": %" PRIu64 ", \"B\": %" PRIu64 "}",
            d[MATRIX_A].elements, d[MATRIX_B].elements);
    fputs(", \"guard_writes\": {", out);
    for (int i = 0; i < MATRIX_COUNT; i++)
        fprintf(out, "%s\"%s\": [%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", matrix_letter[i],
                d[i].before, d[i].after);
    fputc('}', out);
    if (!report->verified) return;
    json_verdict(&report->verdict, out);
    json_explanations(report, out);
}

/* One object on one line. Always:
 *   status       "passed", "failed", "unverified" (--verify none) or "error"
 *   exit_status  0 .. 3
 *   message      what happened, on an error or a failure that has a single cause; else null
 * Once the command line was understood (report != NULL):
 *   m, n, k, seed (up to 2^64 - 1), fill, verify, backend ("cuda" or "cpu"), repeat
 *   device       its name, or null when there was none
 *   source       file: what the program was built from; changed: whether it has changed since, null
 *                when the file is gone
 *   launches     of one call of basicSgemm, equal ones in a row once: kernel, grid, block,
 *                static_shared, dynamic_shared (bytes for each block), times; and of
 *   launches_left_out  so many nothing is said
 *   times        seconds of each stage (null: not reached), kernel: those of each timed launch
 *   median, min, max, gflops   of the launches, null when none was timed
 *   inputs_changed  elements of A and of B that the kernel overwrote
 *   guard_writes    for A, B and C: floats overwritten just before and just after the matrix
 * Once the result was compared: the members of struct verdict under their own names, with
 *   first_wrong  row, column, expected, got, bound of the first ones
 *   wrong_box, unwritten_box   first and last row and column, or null
 *   map          cell_rows, cell_columns, rows: strings of enum cell
 *   explanations   what C is instead: formula, text, hint, explained, of; see docs/correctness.md
 * A number that is not finite is one of the strings "NaN", "Infinity", "-Infinity". */
void report_json(const struct report *report, enum exit_status status, const char *message,
                 FILE *out) {
    static const char *const words[] = {"passed", "failed", "error", "error"};
    bool unverified = status == EXIT_PASSED && report && !report->verified;
    fprintf(out, "{\"status\": \"%s\", \"exit_status\": %d, \"message\": ",
            unverified ? "unverified" : words[status], status);
    if (message)
        json_string(out, message);
    else
        fputs("null", out);
    if (report) json_run(report, out);
    fputs("}\n", out);
}

/* -- the end of a run -- */

void report_cause(const struct report *report, const char *message, FILE *out) {
    if (report->options.json) {
        report_json(report, EXIT_WRONG, message, out);
        return;
    }
    fputs("\nTEST FAILED\n", out);
    for (const char *line = message; *line; line += *line == '\n') {
        print_paragraph("", "", line, out);
        line += strcspn(line, "\n");
    }
    print_next(report, out);
}

void report_stop(struct report *report, enum exit_status status, const char *format, ...) {
    char message[2 * MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    watchdog_stop();
    fflush(stdout); /* what the kernel printed */
    if (!report->options.json) report_end_line(report);
    if (status == EXIT_WRONG) {
        report_cause(report, message, report->out);
    } else {
        if (report->options.json) report_json(report, status, message, report->out);
        fflush(report->out);
        fprintf(stderr, "sgemm: %s\n", message);
    }
    fflush(report->out);
    exit(status);
}

enum exit_status report_end(struct report *report) {
    bool intact = !inputs_changed(report) && !guards_changed(report);
    enum exit_status status = EXIT_PASSED;
    if (report->verified && !(report->verdict.passed && intact)) status = EXIT_WRONG;
    if (report->options.json) {
        report_json(report, status, NULL, report->out);
    } else {
        fputc('\n', report->out);
        if (status == EXIT_WRONG)
            print_failed(report);
        else if (report->verified)
            print_passed(report);
        else
            fputs("NOT VERIFIED\nC was not compared with anything (--verify none).\n", report->out);
        print_next(report, report->out);
    }
    fflush(report->out);
    free(report->samples);
    report->samples = NULL;
    return status;
}
