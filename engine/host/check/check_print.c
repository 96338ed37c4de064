/* Findings as a student reads them, and as JSON for programs. */
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../report/words/print.h"
#include "../../report/words/vocabulary.h"
#include "../../show/show.h"
#include "check.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void check_file(char *file, size_t bytes) {
    struct finding_party party;
    engine_place(lab_call.wrapper, &party);
    snprintf(file, bytes, "%s", party.file);
}

/* Where in the work it happened: block, phase, shape. */
static void print_circumstances(FILE *out, const struct finding *f, struct shape shape) {
    fputs("    ", out);
    if (f->at.in_kernel) {
        fputs("block ", out);
        print_index(out, f->at.block);
        fputs(", ", out);
    }
    if (f->phases) fprintf(out, "%s %d of %d, ", vocabulary()->phase, f->phase, f->phases);
    fprintf(out, "%s\n", lab_shape_text(&lab, &shape).of);
}

/* Where not all blocks were watched. */
static void print_blocks(FILE *out, const struct engine_blocks *b) {
    const bool one = b->writing == 1;
    fprintf(out, "%s of %s blocks watched: the %s that write%s, and a sample",
            grouped(b->watched).text, grouped(b->all).text, one ? "one" : grouped(b->writing).text,
            one ? "s" : "");
}

/* A mistake that only a later call shows. What calls share may be why. */
static void print_call(FILE *out, const struct outcome *outcome) {
    char text[200];
    if (outcome->call < 2) return;
    snprintf(text, sizeof text,
             "this is the second call of %s in one process; the first was correct", lab.wrapper);
    print_paragraph("    ", "", text, out);
}

static void explain(const struct outcome *outcome, const struct explained *explained,
                    struct finding_words *words) {
    const enum finding_kind kind = outcome->finding.kind;
    finding_explain(&outcome->finding, explained, words);
    if (outcome->call < 2 || (kind != FINDING_UNWRITTEN && kind != FINDING_WRONG_RESULT)) return;
    snprintf(words->hint, sizeof words->hint, "%s",
             "what is left from the first call: in __device__ and static variables, in memory?");
}

/* The finding below the mistake that it comes from. */
static void print_symptom(FILE *out, const struct finding *f, const struct finding_words *words) {
    char text[sizeof f->at.file + sizeof words->what + 32] = "symptom: ";
    if (f->at.line) APPEND(text, "%s:%d: ", f->at.file, f->at.line);
    APPEND(text, "%s", words->what);
    print_paragraph("    ", "", text, out);
}

/* Of a wrong result no launch is known, unless its cause is. */
static const struct finding_launch *launch_of(const struct outcome *outcome) {
    const uint64_t launch = outcome->cause.kind ? outcome->cause.launch : 0;
    const bool known = launch && launch <= OUTCOME_LAUNCHES && outcome->launches > 1;
    return known ? &outcome->launch[launch - 1] : &outcome->finding.launch;
}

/* With its line, where neither a mistake nor a finding has one. */
static void print_launch_of(FILE *out, const struct outcome *outcome) {
    const struct finding_launch *l = launch_of(outcome);
    const struct finding_party *at = &outcome->finding.at;
    char text[LAUNCH_TEXT + 32] = "", words[LAUNCH_TEXT];
    finding_launch_say(l, words, sizeof words);
    if (l->line && !outcome->cause.line && !at->line && strcmp(l->file, at->file) == 0)
        APPEND(text, "line %d: ", l->line);
    APPEND(text, "%s", words);
    print_indented(out, text);
}

