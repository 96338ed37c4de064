/* judge: makes the matrices of a case, and compares what came back with the product.
 *
 *     echo prepare M K N FILL SEED in out | judge
 *     echo verdict M K N FILL SEED in out report COMPARISON | judge
 *
 * By standard input, because the arguments of a program can be read by every user of the machine.
 * No code of a submission runs in this process. in, out, report: open descriptors (memory files),
 * laid out as ../worker/report.h says. prepare writes A, B and the poisoned C into `in` and `out`,
 * which the caller seals. verdict prints one JSON object on one line, described at verdict_json().
 * COMPARISON: float32, bound, exact, or fill: the strictest that the fill allows.
 *
 * Exit status: 0; 2 bad usage; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "../../engine/host/check.h"
#include "../../engine/report/json.h"
#include "../../support.h"
#include "../worker/report.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void fail(enum exit_status status, const char *what) {
    fprintf(stderr, "judge: %s\n", what);
    exit(status);
}

/* --- what is asked for ------------------------------------------------------------------------ */

enum { MAX_WORDS = 16, LONGEST_LINE = 1024 };

/* The words of standard input. Returns how many. */
static int words_read(char line[LONGEST_LINE], char *words[MAX_WORDS]) {
    int count = 0;
    size_t length = fread(line, 1, LONGEST_LINE - 1, stdin);
    line[length] = '\0';
    for (char *word = strtok(line, " \n"); word && count < MAX_WORDS; word = strtok(NULL, " \n"))
        words[count++] = word;
    return count;
}

struct task {
    int m, k, n;
    enum fill fill;
    uint64_t seed;
    int in, out, report;
    enum comparison comparison;
};

static uint64_t number(const char *text, uint64_t most) {
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value > most)
        fail(EXIT_USAGE, "an argument is not a number, or is too large");
    return value;
}

static enum comparison comparison_named(const char *name, const struct task *t) {
    if (strcmp(name, "float32") == 0) return COMPARE_FLOAT32;
    if (strcmp(name, "bound") == 0) return COMPARE_BOUND;
    if (strcmp(name, "exact") == 0) return COMPARE_EXACT;
    if (strcmp(name, "fill") == 0) return fill_comparison(t->fill, t->m, t->n, t->k);
    fail(EXIT_USAGE, "the comparison is float32, bound, exact or fill");
}

static struct task task_read(int count, char **words, bool verdict) {
    struct task t = {0};
    if (count != (verdict ? 10 : 8)) fail(EXIT_USAGE, "usage: echo prepare|verdict ... | judge");
    t.m = (int)number(words[1], INT32_MAX);
    t.k = (int)number(words[2], INT32_MAX);
    t.n = (int)number(words[3], INT32_MAX);
    if (!t.m || !t.k || !t.n) fail(EXIT_USAGE, "a dimension is 0");
    if (!fill_parse(words[4], &t.fill)) fail(EXIT_USAGE, "unknown fill");
    t.seed = number(words[5], UINT64_MAX);
    t.in = (int)number(words[6], INT32_MAX);
    t.out = (int)number(words[7], INT32_MAX);
    if (!verdict) return t;
    t.report = (int)number(words[8], INT32_MAX);
    t.comparison = comparison_named(words[9], &t);
    return t;
}

/* --- matrices --------------------------------------------------------------------------------- */

/* They live until the process ends. */
struct matrices {
    struct matrix of[MATRIX_COUNT];
};

static struct matrices matrices_new(const struct task *t) {
    const struct layout layout = layout_of(t->m, t->n, t->k);
    struct matrices x;
    for (int i = 0; i < MATRIX_COUNT; i++) {
        const struct passage *p = &layout.of[i];
        x.of[i] = matrix_new(p->rows, p->cols, p->guard);
        if (!x.of[i].buffer) fail(EXIT_MACHINE, "no memory for the matrices");
    }
    return x;
}

static struct matrices matrices_made(const struct task *t) {
    struct matrices x = matrices_new(t);
    fill_matrix(t->fill, t->seed, MATRIX_A, t->m, t->k, x.of[MATRIX_A].data);
    fill_matrix(t->fill, t->seed, MATRIX_B, t->k, t->n, x.of[MATRIX_B].data);
    matrix_poison(&x.of[MATRIX_C]);
    return x;
}

