/* The report: what a run prints, as text or as JSON, and how it ends when something hangs or
 * crashes. */
#define _GNU_SOURCE /* open_memstream, strsignal */
#include "shared.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
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

static void catch_ends(void);

void report_begin(struct report *report, const struct options *options, const char *backend,
                  int repeat) {
    *report = (struct report){
        .options = *options, .backend = backend, .repeat = repeat, .out = stdout, .stage = -1};
    for (int i = 0; i < STAGE_COUNT; i++) report->stage_seconds[i] = -1;
    if (options->json) { /* keep the real standard output for ourselves */
        int copy = dup(STDOUT_FILENO);
        FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
        if (out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) report->out = out;
    }
    catch_ends();
}

void report_stage(struct report *report, enum stage stage) {
    report->stage = stage;
    report->stage_start = clock_seconds();
    if (report->options.json) return;
    fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[stage]);
    fflush(report->out); /* so that it is seen even when the next thing hangs or crashes */
    report->line_open = true;
}

void report_stage_end(struct report *report) {
    double seconds = clock_seconds() - report->stage_start;
    report->stage_seconds[report->stage] = seconds;
    if (report->options.json) return;
    fprintf(report->out, "%9.3f s\n", seconds);
    fflush(report->out);
    report->line_open = false;
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

void report_launches(struct report *report) {
    struct summary s = summarize(report);
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
        if (report->line_open && isatty(STDOUT_FILENO))
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

/* One paragraph in lines of at most 80 columns; further lines are indented as far as `first` is
 * long. */
static void print_paragraph(const char *indent, const char *first, const char *text, FILE *out) {
    enum { WIDTH = 80 };
    int margin = (int)(strlen(indent) + strlen(first)), column = margin;
    fprintf(out, "%s%s", indent, first);
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > margin && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", margin, "");
            column = margin;
        }
        column += fprintf(out, "%s%.*s", column > margin ? " " : "", length, text);
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
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

/* TEST FAILED for a single cause that is known without looking at C. */
static void print_cause(const struct report *report, const char *message, FILE *out) {
    if (report->options.json)
        report_json(report, EXIT_WRONG, message, out);
    else
        fprintf(out, "%s\nTEST FAILED\n%s\n", report->line_open ? "\n" : "", message);
}

void report_stop(struct report *report, enum exit_status status, const char *format, ...) {
    char message[2 * MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    watchdog_stop();
    fflush(stdout); /* what the kernel printed */
    if (status == EXIT_WRONG) {
        print_cause(report, message, report->out);
    } else {
        if (report->line_open) fputc('\n', report->out);
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
    }
    fflush(report->out);
    free(report->samples);
    report->samples = NULL;
    return status;
}

/* -- watchdog --
 *
 * A thread of its own, because a student's loop on the host, a driver that waits for a GPU and a
 * fiber of the CPU backend all leave other threads running. All texts are made beforehand: when the
 * time comes, or in a signal handler, only write() and _exit() are called.
 */

enum { TIME_OVER, EXITED, FIRST_CRASH };

static const struct {
    int signal; /* 0: none */
    const char *format;
} endings[] = {
    [TIME_OVER] = {0, "basicSgemm did not end within %.3g s: a loop or a barrier that never ends?"},
    [EXITED] = {0, "basicSgemm ended the program instead of returning (exit)."},
    [FIRST_CRASH] = {SIGSEGV, "basicSgemm crashed on the host: invalid memory (SIGSEGV).\n"
                              "A, B and C are device pointers: only the kernel may follow them."},
    {SIGBUS, "basicSgemm crashed on the host: invalid memory (SIGBUS).\n"
             "A, B and C are device pointers: only the kernel may follow them."},
    {SIGFPE, "basicSgemm crashed: integer division by zero (SIGFPE)."},
    {SIGILL, "basicSgemm crashed: illegal instruction (SIGILL).\n"
             "Does every path of a function that returns a value return one?"},
    {SIGABRT, "basicSgemm crashed: aborted (SIGABRT)."},
};

enum { ENDINGS = (int)(sizeof endings / sizeof endings[0]) };

static struct {
    bool running, ended;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    struct timespec deadline;
    int descriptor;
    char *text[ENDINGS];
    size_t length[ENDINGS];
} watchdog;

static void end_run(int ending) {
    const char *text = watchdog.text[ending];
    size_t left = watchdog.length[ending];
    while (text && left > 0) {
        ssize_t written = write(watchdog.descriptor, text, left);
        if (written <= 0) break;
        text += written;
        left -= (size_t)written;
    }
    _exit(EXIT_WRONG);
}

/* Outside basicSgemm a crash is ours, and is left to the system. */
static void on_crash(int signal) {
    for (int i = FIRST_CRASH; i < ENDINGS && watchdog.running; i++) {
        if (endings[i].signal == signal) end_run(i);
    }
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
    raise(signal);
}

/* exit() in basicSgemm: without this the run would end with the student's status, even 0. */
static void on_exit_called(void) {
    if (!watchdog.running) return;
    fflush(stdout);
    end_run(EXITED);
}

/* Once, and before the CPU backend takes its own faults and hands on what is none of them.
 * Sanitizers, which were here before, know more about a crash than we do and keep it. */
static void catch_ends(void) {
    atexit(on_exit_called);
    static char stack[64 * 1024]; /* the thread's own may be what overflowed */
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack}, current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE))
        sigaltstack(&alternative, NULL);
    for (int i = FIRST_CRASH; i < ENDINGS; i++) {
        struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK}, before;
        sigaction(endings[i].signal, NULL, &before);
        if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
            sigaction(endings[i].signal, &action, NULL);
    }
}

