/* judge: makes the arrays of a case, and compares what came back with what it should be.
 *
 *     echo prepare SIZES FILL SEED in out | judge
 *     echo verdict SIZES FILL SEED in out report COMPARISON | judge
 *     echo cause answer | judge
 *
 * SIZES: the lab's parameters, as they are typed.
 *
 * By standard input, because the arguments of a program can be read by every user of the machine.
 * No code of a submission runs in this process. in, out, report, answer: open descriptors (memory
 * files), laid out as ../worker/report.h says. prepare writes the inputs and the poisoned outputs
 * into `in` and `out`, which the caller seals. verdict prints one JSON object on one line,
 * described at print_verdict(); cause another, of a struct cause_answer: print_cause(). COMPARISON:
 * one of lab_truth.comparisons, where it has some.
 *
 * Exit status: 0; 2 bad usage; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "../../engine/cores.h"
#include "../../engine/form/cause.h"
#include "../../engine/report/words/print.h"
#include "../../engine/report/words/vocabulary.h"
#include "../worker/report.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: echo prepare|verdict|cause ... | judge";

static _Noreturn void fail(enum exit_status status, const char *what) {
    fprintf(stderr, "judge: %s\n", what);
    exit(status);
}

enum { MAX_WORDS = 16, LONGEST_LINE = 1024 };

/* The words of standard input. Returns how many. */
static int words_read(char line[LONGEST_LINE], char *words[MAX_WORDS]) {
    int count = 0;
    line[fread(line, 1, LONGEST_LINE - 1, stdin)] = '\0';
    for (char *word = strtok(line, " \n"); word && count < MAX_WORDS; word = strtok(NULL, " \n"))
        words[count++] = word;
    return count;
}

struct task {
    struct lab_case which;
    int in, out, report;
};

/* Of a word, which is not empty. */
static uint64_t number(const char *text, uint64_t most) {
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || *text == '-' || value > most)
        fail(EXIT_USAGE, "an argument is not a number, or is too large");
    return value;
}

/* Where there is no choice, any name stands for the one there is. */
static int comparison_named(const char *name) {
    if (!lab_truth.comparisons[0]) return 0;
    for (int i = 0; i < LAB_COMPARISONS && lab_truth.comparisons[i]; i++)
        if (strcmp(name, lab_truth.comparisons[i]) == 0) return i;
    fail(EXIT_USAGE, "the lab has no comparison of this name");
}

static struct task task_read(int count, char **words, bool verdict) {
    struct task t = {0};
    const int sizes = lab_shape_read(&lab, count - 1, words + 1, &t.which.shape);
    if (!sizes) fail(EXIT_USAGE, "a size is not a number, or not within its limits");
    if (count != sizes + (verdict ? 7 : 5)) fail(EXIT_USAGE, usage);
    words += 1 + sizes;
    t.which.fill = lab_fill(&lab, words[0]);
    if (t.which.fill < 0) fail(EXIT_USAGE, "unknown fill");
    t.which.seed = number(words[1], UINT64_MAX);
    t.in = (int)number(words[2], INT32_MAX);
    t.out = (int)number(words[3], INT32_MAX);
    if (!verdict) return t;
    t.report = (int)number(words[4], INT32_MAX);
    t.which.comparison = comparison_named(words[5]);
    return t;
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* They live until the process ends. */
static struct host_data arrays_made(const struct task *t) {
    const struct host_data data = data_new(&t->which, true);
    if (!data.memory) fail(EXIT_MACHINE, "no memory for the arrays");
    return data;
}

static void write_all(int file, const void *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        const ssize_t done = write(file, (const char *)bytes + at, count - at);
        if (done <= 0) fail(EXIT_MACHINE, "no room for the arrays");
        at += (size_t)done;
    }
}

/* The file may be shorter than it should be, and change while it is read: what is missing is
 * poison, and nothing is read twice. */
static void read_all(int file, void *bytes, size_t count) {
    ssize_t done = 1;
    for (size_t at = 0; at < count && done; at += (size_t)done) {
        done = pread(file, (char *)bytes + at, count - at, (off_t)at);
        if (done < 0) fail(EXIT_MACHINE, "the result cannot be read");
    }
}

static int prepare(const struct task *t) {
    const struct host_data data = arrays_made(t);
    /* `out`, too: the checked build sends the elements alone, and the guards are to be whole. */
    write_all(t->in, data.memory, data.layout.all);
    write_all(t->out, data.memory, data.layout.all);
    return EXIT_PASSED;
}

