/* A failure in words: damage outside C, how much of C is wrong or was never written, the first
 * wrong elements, a map of C, and what C is instead. */
#include "../../form/box.h"
#include "../../report/text/numbers.h"
#include "../../report/text/text.h"
#include "report.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* The output that the verdict describes. */
static const struct lab_array *the_output(const struct report *report) {
    return &lab.arrays[report->verified ? report->verdict.array : lab_first_output(&lab)];
}
static const char *output_name(const struct report *report) { return the_output(report)->name; }
static bool output_has_rows(const struct report *report) {
    return the_output(report)->dimensions > 1;
}

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
static void print_span(FILE *out, const char *what, int first, int last) {
    if (first == last)
        fprintf(out, "%s %d", what, first);
    else
        fprintf(out, "%ss %d to %d", what, first, last);
}

/* They may be all of the box, or some within it; a box of all elements says nothing. */
static void print_box(const struct report *report, const struct box *box, uint64_t count) {
    const uint64_t elements = box_elements(box);
    const bool whole = count == elements;
    if (elements == (uint64_t)lab_elements(the_output(report), &report->options.which.shape))
        return;
    if (count == 1)
        fputs(output_has_rows(report) ? "It is in " : "It is ", report->out);
    else
        fputs(whole ? "They are all of " : "They lie within ", report->out);
    if (output_has_rows(report)) {
        print_span(report->out, "row", box->row_first, box->row_last);
        fputs(", ", report->out);
    }
    print_span(report->out, output_has_rows(report) ? "column" : "element", box->col_first,
               box->col_last);
    fputs(".\n", report->out);
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
    if (report->explanation_count == 0 && !report_has_threads(report))
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

static bool explains_nan(const struct report *report) {
    bool explained = false;
    for (int i = 0; i < report->explanation_count; i++)
        explained |= report->explanations[i].about_nan;
    return explained;
}

static void print_nan(const struct report *report) {
    const struct verdict *v = &report->verdict;
    if (v->nan < v->wrong)
        fprintf(report->out, "%s of them %s", grouped(v->nan).text, is_or_are(v->nan));
    else
        fputs(v->nan == 1 ? "It is" : "All of them are", report->out);
    fprintf(report->out, " NaN%s\n",
            explains_nan(report) || !lab.nan ? "."
            : report_has_shared(report)      ? lab.nan_with_shared
                                             : lab.nan);
}

static void print_wrong(const struct report *report) {
    const struct verdict *v = &report->verdict;
    struct how_many wrong = how_many(v->wrong, v->compared);
    wrong.text[0] = (char)toupper((unsigned char)wrong.text[0]);
    fprintf(report->out, "%s of %s%s %s wrong.\n", wrong.text, output_name(report),
            v->mode == VERIFY_QUICK ? " that were compared" : "", is_or_are(v->wrong));
    if (v->nan) print_nan(report);
    print_box(report, &v->wrong_box, v->wrong);
    print_first(report);
    if (lab_truth.say_fill) lab_truth.say_fill(&report->options.which, report->out);
}

/* -- the map -- */

static const struct {
    char cell;
    const char *color, *meaning;
} legend[] = {
    {CELL_RIGHT, "\33[0;32m", ". correct"},
    {CELL_PARTLY_WRONG, "\33[0;31m", "x some wrong"},
    {CELL_WRONG, "\33[0;31;1m", "X all wrong"},
    {CELL_PARTLY_UNWRITTEN, "\33[0;33m", "u some never written"},
    {CELL_UNWRITTEN, "\33[0;33;1m", "U none written"},
    {CELL_UNKNOWN, "\33[0m", "blank not compared"},
};

static void print_cells(const char *cells, int count, bool color, FILE *out) {
    for (int j = 0; j < count; j++) {
        for (int l = 0; color && l < LENGTH(legend); l++) {
            bool change = j == 0 || cells[j - 1] != cells[j];
            if (change && legend[l].cell == cells[j]) fputs(legend[l].color, out);
        }
        fputc(cells[j], out);
    }
    fputs(color ? "\33[0m" : "", out);
}

static void print_map(const struct report *report) {
    const struct verdict *v = &report->verdict;
    bool color = use_color(report->out);
    const bool rows = output_has_rows(report);
    fprintf(report->out, "\n%s, one character for ", output_name(report));
    if (rows) fprintf(report->out, "%d rows x ", v->cell_rows);
    fprintf(report->out, "%d %s:\n", v->cell_cols, rows ? "columns" : "elements");
    for (int i = 0; i < v->map_rows; i++) {
        fprintf(report->out, "%s%10d |", i == 0 && rows ? " row" : "    ", i * v->cell_rows);
        print_cells(v->map[i], v->map_cols, color, report->out);
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

/* One hint: of what explains most. The same mistake may be behind the others. */
static void print_explanations(const struct report *report) {
    for (int i = 0; i < report->explanation_count; i++) {
        fputc('\n', report->out);
        print_paragraph("", "", report->explanations[i].text, report->out);
        if (i == 0) print_paragraph("", "hint: ", report->explanations[i].hint, report->out);
    }
}

static void print_verdict(const struct report *report) {
    const struct verdict *v = &report->verdict;
    const uint64_t elements = lab_outputs(&lab, &report->options.which.shape);
    if (v->unwritten) print_unwritten(report, elements);
    if (v->wrong) print_wrong(report);
    if (v->suspect_rows)
        fprintf(report->out, "%d more row%s of %s fail%s Freivalds' check.\n", v->suspect_rows,
                plural((uint64_t)v->suspect_rows), output_name(report),
                v->suspect_rows == 1 ? "s" : "");
    if (v->not_float32 && lab_truth.say_precision) {
        char text[MESSAGE_SIZE] = "";
        lab_truth.say_precision(v, text);
        print_paragraph("", "", text, report->out);
    }
    if ((v->wrong || v->unwritten) && v->unwritten < elements && v->map_rows * v->map_cols > 1)
        print_map(report);
    if (v->unwritten < elements) print_explanations(report);
}

void report_failure(const struct report *report) {
    print_damage(report);
    if (report->verified) print_verdict(report);
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
