/* table.c: the table on standard output, a part for each shape, as soon as it is known. */
#include "ladder.h"

enum { COLUMNS = 80 };

const char *state_name(enum state state) {
    static const char *const names[STATE_COUNT] = {
        [STATE_OPEN] = "not measured", [STATE_MEASURED] = "measured",
        [STATE_NOTHING] = "nothing",   [STATE_WRONG] = "wrong",
        [STATE_FAULTED] = "faulted",   [STATE_HUNG] = "time limit",
        [STATE_UNSTEADY] = "unsteady", [STATE_IMPOSSIBLE] = "impossible",
        [STATE_UNUSABLE] = "unusable", [STATE_SKIPPED] = "skipped",
    };
    return names[state];
}

bool state_failed(enum state state) {
    return state != STATE_MEASURED && state != STATE_NOTHING && state != STATE_SKIPPED;
}

double gflops(const struct shape *shape, const struct result *result) {
    return result->seconds.n ? 1e-9 * shape->flops / result->seconds.median : 0;
}

double ratio_to_cublas(const struct ladder *ladder, int shape, int kernel) {
    const struct summary *mine = &result_of(ladder, shape, kernel)->seconds;
    const struct summary *cublas = &result_of(ladder, shape, 0)->seconds;
    return mine->n && cublas->n ? cublas->median / mine->median : 0;
}

/* 50487 as 50,487; below 100 with a decimal. */
struct figure {
    char text[32];
};

static struct figure figure(double value) {
    struct figure f;
    if (value < 99.95)
        snprintf(f.text, sizeof f.text, "%.1f", value);
    else if (value < 999.5)
        snprintf(f.text, sizeof f.text, "%.0f", value);
    else
        snprintf(f.text, sizeof f.text, "%d,%03d", (int)(value + 0.5) / 1000,
                 (int)(value + 0.5) % 1000);
    return f;
}

/* In the unit in which it has one to three digits before the point. */
static struct figure duration(double seconds) {
    struct figure f;
    if (seconds < 1e-3)
        snprintf(f.text, sizeof f.text, "%.2f us", 1e6 * seconds);
    else
        snprintf(f.text, sizeof f.text, "%.3f ms", 1e3 * seconds);
    return f;
}

static const char *fact(const struct ladder *ladder, const char *key) {
    for (int i = 0; i < ladder->machine_count; i++)
        if (strcmp(ladder->machine[i].key, key) == 0) return ladder->machine[i].text;
    return "?";
}

void table_begin(FILE *out, const struct ladder *ladder) {
    fprintf(out, "%s, driver %s, CUDA %s, cuBLAS %s, %s\n", fact(ladder, "device"),
            fact(ladder, "driver"), fact(ladder, "cuda_runtime"), fact(ladder, "cublas"),
            ladder->date);
    fprintf(out, "ceilings: FFMA %s GFLOP/s (%s MHz),", figure(1e-9 * ladder->ffma_flops).text,
            fact(ladder, "mhz_under_load"));
    fprintf(out, " memory %s GB/s,", figure(1e-9 * ladder->memory_bytes).text);
    fprintf(out, " L2 %s GB/s\n", figure(1e-9 * ladder->l2_bytes).text);
}

/* The most samples that any kernel has, and whether one went through a graph, and one did not. */
static void shape_head(FILE *out, const struct ladder *ladder, int shape) {
    int samples = 0, calls = 1;
    for (int i = 0; i < ladder->kernel_count; i++) {
        const struct result *result = result_of(ladder, shape, i);
        if (result->seconds.n > samples) samples = result->seconds.n;
        if (result->graph && result->state == STATE_MEASURED) calls = result->calls;
    }
    fprintf(out, "\n%s (m k n), %d samples", shape_text(&ladder->shapes[shape]).text, samples);
    if (calls > 1) fprintf(out, ", each a graph of %d calls: time per call", calls);
    fprintf(out, "\n%-20s %10s %11s %10s %9s %13s\n", "", "GFLOP/s", "% of cuBLAS", "% of FFMA",
            "spread %", "median");
}

static void result_line(FILE *out, const struct ladder *ladder, int shape, int kernel, bool mark) {
    const struct result *r = result_of(ladder, shape, kernel);
    const double speed = gflops(&ladder->shapes[shape], r);
    const double ratio = ratio_to_cublas(ladder, shape, kernel);
    const bool level = kernel > 0 && ratio >= 1 && use_colour(out);
    fprintf(out, "%s%-20.20s %10s", level ? "\033[32m" : "", ladder->kernels[kernel].name,
            figure(speed).text);
    if (ratio > 0)
        fprintf(out, " %11.1f", 100 * ratio);
    else
        fprintf(out, " %11s", "");
    fprintf(out, " %10.1f %9.1f %13s%s%s\n", 1e11 * speed / ladder->ffma_flops,
            spread_percent(&r->seconds), duration(r->seconds.median).text, mark ? " *" : "",
            level ? "\033[0m" : "");
}

static void failure_line(FILE *out, const struct kernel *kernel, const struct result *r) {
    const bool colour = use_colour(out) && state_failed(r->state);
    char line[2 * TEXT_SIZE];
    snprintf(line, sizeof line, "%-20.20s %s%s%s", kernel->name, state_name(r->state),
             *r->reason ? ": " : "", r->reason);
    const bool cut = strlen(line) > COLUMNS; /* standard error has all of it */
    fprintf(out, "%s%.*s%s%s\n", colour ? "\033[31m" : "", cut ? COLUMNS - 3 : COLUMNS, line,
            cut ? "..." : "", colour ? "\033[0m" : "");
}

void table_shape(FILE *out, const struct ladder *ladder, int shape) {
    const struct shape *s = &ladder->shapes[shape];
    bool any_graph = false, any_call = false;
    if (*s->problem) {
        fprintf(out, "\n%s (m k n): %s\n", shape_text(s).text, s->problem);
        return;
    }
    for (int i = 0; i < ladder->kernel_count; i++) any_graph |= result_of(ladder, shape, i)->graph;
    shape_head(out, ladder, shape);
    for (int i = 0; i < ladder->kernel_count; i++) {
        const struct result *r = result_of(ladder, shape, i);
        const bool mark = any_graph && !r->graph;
        if (r->state == STATE_MEASURED)
            result_line(out, ladder, shape, i, mark);
        else if (ladder->kernels[i].state == STATE_OPEN)
            failure_line(out, &ladder->kernels[i], r);
        any_call |= mark && r->state == STATE_MEASURED;
    }
    if (any_call) fprintf(out, "* one plain call: this kernel cannot be captured into a graph\n");
    fflush(out);
}
