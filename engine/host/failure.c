/* A failure in words: damage outside C, how much of C is wrong or was never written, the first
 * wrong elements, a map of C, and what C is instead. */
#include "failure.h"
#include "../report/numbers.h"
#include "../report/text.h"
#include "launch_report.h"

#include <inttypes.h>
#include <string.h>

static void print_damage(const struct report *report) {
    for (int i = 0; i < MATRIX_COUNT; i++) {
        const struct damage *d = &report->damage[i];
        const char letter = "ABC"[i];
        if (d->elements)
            fprintf(report->out,
                    "%" PRIu64 " element%s of the input %c changed: only C may be written.\n",
                    d->elements, plural(d->elements), letter);
        if (d->before)
            fprintf(report->out,
                    "%" PRIu64 " float%s just before %c %s overwritten: an index is negative.\n",
                    d->before, plural(d->before), letter, was_or_were(d->before));
        if (d->after)
            fprintf(report->out,
                    "%" PRIu64 " float%s just after %c %s overwritten: is each store guarded?\n",
                    d->after, plural(d->after), letter, was_or_were(d->after));
    }
}

/* "rows 3 to 5" */
static void print_span(FILE *out, const char *what, int first, int last) {
    if (first == last)
        fprintf(out, "%s %d", what, first);
    else
        fprintf(out, "%ss %d to %d", what, first, last);
}

static void print_box(const struct report *report, const struct box *box, uint64_t count) {
    fputs(count == 1 ? "It is in " : "They lie in ", report->out);
    print_span(report->out, "row", box->row_first, box->row_last);
    fputs(", ", report->out);
    print_span(report->out, "column", box->col_first, box->col_last);
    fputs(".\n", report->out);
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
            v->unwritten, elements, was_or_were(v->unwritten));
    print_box(report, &v->unwritten_box, v->unwritten);
    if (report->explanation_count == 0)
        fputs("Each element needs a thread: does the grid, rounded up, cover all of C?\n",
              report->out);
}

static void print_first(const struct report *report) {
    const struct verdict *v = &report->verdict;
    fprintf(report->out, "%10s %10s %16s %16s %16s\n", "row", "column", "expected", "got",
            "tolerance");
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

static bool explains_nan(const struct report *report) {
    bool explained = false;
    for (int i = 0; i < report->explanation_count; i++)
        explained |= report->explanations[i].about_nan;
    return explained;
}

static void print_wrong(const struct report *report) {
    const struct verdict *v = &report->verdict;
    const struct options *o = &report->options;
    fprintf(report->out, "%" PRIu64 " of the %" PRIu64 " elements of C%s %s wrong.\n", v->wrong,
            v->compared, v->mode == VERIFY_QUICK ? " that were compared" : "", is_or_are(v->wrong));
    if (v->nan)
        fprintf(report->out, "%" PRIu64 " of them %s NaN%s\n", v->nan, is_or_are(v->nan),
                explains_nan(report) ? "."
                : report_has_shared(report)
                    ? ": the kernel read outside A or B, or read shared memory,\n"
                      "C or a variable before it was written."
                    : ": the kernel read outside A or B, or read C or a\n"
                      "variable before it was written.");
    print_box(report, &v->wrong_box, v->wrong);
    print_first(report);
    if (o->fill == FILL_IDENTITY)
        fprintf(report->out,
                "Each value gives its place in B: row * %" PRId64 " + column.\n"
                "Expected is C[i][j] = B[i %% k][j].\n",
                place_base(o->n));
    if (o->fill == FILL_INDEX)
        fprintf(report->out,
                "Each value gives its place in A: row * %" PRId64 " + column.\n"
                "Expected is C[i][j] = A[i][j %% k].\n",
                place_base(o->k));
}

/* -- the map -- */

static const struct {
    char cell;
    const char *colour, *meaning;
} legend[] = {
    {CELL_RIGHT, "\33[0;32m", ". right"},
    {CELL_PARTLY_WRONG, "\33[0;31m", "x some wrong"},
    {CELL_WRONG, "\33[0;31;1m", "X all wrong"},
    {CELL_PARTLY_UNWRITTEN, "\33[0;33m", "u some never written"},
    {CELL_UNWRITTEN, "\33[0;33;1m", "U none written"},
    {CELL_UNKNOWN, "\33[0m", "blank not compared"},
};

static void print_cells(const char *cells, int count, bool colour, FILE *out) {
    for (int j = 0; j < count; j++) {
        for (int l = 0; colour && l < LENGTH(legend); l++) {
            bool change = j == 0 || cells[j - 1] != cells[j];
            if (change && legend[l].cell == cells[j]) fputs(legend[l].colour, out);
        }
        fputc(cells[j], out);
    }
    fputs(colour ? "\33[0m" : "", out);
}

static void print_map(const struct report *report) {
    const struct verdict *v = &report->verdict;
    bool colour = use_colour(report->out);
    fprintf(report->out, "\nC, one character for %d rows x %d columns:\n", v->cell_rows,
            v->cell_cols);
    for (int i = 0; i < v->map_rows; i++) {
        fprintf(report->out, "%s%10d |", i == 0 ? " row" : "    ", i * v->cell_rows);
        print_cells(v->map[i], v->map_cols, colour, report->out);
        fputs("|\n", report->out);
    }
    fputs("   ", report->out);
    for (int l = 0; l < LENGTH(legend); l++) {
        bool used = false;
        for (int i = 0; i < v->map_rows; i++)
            used = used || memchr(v->map[i], legend[l].cell, (size_t)v->map_cols) != NULL;
        if (used) fprintf(report->out, "  %s", legend[l].meaning);
    }
    fputc('\n', report->out);
}

/* -- all of it -- */

static void print_explanations(const struct report *report) {
    for (int i = 0; i < report->explanation_count; i++) {
        fputc('\n', report->out);
        print_paragraph("", "", report->explanations[i].text, report->out);
        print_paragraph("", "hint: ", report->explanations[i].hint, report->out);
    }
}

static void print_not_float32(const struct verdict *v, FILE *out) {
    char text[400];
    snprintf(text, sizeof text,
             "The result is not float32: its errors are up to %.3g u of |A||B| (rms %.3g u), "
             "u = 2^-24, where float32 in any order stays below %g u (rms %g u). "
             "Were inputs or sums rounded to TF32, BF16 or FP16?",
             v->max_error_u, v->rms_error_u, FLOAT32_MAX_U, FLOAT32_RMS_U);
    print_paragraph("", "", text, out);
}

static void print_verdict(const struct report *report) {
    const struct verdict *v = &report->verdict;
    uint64_t elements = (uint64_t)report->options.m * (uint64_t)report->options.n;
    if (v->unwritten) print_unwritten(report, elements);
    if (v->wrong) print_wrong(report);
    if (v->suspect_rows)
        fprintf(report->out, "%d more row%s of C fail%s Freivalds' check.\n", v->suspect_rows,
                plural((uint64_t)v->suspect_rows), v->suspect_rows == 1 ? "s" : "");
    if (v->not_float32) print_not_float32(v, report->out);
    if ((v->wrong || v->unwritten) && v->unwritten < elements && v->map_rows * v->map_cols > 1)
        print_map(report);
    if (v->unwritten < elements) print_explanations(report);
}

void report_failure(const struct report *report) {
    print_damage(report);
    if (report->verified) print_verdict(report);
}
