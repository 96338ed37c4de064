/* Findings as a student reads them, and as JSON for programs. */
#include "../support/shared.h"
#include "check.h"
#include <inttypes.h>
#include <stdlib.h>

/* --- text ------------------------------------------------------------------------------------- */

static void print_indented(FILE *out, const char *lines) {
    while (*lines) {
        print_paragraph("    ", "", lines, out);
        lines += strcspn(lines, "\n");
        lines += *lines == '\n';
    }
}

static void print_index(FILE *out, struct finding_index i) {
    fprintf(out, i.z ? "(%u,%u,%u)" : "(%u,%u)", i.x, i.y, i.z);
}

/* Where in the work it happened: block, phase, shape. */
static void print_circumstances(FILE *out, const struct finding *f, struct shape shape) {
    fputs("    ", out);
    if (f->at.in_kernel) {
        fputs("block ", out);
        print_index(out, f->at.block);
        fputs(", ", out);
    }
    if (f->phase) fprintf(out, "tile phase %d of %d, ", f->phase, f->phases);
    fprintf(out, "m=%d k=%d n=%d\n", shape.m, shape.k, shape.n);
}

/* Whether a finding's file is the submission, and no header of it: names may differ in front, by
 * the directory they are seen from. */
static bool is_source(const char *file) {
    size_t length = strlen(file), expected = strlen(source_name());
    return length >= expected && strcmp(file + length - expected, source_name()) == 0;
}

void print_finding(FILE *out, const struct finding *f, struct shape shape) {
    bool colour = use_colour(out);
    const char *bold = colour ? "\33[1;31m" : "", *plain = colour ? "\33[0m" : "";
    if (f->at.line)
        fprintf(out, "%s:%d: ", f->at.file, f->at.line);
    else
        fprintf(out, "%s: ", f->at.file[0] ? f->at.file : "kernel.cu");
    fprintf(out, "%s%s%s\n", bold, f->what, plain);
    print_indented(out, f->detail);
    print_circumstances(out, f, shape);
    if (f->at.in_kernel && !f->at.line)
        fputs("    (no source line: is addr2line, of binutils, installed?)\n", out);
    if (!is_source(f->at.file)) fprintf(out, "    built from %s\n", source_name());
    if (f->hint[0]) print_paragraph("    ", "hint: ", f->hint, out);
}

void print_clean(FILE *out, const struct outcome *outcomes, int count) {
    double seconds = 0;
    for (int i = 0; i < count; i++) seconds += outcomes[i].seconds;
    fprintf(out, "no mistake found: every load and store watched, C right (%.2f s)\n", seconds);
    fprintf(out, "    built from %s\n", source_name());
    for (int i = 0; i < count; i++)
        fprintf(out, "    m=%d k=%d n=%d\n", outcomes[i].shape.m, outcomes[i].shape.k,
                outcomes[i].shape.n);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_index(FILE *out, const char *name, struct finding_index i, bool known) {
    if (known)
        fprintf(out, ", \"%s\": [%u, %u, %u]", name, i.x, i.y, i.z);
    else
        fprintf(out, ", \"%s\": null", name);
}

static void json_party(FILE *out, const struct finding_party *p) {
    static const char *const accesses[] = {NULL, "read", "write"};
    json_member(out, "file", p->file);
    fprintf(out, ", \"line\": %d, ", p->line);
    json_member(out, "function", p->function);
    fputs(", ", out);
    json_member(out, "access", accesses[p->access]);
    json_index(out, "thread", p->thread, p->in_kernel);
    json_index(out, "block", p->block, p->in_kernel);
}

static void json_finding(FILE *out, const struct check_options *o, const struct outcome *outcome) {
    const struct finding *f = &outcome->finding;
    fprintf(out, "{\"kind\": \"%s\", ", finding_text(f->kind)->kind);
    json_member(out, "what", f->what);
    fputs(", \"detail\": ", out);
    json_list_of_lines(out, f->detail);
    fputs(", ", out);
    json_member(out, "hint", f->hint);
    fputs(", ", out);
    json_member(out, "formula", f->formula);
    fputs(", ", out);
    json_party(out, &f->at);
    fputs(", ", out);
    json_member(out, "variable", f->variable);
    fputs(", ", out);
    json_member(out, "element", f->element);
    fputs(", \"other\": ", out);
    if (f->other.known) {
        fputc('{', out);
        json_party(out, &f->other);
        fputc('}', out);
    } else {
        fputs("null", out);
    }
    if (f->phase)
        fprintf(out, ", \"phase\": %d, \"phases\": %d", f->phase, f->phases);
    else
        fputs(", \"phase\": null, \"phases\": null", out);
    fprintf(out, ", \"m\": %d, \"k\": %d, \"n\": %d, \"seed\": %" PRIu64 ", \"fill\": \"%s\"}",
            outcome->shape.m, outcome->shape.k, outcome->shape.n, o->run.seed,
            fill_name(o->run.fill));
}

/* Members that the shape's own process has written. */
static void json_report(FILE *out, FILE *report) {
    rewind(report);
    for (int c = fgetc(report); c != EOF; c = fgetc(report)) fputc(c, out);
}

/* One object on one line:
 *   status       "clean", "finding" or "error"
 *   exit_status  0 .. 3
 *   message      what the machine or the command line did wrong; else null
 *   source       file: what the program was built from; changed: whether it has changed since, null
 *                when the file is gone
 *   checked      the shapes that were run: m, k, n, seconds
 *   finding      the mistake, or null:
 *     kind             one of findings.def
 *     what, detail     the headline and the lines below it
 *     hint             as in the text
 *     formula          the name of the formula that a wrong C follows, or null
 *     file, line       line 0: unknown
 *     function, access access: "read", "write" or null
 *     thread, block    [x, y, z], or null outside of kernels
 *     variable, element  what was touched
 *     other            the second party of a race or barrier, or null
 *     phase, phases    the tile phase, from 1, or null
 *     m, k, n, seed, fill  the run that shows it again
 *   counts, counts_sum (counts.c), phases (phases.c): with --counts and --phases, where the last
 *                shape came so far */
void print_json(FILE *out, const struct check_options *o, const struct outcome *outcomes, int count,
                enum exit_status status, const char *message) {
    static const char *const words[] = {"clean", "finding", "error", "error"};
    fprintf(out, "{\"status\": \"%s\", \"exit_status\": %d, ", words[status], status);
    json_member(out, "message", message);
    fputs(", ", out);
    source_json(&(struct json){out, false}, source_state());
    fputs(", \"checked\": [", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s{\"m\": %d, \"k\": %d, \"n\": %d, \"seconds\": %.6f}", i ? ", " : "",
                outcomes[i].shape.m, outcomes[i].shape.k, outcomes[i].shape.n, outcomes[i].seconds);
    fputs("], \"finding\": ", out);
    if (status == EXIT_WRONG)
        json_finding(out, o, &outcomes[count - 1]);
    else
        fputs("null", out);
    if (o->report) json_report(out, o->report);
    fputs("}\n", out);
}
