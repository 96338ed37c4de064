/* support.c: the lines that the program prints stage by stage, and how it ends. What each function
 * promises is in support.h. The words of a failure, and the JSON object, are in
 * engine/host/driver/failure.c; watchdog.c waits for what hangs or crashes. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "support.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TIME_COLUMN = 42 }; /* beyond the longest stage line */

static const char *const stage_text[STAGE_COUNT] = {
    "Setting up the problem...",           "Allocating device variables...",
    "Copying data from host to device...", "Launching kernel...",
    "Copying data from device to host...", "Verifying results...",
};

/* In memory that is shared with the process that waits for this one; NULL: there is none. */
static struct report *new_report(int repeat) {
    const size_t bytes = sizeof(struct report) + (size_t)repeat * sizeof(double);
    struct report *report =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) return NULL;
    report->samples = (double *)(report + 1);
    for (int i = 0; i < STAGE_COUNT; i++) report->stage_seconds[i] = -1;
    return report;
}

/* Standard output for the report alone. stdout is what the kernel and the wrapper print to. */
static FILE *take_output(bool json) {
    int file;
    do file = open("/dev/null", O_RDWR | O_CLOEXEC); /* no other gets the number of a closed one */
    while (0 <= file && file <= STDERR_FILENO);
    if (file >= 0) close(file);
    const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (!out) return stdout;
    if (json) dup2(STDERR_FILENO, STDOUT_FILENO);
    return out;
}

struct report *report_begin(const struct options *options, const char *backend, int repeat) {
    struct report *report = new_report(repeat);
    if (!report) options_stop(EXIT_MACHINE, "out of memory for the report", options->json);
    report->options = *options;
    report->backend = backend;
    report->repeat = repeat;
    report->source = source_state();
    report->out = take_output(options->json);
    report->stage = -1;
    if (!watchdog_begin(report))
        report_stop(report, EXIT_MACHINE, "no further process can be started");
    return report;
}

static void print_stage(const struct report *report) {
    fprintf(report->out, "%-*s", TIME_COLUMN, stage_text[report->stage]);
}

void report_stage(struct report *report, enum stage stage) {
    report->stage = stage;
    report->stage_start = clock_seconds();
    if (report->options.json) return;
    print_stage(report);
    fflush(report->out); /* so that it is seen even when the next thing hangs or crashes */
    report->line = LINE_OF_STAGE;
}

void report_stage_end(struct report *report) {
    double seconds = clock_seconds() - report->stage_start;
    report->stage_seconds[report->stage] = seconds;
    if (report->options.json) return;
    if (report->line != LINE_OF_STAGE) { /* the kernel has printed something since */
        report_end_line(report);
        print_stage(report);
    }
    fprintf(report->out, "%9.3f s\n", seconds);
    fflush(report->out);
    report->line = LINE_START;
}

void report_detail(struct report *report, const char *format, ...) {
    if (report->options.json) return;
    char text[2 * MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_paragraph("    ", "", text, report->out);
}

void report_case(struct report *report) {
    const struct lab_case *which = &report->options.which;
    char text[MESSAGE_SIZE] = "";
    for (int i = 0; i < lab_arrays(&lab); i++) {
        int64_t extent[ENGINE_DIMENSIONS];
        lab_extents(&lab.arrays[i], &which->shape, extent);
        APPEND(text, "%s%s", i ? ", " : "", lab.arrays[i].name);
        for (int d = 0; d < lab.arrays[i].dimensions; d++)
            APPEND(text, "%s%" PRId64, d ? " x " : " ", extent[d]);
    }
    report_detail(report, "%s", text);
    report_detail(report, "--fill %s --seed %" PRIu64, lab.fills[which->fill].name, which->seed);
    report_detail(report, "built from %s", source_name());
}

void report_sample(struct report *report, double seconds) {
    report->samples[report->sample_count++] = seconds;
}

/* "44 x 63": without the 1s at its end. */
static void append_extent(char *text, size_t size, const unsigned extent[3]) {
    int shown = extent[2] != 1 ? 3 : extent[1] != 1 ? 2 : 1;
    for (int i = 0; i < shown; i++) append(text, size, "%s%u", i ? " x " : " ", extent[i]);
}

static void print_launch(struct report *report, const struct finding_launch *l, int repeats) {
    char text[MESSAGE_SIZE] = "";
    APPEND(text, "%s, grid", l->kernel);
    append_extent(text, sizeof text, l->grid);
    APPEND(text, ", block");
    append_extent(text, sizeof text, l->block);
    APPEND(text, ", %s bytes of shared memory", grouped(l->static_bytes + l->shared_bytes).text);
    if (l->shared_bytes) APPEND(text, ", %s of them dynamic", grouped(l->shared_bytes).text);
    if (repeats > 1) APPEND(text, ", %d times", repeats);
    report_detail(report, "%s", text);
}

void report_launches(struct report *report) {
    struct launch_times s = launch_times(report);
    for (int i = 0; i < report->launch_count; i++)
        print_launch(report, &report->launches[i], report->launch_repeats[i]);
    if (report->launches_left_out)
        report_detail(report, "and %d more launch%s", report->launches_left_out,
                      report->launches_left_out == 1 ? "" : "es");
    bool cpu = strcmp(report->backend, "cpu") == 0;
    char text[MESSAGE_SIZE] = "";
    APPEND(text, "kernel %.3f ms", 1e3 * s.median);
    if (report->sample_count > 1)
        APPEND(text, ", median of %d (%.3f to %.3f)", report->sample_count, 1e3 * s.min,
               1e3 * s.max);
    if (!cpu) APPEND(text, ", %.4g GFLOP/s", s.gflops);
    report_detail(report, "%s", text);
    if (cpu) report_detail(report, "(This is the CPU's time. It predicts nothing about a GPU.)");
}

void report_verify(struct report *report, const struct host_data *sent,
                   const struct host_data *back) {
    const struct options *o = &report->options;
    const void *arrays[LAB_ARRAYS];
    data_judged(sent, back, arrays);
    if (o->verify == VERIFY_NONE) return;
    const bool enough = truth_verify(&o->which, arrays, &report->verdict);
    if (!enough) report_stop(report, EXIT_MACHINE, "out of memory while verifying");
    report->verified = true;
    report->explanation_count =
        truth_explain(&o->which, arrays, &report->verdict, report->explanations);
    report_explain_launch(report);
}

void report_stop(struct report *report, enum exit_status status, const char *format, ...) {
    char message[2 * MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    watchdog_end_line();
    report_ended_early(report, status, message);
    exit(status);
}

static bool is_intact(const struct report *report) {
    uint64_t damage = 0;
    for (const struct damage *d = report->damage; d < report->damage + LAB_ARRAYS; d++)
        damage += d->elements + d->before + d->after;
    return !damage;
}

enum exit_status report_end(struct report *report) {
    bool passed = !report->verified || (report->verdict.passed && is_intact(report));
    enum exit_status status = passed ? EXIT_PASSED : EXIT_WRONG;
    if (report->options.json) {
        report_json(report, status, NULL, report->out);
    } else {
        fputc('\n', report->out);
        if (!report->verified) {
            fputs("NOT VERIFIED\nThe result was not compared with anything (--verify none).\n",
                  report->out);
        } else if (passed) {
            fprintf(report->out, "TEST PASSED %" PRIu64 "\n", report->verdict.compared);
        } else {
            fputs("TEST FAILED\n", report->out);
            report_failure(report);
            report_print_launches(report, report->out);
        }
        report_print_next(report, report->out);
    }
    fflush(report->out);
    report->is_complete = true;
    return status;
}