void print_finding(FILE *out, const struct outcome *outcome) {
    const struct finding *f = &outcome->finding;
    const struct cause *cause = &outcome->cause;
    const bool explained = cause->kind != CAUSE_NONE;
    static const struct explained nothing;
    struct finding_words words;
    explain(outcome, cause_is_formula(cause->kind) ? &nothing : &outcome->explained, &words);
    struct finding_words mistake;
    cause_say(cause, &mistake);
    if (explained) {
        print_headline(out, cause->line ? cause->file : f->at.file, cause->line, print_red,
                       mistake.what);
        print_indented(out, mistake.detail);
        print_symptom(out, f, &words);
    } else {
        print_headline(out, f->at.file, f->at.line, print_red, words.what);
    }
    print_call(out, outcome);
    print_indented(out, words.detail);
    if (!explained || !cause->shows_launch) print_launch_of(out, outcome);
    print_circumstances(out, f, outcome->shape);
    if (outcome->blocks.all) {
        fputs("    ", out);
        print_blocks(out, &outcome->blocks);
        fputc('\n', out);
    }
    if (f->at.in_kernel && !f->at.line)
        fputs("    (no source line: is addr2line, of binutils, installed?)\n", out);
    if (!source_is(f->at.file)) fprintf(out, "    built from %s\n", source_name());
    const char *hint = explained ? mistake.hint : words.hint;
    if (hint[0]) print_paragraph("    ", "hint: ", hint, out);
}

void print_clean(FILE *out, const struct outcome *outcomes, int count) {
    double seconds = 0;
    bool all = true;
    for (int i = 0; i < count; i++) {
        seconds += outcomes[i].seconds;
        all = all && !outcomes[i].blocks.all;
    }
    char text[200];
    snprintf(text, sizeof text,
             "no mistakes found: every load and store %swas checked, and %s is correct (%.2f s)",
             all ? "" : "of blocks that write ", lab.arrays[lab_first_output(&lab)].name, seconds);
    print_paragraph("", "", text, out);
    fprintf(out, "    built from %s\n", source_name());
    for (int i = 0; i < count; i++) {
        const struct outcome *o = &outcomes[i];
        fprintf(out, "    %s%s", lab_shape_text(&lab, &o->shape).of, o->blocks.all ? ": " : "");
        if (o->blocks.all) print_blocks(out, &o->blocks);
        fputc('\n', out);
    }
}