static void write_all(int file, const void *bytes, size_t count) {
    for (const char *at = bytes; count;) {
        ssize_t done = write(file, at, count);
        if (done <= 0) fail(EXIT_MACHINE, "no room for the matrices");
        at += done;
        count -= (size_t)done;
    }
}

/* The file may be shorter than it should be, and change while it is read: what is missing is
 * poison, and nothing is read twice. */
static void read_all(int file, off_t offset, void *bytes, size_t count) {
    for (char *at = bytes; count;) {
        ssize_t done = pread(file, at, count, offset);
        if (done < 0) fail(EXIT_MACHINE, "the result cannot be read");
        if (done == 0) return;
        at += done;
        offset += done;
        count -= (size_t)done;
    }
}

static int prepare(const struct task *t) {
    struct matrices x = matrices_made(t);
    /* `out`, too: the checked build sends the elements alone, and the guards are to be whole. */
    for (int i = 0; i < MATRIX_COUNT; i++) {
        write_all(t->in, x.of[i].buffer, x.of[i].bytes);
        write_all(t->out, x.of[i].buffer, x.of[i].bytes);
    }
    return EXIT_PASSED;
}

/* --- the worker's report ---------------------------------------------------------------------- */

#define TERMINATE(text) ((text)[sizeof(text) - 1] = '\0')