/* Whatever the worker wrote: strings that end, numbers that are known, records that are some. */
static struct worker_report report_read(int file) {
    struct worker_report r;
    if (pread(file, &r, sizeof r, 0) != (ssize_t)sizeof r || r.magic != WORKER_MAGIC ||
        r.state >= WORKER_STATES)
        return (struct worker_report){0};
    finding_text_check(r.file, sizeof r.file);
    finding_text_check(r.detail, sizeof r.detail);
    finding_launch_check(&r.launch);
    finding_check(&r.finding);
    if (r.line < 0) r.line = 0;
    return r;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* What the device's memory held after the kernel, compared with what was sent. */
struct judged {
    struct verdict verdict;
    struct damage damage[LAB_ARRAYS];
    struct finding explanation;
    struct explained explained;
    bool right;
};

static struct judged judge(const struct task *t) {
    const struct host_data sent = arrays_made(t), back = data_room(&sent);
    struct judged j = {0};
    const void *arrays[LAB_ARRAYS];
    if (!back.memory) fail(EXIT_MACHINE, "no memory for the arrays");
    memcpy(back.memory, sent.memory, sent.layout.all);
    read_all(t->out, back.memory, back.layout.all);
    data_judged(&sent, &back, arrays);
    if (!truth_verify(&t->which, arrays, &j.verdict)) fail(EXIT_MACHINE, "no memory to verify");
    judge_verdict(&t->which, arrays, &j.verdict, &j.explanation, &j.explained);
    j.right = j.verdict.passed;
    for (int i = 0; i < sent.layout.arrays; i++) {
        const struct damage d = j.damage[i] = data_damage(&sent, &back, i);
        j.right = j.right && !d.elements && !d.before && !d.after;
    }
    return j;
}

/* In words that are made here. */
static void json_finding(struct json *json, const char *name, const struct finding *f,
                         const struct explained *explained) {
    const struct finding_kind_text *kind = finding_text(f->kind);
    struct finding_words words;
    int lines = explained->text[0] != '\0'; /* that json_text_lines() makes of it */
    for (const char *text = explained->text; *text; text++) lines += *text == '\n';
    if (!kind) {
        json_text(json, name, NULL);
        return;
    }
    finding_explain(f, explained, &words);
    json_open(json, name, '{');
    json_words(json, f, &words);
    json_text(json, "headline", kind->headline);
    json_value(json, "may_be_right", kind->may_be_right ? "true" : "false");
    json_value(json, "may_have_cause", kind->cause != FINDING_CAUSE_NEVER ? "true" : "false");
    json_text(json, "file", f->at.file);
    json_value(json, "line", "%d", f->at.line);
    json_text(json, "formula", explained->formula);
    json_value(json, "explained", "%d", lines);
    json_text(json, "claim", explained->claim);
    json_value(json, "products", "%.6f", explained->products);
    json_value(json, "barrier_after", "%d", finding_barrier_after(f));
    json_close(json, '}');
}

static void json_judged(struct json *json, const struct judged *j) {
    uint64_t guards = 0, inputs = 0;
    for (int i = 0; i < lab_arrays(&lab); i++) {
        guards += j->damage[i].before + j->damage[i].after;
        inputs += j->damage[i].elements;
    }
    json_value(json, "right", j->right ? "true" : "false");
    json_unsigned(json, "unwritten", j->verdict.unwritten);
    json_unsigned(json, "wrong", j->verdict.wrong);
    json_unsigned(json, "inputs_changed", inputs);
    json_unsigned(json, "guards_changed", guards);
    json_finding(json, "explanation", &j->explanation, &j->explained);
}

/* One object:
 *   state          how far the worker got: enum worker_state
 *   detail, file, line, launches, launch, work, bytes_to_host, bytes_into_output:
 *                  as the worker reports
 *   elements       of all outputs
 *   finding        of the checker, or null
 *   loads          {all, naive, once_per_block, exchanged, threads, accesses}
 *                  where they were counted, or null
 *   blocks         {all, watched} where not all blocks were watched, or null
 * and where the state is "returned":
 *   right          none of the following is wrong
 *   unwritten, wrong: of the outputs' elements, see struct verdict
 *   inputs_changed, guards_changed
 *   explanation    what the result is instead, or null */
static void print_verdict(const struct task *t, const struct worker_report *r,
                          const struct judged *j) {
    static const char *const states[WORKER_STATES] = {"started",    "in-wrapper", "returned",
                                                      "stopped",    "endless",    "deadlock",
                                                      "time-limit", "machine"};
    struct json json = {.out = stdout};
    char launch[LAUNCH_TEXT];
    finding_launch_say(&r->launch, launch, sizeof launch);
    json_open(&json, NULL, '{');
    json_text(&json, "state", states[r->state]);
    json_value(&json, "line", "%d", r->line);
    json_value(&json, "launches", "%d", r->launches);
    json_text(&json, "launch", launch);
    json_unsigned(&json, "work", r->work);
    json_unsigned(&json, "bytes_to_host", r->bytes_to_host);
    json_unsigned(&json, "bytes_into_output", r->bytes_into_output);
    json_text(&json, "detail", r->detail);
    json_text(&json, "file", r->file);
    json_unsigned(&json, "elements", lab_outputs(&lab, &t->which.shape));
    json_finding(&json, "finding", &r->finding, &(struct explained){.formula = ""});
    if (r->counted == 1) {
        json_open(&json, "loads", '{');
        json_unsigned(&json, "all", r->loads);
        json_unsigned(&json, "naive", (uint64_t)truth_naive_loads(&t->which.shape));
        json_unsigned(&json, "once_per_block", r->loads_once_per_block);
        json_unsigned(&json, "exchanged", r->exchanged);
        json_unsigned(&json, "threads", r->threads);
        json_unsigned(&json, "accesses", r->accesses);
        json_close(&json, '}');
    } else {
        json_text(&json, "loads", NULL);
    }
    if (r->blocks)
        json_value(&json, "blocks", "{\"all\": %" PRIu64 ", \"watched\": %" PRIu64 "}", r->blocks,
                   r->blocks_watched);
    else
        json_text(&json, "blocks", NULL);
    if (r->state == WORKER_RETURNED) json_judged(&json, j);
    json_close(&json, '}');
    putchar('\n');
}

static int verdict(const struct task *t) {
    const struct worker_report r = report_read(t->report);
    const struct judged j = r.state == WORKER_RETURNED ? judge(t) : (struct judged){0};
    print_verdict(t, &r, &j);
    return fflush(stdout) == 0 ? EXIT_PASSED : EXIT_MACHINE;
}

/* One object: finding: the kind of the run's, or null; cause: what it comes of, in words, or null:
 * name, file, line, what, detail, hint. Of the facts there is but which run numbers are of. */
static void print_cause(const struct cause_answer *answer) {
    const struct finding_kind_text *text = finding_text(answer->finding);
    const struct cause *c = &answer->cause;
    struct json json = {.out = stdout};
    struct finding_words words;
    cause_say(c, &words);
    words.detail[0] = '\0'; /* facts are for the terminal, but for the run that numbers are of */
    if (strpbrk(words.what, "0123456789")) cause_say_shape(c, words.detail, sizeof words.detail);
    json_open(&json, NULL, '{');
    json_text(&json, "finding", text ? text->kind : NULL);
    if (c->kind) {
        json_open(&json, "cause", '{');
        json_said(&json, cause_name(c->kind), c->file, c->line, &words);
        json_text(&json, "hint", words.hint);
        json_close(&json, '}');
    } else {
        json_text(&json, "cause", NULL);
    }
    json_close(&json, '}');
    putchar('\n');
}

static int cause(int file) {
    enum { ROOM = 16 << 10 }; /* as ../run/cause.py makes it */
    _Static_assert(sizeof(struct cause_answer) <= ROOM, "an answer has room in its file");
    struct cause_answer answer;
    memset(&answer, 0, sizeof answer);
    read_all(file, &answer, sizeof answer);
    cause_check(&answer.cause);
    print_cause(&answer);
    return fflush(stdout) == 0 ? EXIT_PASSED : EXIT_MACHINE;
}

int main(void) {
    char line[LONGEST_LINE], *words[MAX_WORDS];
    const int count = words_read(line, words);
    const struct vocabulary of_lab = lab_words(&lab);
    vocabulary_use(&of_lab);
    if (count == 2 && strcmp(words[0], "cause") == 0)
        return cause((int)number(words[1], INT32_MAX));
    bool verdicts = count > 0 && strcmp(words[0], "verdict") == 0;
    if (!verdicts && (count == 0 || strcmp(words[0], "prepare") != 0)) fail(EXIT_USAGE, usage);
    struct task t = task_read(count, words, verdicts);
    set_threads(1); /* the other cores have cases of their own */
    return verdicts ? verdict(&t) : prepare(&t);
}