void print_remark(FILE *out, const struct remark *remark) {
    struct finding_words words;
    char what[sizeof words.what + 16];
    if (!remark->kind) return;
    remark_say(remark, &words);
    snprintf(what, sizeof what, "remark: %s", words.what);
    print_headline(out, remark->file, remark->line, print_bold, what);
    print_indented(out, words.detail);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_finding(struct json *json, const struct check_options *o,
                         const struct outcome *outcome) {
    const struct finding *f = &outcome->finding;
    struct finding_words words;
    explain(outcome, &outcome->explained, &words);
    json_open(json, "finding", '{');
    json_value(json, "call", "%d", outcome->call);
    json_words(json, f, &words);
    json_text(json, "formula", outcome->explained.formula);
    json_parties(json, f);
    json_value(json, "phase", f->phases ? "%d" : "null", f->phase);
    json_value(json, "phases", f->phases ? "%d" : "null", f->phases);
    json_launch(json, &f->launch);
    json_slots(json, f->slot);
    json_shape(json, &lab, &outcome->shape);
    json_unsigned(json, "seed", o->run.which.seed);
    json_text(json, "fill", lab.fills[o->run.which.fill].name);
    cause_json(json, &outcome->cause);
    json_close(json, '}');
}

void copy_report(FILE *out, FILE *report) {
    char bytes[4096];
    size_t count;
    rewind(report);
    while ((count = fread(bytes, 1, sizeof bytes, report)) > 0) fwrite(bytes, 1, count, out);
}

/* One object on one line:
 *   status       "clean", "finding" or "error"
 *   exit_status  0 .. 3
 *   message      what the machine or the command line did wrong; else null
 *   source       file: what the program was built from; changed: whether it has changed since, null
 *                when the file is gone
 *   checked      the shapes that were run: m, k, n, seconds, and blocks: how many the launches
 *                have (all), how many of them were watched, and how many write (writing), of those
 *                launches of which not all blocks were watched; null where there are none
 *   finding      the mistake, or null:
 *     call             of the wrapper, from 1, in which it was; 0: in the plain program
 *     kind, hint       one of findings.def; as in the text
 *     what, detail     the headline and the lines below it
 *     formula          the name of the formula that a wrong C follows, or null
 *     file, line, function    line 0: unknown
 *     access           "read", "write" or null
 *     thread, block    [x, y, z], or null outside of kernels
 *     variable, element  what was touched
 *     other            the second party of a race or barrier, or null
 *     phase, phases    the phase, from 0, or null
 *     launch           kernel, number (from 1) of how many (of), grid, block ([x, y, z]),
 *                      shared_bytes (dynamic), file and line of <<<...>>>, text: the line that is
 *                      printed; or null
 *     slots            the facts that the words are made of: slots.def
 *     m, k, n, seed, fill  the run that shows it again
 *     cause            the mistake that all this comes from, or null where none is proved: name
 *                      (docs/check.md), file, line, what, detail, hint
 *   remark       what a correct kernel could do better, or null: name (remark_name),
 *                file, line, what, detail
 *   counts, counts_sum (show/counts.c), indices (show/indices.c)
 *                with --counts, --indices, where the last shape came so far */
void print_json(FILE *out, const struct check_options *o, const struct outcome *outcomes, int count,
                enum exit_status status, const char *message) {
    static const char *const statuses[] = {"clean", "finding", "error", "error"};
    struct json json = {out, false};
    json_open(&json, NULL, '{');
    json_text(&json, "status", statuses[status]);
    json_value(&json, "exit_status", "%d", status);
    json_text(&json, "message", message);
    source_json(&json, source_state());
    json_open(&json, "checked", '[');
    for (int i = 0; i < count; i++) {
        const struct engine_blocks *b = &outcomes[i].blocks;
        json_open(&json, NULL, '{');
        json_shape(&json, &lab, &outcomes[i].shape);
        json_value(&json, "seconds", "%.6f", outcomes[i].seconds);
        json_value(&json, "blocks",
                   b->all ? "{\"all\": %" PRIu64 ", \"watched\": %" PRIu64 ", \"writing\": %" PRIu64
                            "}"
                          : "null",
                   b->all, b->watched, b->writing);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    if (status == EXIT_WRONG)
        json_finding(&json, o, &outcomes[count - 1]);
    else
        json_text(&json, "finding", NULL);
    if (count && outcomes[count - 1].remark.kind) {
        const struct remark *remark = &outcomes[count - 1].remark;
        struct finding_words said;
        remark_say(remark, &said);
        json_open(&json, "remark", '{');
        json_said(&json, remark_name(remark->kind), remark->file, remark->line, &said);
        json_close(&json, '}');
    } else {
        json_text(&json, "remark", NULL);
    }
    if (o->report) copy_report(out, o->report); /* the members that print_report() has written */
    json_close(&json, '}');
    fputc('\n', out);
}

void check_stop(const struct check_options *o, enum exit_status status, const char *message) {
    if (o->run.json) print_json(stdout, o, NULL, 0, status, message);
    child_end_line();
    fflush(stdout);
    fprintf(stderr, "%s-check: %s\n", lab.name, message);
    exit(status);
}

void print_report(const struct check_options *o, struct outcome *outcome,
                  const struct array_data *data) {
    const struct counted_launch *launches;
    const int count = counts_launches(&launches);
    const struct phases *phases = phases_shown();
    struct array_sum sum = lab.sum;
    struct json json = {o->report, true};
    FILE *out = o->report;
    if (!out) return;
    if (sum.factors) sum.terms = outcome->shape.of[lab.sum_terms];
    outcome->phases = phases ? phases->count : 0;
    if (o->run.json && o->counts) json_counts(&json, launches, count, outcome->shape);
    if (o->phases) print_phases(out, phases, data, &sum, outcome->shape);
    if (!o->run.json && o->counts) print_counts(out, launches, count, outcome->shape);
    fflush(out);
}
