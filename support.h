/* support.h: what main.cu leans on. Plain C11 without any CUDA, usable from C and C++.
 *
 * main.cu runs the student's kernel. Here is what it prints, stage by stage; the rest is in
 * engine/host/, for any lab: arrays on the host (host.h), the command line, the words of a failure
 * and the watchdog (driver/driver.h). What is right, the lab says (engine/lab.h). */
#ifndef SUPPORT_H
#define SUPPORT_H
#include "engine/host/driver/driver.h"
#include "engine/host/host.h"
#include "engine/report/text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start a report, and a process that waits for this one and ends it where the wrapper hangs,
 * crashes or exits: before any CUDA call. With options->json, standard output then belongs to the
 * JSON object alone: what the kernel or the wrapper prints goes to standard error. */
struct report *report_begin(const struct options *options, const char *backend, int repeat);

/* Print the stage's line, and at its end its time. */
void report_stage(struct report *report, enum stage stage);
void report_stage_end(struct report *report);

/* An indented line that says more about the stage that just ended. */
void report_detail(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Detail lines on the run that begins: arrays, fill and seed, the file that was built. */
void report_case(struct report *report);

/* A timed launch has taken this long. */
void report_sample(struct report *report, double seconds);

/* Detail lines on the launches and their time: kernel, grid, block, shared memory; median, smallest
 * and largest, GFLOP/s. */
void report_launches(struct report *report);

/* Have the lab judge the outputs that came back for the inputs that were sent, and explain them,
 * and keep what it says; exits (EXIT_MACHINE) when there is no memory for the verdict. */
void report_verify(struct report *report, const struct host_data *sent,
                   const struct host_data *back);

/* The run ends here and now. EXIT_WRONG prints TEST FAILED and why; the others one line on standard
 * error. The first line of the message says what happened, a second one what to do. */
void report_stop(struct report *report, enum exit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

/* Print the result, and return the exit status. */
enum exit_status report_end(struct report *report);

#ifdef __cplusplus
}
#endif
#endif