/* Whatever the worker wrote: strings that end, numbers that are known, findings with a headline. */
static struct worker_report report_read(int file) {
    struct worker_report r;
    memset(&r, 0, sizeof r);
    if (pread(file, &r, sizeof r, 0) != (ssize_t)sizeof r || r.magic != WORKER_MAGIC ||
        r.state >= WORKER_STATES) {
        memset(&r, 0, sizeof r);
        return r;
    }
    TERMINATE(r.file);
    TERMINATE(r.detail);
    TERMINATE(r.launch);
    TERMINATE(r.finding.what);
    TERMINATE(r.finding.detail);
    TERMINATE(r.finding.hint);
    TERMINATE(r.finding.formula);
    TERMINATE(r.finding.at.file);
    if (!finding_text(r.finding.kind) || !r.finding.what[0])
        memset(&r.finding, 0, sizeof r.finding);
    if (r.line < 0) r.line = 0;
    if (r.finding.at.line < 0) r.finding.at.line = 0;
    if (r.finding.barrier_after < 0) r.finding.barrier_after = 0;
    r.finding.products = 0; /* only an explanation has them, which is made here */
    return r;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* What the device's memory held after the kernel, compared with what was sent. */
struct judged {
    struct verdict verdict;
    struct damage damage[MATRIX_COUNT];
    struct finding explanation;
    bool right;
};

static struct judged judge(const struct task *t) {
    struct matrices sent = matrices_made(t), back = matrices_new(t);
    const struct layout layout = layout_of(t->m, t->n, t->k);
    struct judged j = {0};
    for (int i = 0; i < MATRIX_COUNT; i++) {
        memcpy(back.of[i].buffer, sent.of[i].buffer, sent.of[i].bytes);
        read_all(t->out, (off_t)layout.of[i].offset, back.of[i].buffer, back.of[i].bytes);
        j.damage[i] = matrix_damage(&sent.of[i], back.of[i].buffer, i != MATRIX_C);
    }
    const struct matrix *A = &sent.of[MATRIX_A], *B = &sent.of[MATRIX_B], *C = &back.of[MATRIX_C];
    const struct problem problem = {t->m,    t->n,    t->k,          A->data,
                                    B->data, C->data, t->comparison, t->seed};
    if (!verify(&problem, VERIFY_FULL, NULL, &j.verdict)) fail(EXIT_MACHINE, "no memory to verify");
    judge_verdict(&problem, &j.verdict, &j.explanation);
    j.right = j.verdict.passed;
    for (int i = 0; i < MATRIX_COUNT; i++)
        j.right = j.right && !j.damage[i].elements && !j.damage[i].before && !j.damage[i].after;
    return j;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_finding(struct json *json, const char *name, const struct finding *f) {
    if (f->kind == FINDING_NONE) {
        json_value(json, name, "null");
        return;
    }
    json_open(json, name, '{');
    json_text(json, "kind", finding_text(f->kind)->kind);
    json_value(json, "line", "%d", f->at.line);
    json_text(json, "what", f->what);
    json_text(json, "file", f->at.file);
    json_text_lines(json, "detail", f->detail);
    json_text(json, "hint", f->hint);
    json_text(json, "formula", f->formula);
    json_value(json, "products", "%.6f", f->products);
    json_value(json, "barrier_after", "%d", f->barrier_after);
    json_close(json, '}');
}

static void json_judged(struct json *json, const struct judged *j) {
    uint64_t guards = 0;
    for (int i = 0; i < MATRIX_COUNT; i++) guards += j->damage[i].before + j->damage[i].after;
    json_value(json, "right", j->right ? "true" : "false");
    json_unsigned(json, "unwritten", j->verdict.unwritten);
    json_unsigned(json, "wrong", j->verdict.wrong);
    json_unsigned(json, "nan", j->verdict.nan);
    json_value(json, "not_float32", j->verdict.not_float32 ? "true" : "false");
    json_unsigned(json, "inputs_changed",
                  j->damage[MATRIX_A].elements + j->damage[MATRIX_B].elements);
    json_unsigned(json, "guards_changed", guards);
    json_finding(json, "explanation", &j->explanation);
}

static void json_blocks(struct json *json, const struct worker_report *r) {
    if (!r->blocks) {
        json_value(json, "blocks", "null");
        return;
    }
    json_open(json, "blocks", '{');
    json_unsigned(json, "all", r->blocks);
    json_unsigned(json, "watched", r->blocks_watched);
    json_close(json, '}');
}

/* One object:
 *   state          how far the worker got: enum worker_state
 *   detail, file, line, launches, launch, work, bytes_to_host, bytes_into_c: as the worker reports
 *   elements       of C
 *   finding        of the checker, or null
 *   loads          {all, naive, once_per_block, exchanged, threads} where they were counted, or
 *                  null
 *   blocks         {all, watched} where not all blocks were watched, or null
 * and where the state is "returned":
 *   right          none of the following is wrong
 *   unwritten, wrong, nan, not_float32: of C's elements, see struct verdict
 *   inputs_changed, guards_changed
 *   explanation    what C is instead, or null */
static void verdict_json(const struct task *t, const struct worker_report *r,
                         const struct judged *j) {
    static const char *const states[WORKER_STATES] = {"started",    "in-wrapper", "returned",
                                                      "stopped",    "endless",    "deadlock",
                                                      "time-limit", "machine"};
    struct json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "state", states[r->state]);
    json_value(&json, "line", "%d", r->line);
    json_value(&json, "launches", "%d", r->launches);
    json_text(&json, "launch", r->launch);
    json_unsigned(&json, "work", r->work);
    json_unsigned(&json, "bytes_to_host", r->bytes_to_host);
    json_unsigned(&json, "bytes_into_c", r->bytes_into_c);
    json_text(&json, "detail", r->detail);
    json_text(&json, "file", r->file);
    json_unsigned(&json, "elements", (uint64_t)t->m * (uint64_t)t->n);
    json_finding(&json, "finding", &r->finding);
    if (r->counted == 1) {
        json_open(&json, "loads", '{');
        json_unsigned(&json, "all", r->loads);
        json_unsigned(&json, "naive", 2 * (uint64_t)t->m * (uint64_t)t->n * (uint64_t)t->k);
        json_unsigned(&json, "once_per_block", r->loads_once_per_block);
        json_unsigned(&json, "exchanged", r->exchanged);
        json_unsigned(&json, "threads", r->threads);
        json_close(&json, '}');
    } else {
        json_value(&json, "loads", "null");
    }
    json_blocks(&json, r);
    if (j) json_judged(&json, j);
    json_close(&json, '}');
    putchar('\n');
}

static int verdict(const struct task *t) {
    const struct worker_report r = report_read(t->report);
    if (r.state == WORKER_RETURNED) {
        const struct judged j = judge(t);
        verdict_json(t, &r, &j);
    } else {
        verdict_json(t, &r, NULL);
    }
    return fflush(stdout) == 0 ? EXIT_PASSED : EXIT_MACHINE;
}

int main(void) {
    char line[LONGEST_LINE], *words[MAX_WORDS];
    const int count = words_read(line, words);
    bool verdicts = count > 0 && strcmp(words[0], "verdict") == 0;
    if (!verdicts && (count == 0 || strcmp(words[0], "prepare") != 0))
        fail(EXIT_USAGE, "usage: echo prepare|verdict ... | judge");
    struct task t = task_read(count, words, verdicts);
    set_threads(1); /* the other cores have cases of their own */
    return verdicts ? verdict(&t) : prepare(&t);
}