static void *watchdog_run(void *unused) {
    int status = 0;
    pthread_mutex_lock(&watchdog.mutex);
    while (!watchdog.ended && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&watchdog.condition, &watchdog.mutex, &watchdog.deadline);
    if (!watchdog.ended) end_run(TIME_OVER);
    pthread_mutex_unlock(&watchdog.mutex);
    return unused;
}

static void make_texts(const struct report *report, double seconds) {
    for (int i = 0; i < ENDINGS; i++) {
        char message[MESSAGE_SIZE];
        watchdog.text[i] = NULL;
        FILE *out = open_memstream(&watchdog.text[i], &watchdog.length[i]);
        if (!out) continue;
        if (i == TIME_OVER)
            snprintf(message, sizeof message, endings[0].format, seconds);
        else
            snprintf(message, sizeof message, "%s", endings[i].format);
        print_cause(report, message, out);
        fclose(out);
    }
}

void watchdog_start(const struct report *report, double seconds) {
    pthread_condattr_t attributes;
    watchdog_stop();
    fflush(report->out);
    make_texts(report, seconds);
    watchdog.descriptor = fileno(report->out);
    watchdog.ended = false;
    clock_gettime(CLOCK_MONOTONIC, &watchdog.deadline);
    watchdog.deadline.tv_sec += (time_t)seconds;
    watchdog.deadline.tv_nsec += (long)((seconds - floor(seconds)) * 1e9);
    if (watchdog.deadline.tv_nsec >= 1000000000) {
        watchdog.deadline.tv_nsec -= 1000000000;
        watchdog.deadline.tv_sec++;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog.condition, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&watchdog.mutex, NULL);
    watchdog.running = pthread_create(&watchdog.thread, NULL, watchdog_run, NULL) == 0;
}

void watchdog_stop(void) {
    if (!watchdog.running) return;
    pthread_mutex_lock(&watchdog.mutex);
    watchdog.ended = true;
    pthread_cond_signal(&watchdog.condition);
    pthread_mutex_unlock(&watchdog.mutex);
    pthread_join(watchdog.thread, NULL);
    pthread_cond_destroy(&watchdog.condition);
    pthread_mutex_destroy(&watchdog.mutex);
    for (int i = 0; i < ENDINGS; i++) {
        free(watchdog.text[i]);
        watchdog.text[i] = NULL;
    }
    watchdog.running = false;
}
