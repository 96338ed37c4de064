/* judge: makes the matrices of a case, and gives the verdict on what came back.
 *
 *     judge prepare M K N FILL SEED in out
 *     judge verdict M K N FILL SEED in out report COMPARISON
 *
 * Never a line of a submission runs in this process. in, out, report: open descriptors (memory
 * files), laid out as ../worker/report.h says. prepare writes A, B and the poisoned C into `in` and
 * `out`; whoever called it seals them. verdict prints one JSON object on one line,
 * described at verdict_json(). COMPARISON: float32, bound, exact, or fill: the strictest that the
 * fill allows.
 *
 * Exit status: 0; 2 bad usage; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "../../checker/check.h"
#include "../../support/shared.h"
#include "../worker/report.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void fail(enum exit_status status, const char *what) {
    fprintf(stderr, "judge: %s\n", what);
    exit(status);
}

/* --- the command line ------------------------------------------------------------------------- */

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
        fail(EXIT_USAGE, "an argument is no number, or too large");
    return value;
}

static enum comparison comparison_named(const char *name, const struct task *t) {
    if (strcmp(name, "float32") == 0) return COMPARE_FLOAT32;
    if (strcmp(name, "bound") == 0) return COMPARE_BOUND;
    if (strcmp(name, "exact") == 0) return COMPARE_EXACT;
    if (strcmp(name, "fill") == 0) return fill_comparison(t->fill, t->m, t->n, t->k);
    fail(EXIT_USAGE, "the comparison is float32, bound, exact or fill");
}

static struct task task_read(int argc, char **argv, bool verdict) {
    struct task t = {0};
    if (argc != (verdict ? 11 : 9)) fail(EXIT_USAGE, "usage: judge prepare|verdict ...");
    t.m = (int)number(argv[2], INT32_MAX);
    t.k = (int)number(argv[3], INT32_MAX);
    t.n = (int)number(argv[4], INT32_MAX);
    if (!t.m || !t.k || !t.n) fail(EXIT_USAGE, "a dimension is 0");
    if (!fill_parse(argv[5], &t.fill)) fail(EXIT_USAGE, "unknown fill");
    t.seed = number(argv[6], UINT64_MAX);
    t.in = (int)number(argv[7], INT32_MAX);
    t.out = (int)number(argv[8], INT32_MAX);
    if (!verdict) return t;
    t.report = (int)number(argv[9], INT32_MAX);
    t.comparison = comparison_named(argv[10], &t);
    return t;
}

/* --- matrices --------------------------------------------------------------------------------- */

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

static void matrices_free(struct matrices *x) {
    for (int i = 0; i < MATRIX_COUNT; i++) matrix_free(&x->of[i]);
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
    matrices_free(&x);
    return EXIT_PASSED;
}

/* --- the worker's report ---------------------------------------------------------------------- */

#define TERMINATE(text) ((text)[sizeof(text) - 1] = '\0')

/* Whatever the worker wrote there, the strings end and the numbers are known ones. */
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
    TERMINATE(r.finding.what);
    TERMINATE(r.finding.detail);
    TERMINATE(r.finding.hint);
    TERMINATE(r.finding.formula);
    TERMINATE(r.finding.at.file);
    if (!finding_text(r.finding.kind)) memset(&r.finding, 0, sizeof r.finding);
    if (r.line < 0) r.line = 0;
    if (r.finding.at.line < 0) r.finding.at.line = 0;
    return r;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* What the device's memory held when the kernel had ended, beside what was sent. */
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
    const struct problem problem = {t->m,
                                    t->n,
                                    t->k,
                                    sent.of[MATRIX_A].data,
                                    sent.of[MATRIX_B].data,
                                    back.of[MATRIX_C].data,
                                    t->comparison,
                                    t->seed};
    if (!verify(&problem, VERIFY_FULL, NULL, &j.verdict)) fail(EXIT_MACHINE, "no memory to verify");
    judge_verdict(&problem, &j.verdict, &j.explanation);
    j.right = j.verdict.passed;
    for (int i = 0; i < MATRIX_COUNT; i++)
        j.right = j.right && !j.damage[i].elements && !j.damage[i].before && !j.damage[i].after;
    matrices_free(&sent);
    matrices_free(&back);
    return j;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void next_member(const char *name, const char *text) {
    fputs(", ", stdout);
    json_member(stdout, name, text);
}

