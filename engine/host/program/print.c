/* What is said of a program's run: text on standard error, or one JSON object on standard output.
 */
#define _GNU_SOURCE
#include "../../report/words/print.h"
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "program.h"
#include <string.h>

static bool went_well(const struct program_end *end) { return !end->status && !end->signal; }

static int findings_of(const struct program_run *run, const struct program_end *end) {
    return run->is_leak && !went_well(end) ? 0 : run->count;
}

int program_exit_status(const struct program_run *run, const struct program_end *end) {
    if (run->machine_fault[0]) return EXIT_BAD_MACHINE;
    return findings_of(run, end) || !went_well(end) ? EXIT_MISTAKE : 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_finding(FILE *out, const struct finding *f) {
    struct finding_words words;
    finding_say(f, &words);
    print_headline(out, f->at.line ? f->at.file : source_name(), f->at.line, print_red, words.what);
    print_indented(out, words.detail);
    print_launch(out, &f->launch);
    if (f->at.in_kernel) {
        fputs("    block ", out);
        print_index(out, f->at.block);
        fputs(", thread ", out);
        print_index(out, f->at.thread);
        fputc('\n', out);
        if (!f->at.line)
            fputs("    (no source line: is addr2line, of binutils, installed?)\n", out);
    }
    if (words.hint[0]) print_paragraph("    ", "hint: ", words.hint, out);
}

static void print_end(FILE *out, const struct program_end *end) {
    if (end->signal)
        fprintf(out, "the program was stopped: %s\n", strsignal(end->signal));
    else if (end->status)
        fprintf(out, "the program ended with exit status %d\n", end->status);
}

void program_print(const struct program_run *run, const struct program_end *end) {
    const int count = findings_of(run, end);
    FILE *out = stderr;
    if (run->machine_fault[0]) {
        fprintf(out, "%s\n", run->machine_fault);
        return;
    }
    for (int i = 0; i < count; i++) print_finding(out, &run->findings[i]);
    print_end(out, end);
    if (count > 1) fprintf(out, "%d mistakes found\n", count);
    if (!run->ended)
        fputs("it could not be asked what was seen until then\n", out);
    else if (!count && !run->launches)
        fputs("no kernel was launched\n", out);
    else if (!count)
        fprintf(out,
                "no mistakes found: every load and store of %d launch%s was checked (%.2f s)\n",
                run->launches, run->launches == 1 ? "" : "es", end->seconds);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_finding(struct json *json, const struct finding *f) {
    char launch[LAUNCH_TEXT];
    struct finding_words words;
    finding_say(f, &words);
    finding_launch_say(&f->launch, launch, sizeof launch);
    json_open(json, NULL, '{');
    json_words(json, f, &words);
    json_parties(json, f);
    json_text(json, "launch", launch);
    json_slots(json, f->slot);
    json_close(json, '}');
}

/* One object on one line:
 *   status       "clean", "finding"; "failed": nothing was found, but the program says that it
 * failed; "error": the machine is at fault exit_status  0, 1 or 3 message      what is wrong with
 * the machine; else null source       what the program was built from program      exit_status and
 * signal (a number, or null) with which it ended, seconds launches     of kernels findings     the
 * gravest first, as in engine/host/check/check_print.c */
void program_print_json(const struct program_run *run, const struct program_end *end) {
    const int status = program_exit_status(run, end), count = findings_of(run, end);
    struct json json = {stdout, false};
    json_open(&json, NULL, '{');
    json_text(&json, "status",
              status == EXIT_BAD_MACHINE ? "error"
              : count                    ? "finding"
              : status                   ? "failed"
                                         : "clean");
    json_value(&json, "exit_status", "%d", status);
    json_text(&json, "message", run->machine_fault);
    source_json(&json, source_state());
    json_open(&json, "program", '{');
    json_value(&json, "exit_status", end->signal ? "null" : "%d", end->status);
    json_value(&json, "signal", end->signal ? "%d" : "null", end->signal);
    json_value(&json, "seconds", "%.6f", end->seconds);
    json_close(&json, '}');
    json_value(&json, "launches", "%d", run->launches);
    json_open(&json, "findings", '[');
    for (int i = 0; i < count; i++) json_finding(&json, &run->findings[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    fputc('\n', stdout);
}