static void json_finding(const char *name, const struct finding *f) {
    printf(", \"%s\": ", name);
    if (f->kind == FINDING_NONE) {
        fputs("null", stdout);
        return;
    }
    printf("{\"kind\": \"%s\", \"line\": %d, \"what\": ", finding_text(f->kind)->kind, f->at.line);
    json_string(stdout, f->what);
    next_member("file", f->at.file);
    fputs(", \"detail\": ", stdout);
    json_list_of_lines(stdout, f->detail);
    next_member("hint", f->hint);
    next_member("formula", f->formula);
    putchar('}');
}

static void json_judged(const struct judged *j) {
    uint64_t inputs = j->damage[MATRIX_A].elements + j->damage[MATRIX_B].elements, guards = 0;
    for (int i = 0; i < MATRIX_COUNT; i++) guards += j->damage[i].before + j->damage[i].after;
    printf(", \"right\": %s, \"unwritten\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"nan\": %" PRIu64,
           j->right ? "true" : "false", j->verdict.unwritten, j->verdict.wrong, j->verdict.nan);
    printf(", \"not_float32\": %s, \"inputs_changed\": %" PRIu64 ", \"guards_changed\": %" PRIu64,
           j->verdict.not_float32 ? "true" : "false", inputs, guards);
    json_finding("explanation", &j->explanation);
}

/* One object:
 *   state          started, in-wrapper, returned, stopped, endless, deadlock, time-limit, machine:
 *                  how far it came
 *   detail, file, line, launches, work, bytes_to_host, bytes_into_c: as the worker reports
 *   elements       of C
 *   finding        of the checker, or null
 *   loads          {all, naive, once_per_block} where they were counted, or null
 * and where the state is "returned":
 *   right          all that follows is well
 *   unwritten, wrong, nan, not_float32: of C's elements, see struct verdict
 *   inputs_changed, guards_changed
 *   explanation    what C is instead, or null */
static void verdict_json(const struct task *t, const struct worker_report *r,
                         const struct judged *j) {
    static const char *const states[WORKER_STATES] = {"started",    "in-wrapper", "returned",
                                                      "stopped",    "endless",    "deadlock",
                                                      "time-limit", "machine"};
    printf("{\"state\": \"%s\", \"line\": %d, \"launches\": %d, \"work\": %" PRIu64
           ", \"bytes_to_host\": %" PRIu64 ", \"bytes_into_c\": %" PRIu64,
           states[r->state], r->line, r->launches, r->work, r->bytes_to_host, r->bytes_into_c);
    next_member("detail", r->detail);
    next_member("file", r->file);
    printf(", \"elements\": %" PRIu64, (uint64_t)t->m * (uint64_t)t->n);
    json_finding("finding", &r->finding);
    if (r->counted == 1)
        printf(", \"loads\": {\"all\": %" PRIu64 ", \"naive\": %" PRIu64
               ", \"once_per_block\": %" PRIu64 "}",
               r->loads, 2 * (uint64_t)t->m * (uint64_t)t->n * (uint64_t)t->k,
               r->loads_once_per_block);
    else
        fputs(", \"loads\": null", stdout);
    if (j) json_judged(j);
    puts("}");
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

int main(int argc, char **argv) {
    bool verdicts = argc > 1 && strcmp(argv[1], "verdict") == 0;
    if (!verdicts && (argc < 2 || strcmp(argv[1], "prepare") != 0))
        fail(EXIT_USAGE, "usage: judge prepare|verdict ...");
    struct task t = task_read(argc, argv, verdicts);
    set_threads(1); /* the other cores have cases of their own */
    return verdicts ? verdict(&t) : prepare(&t);
}
