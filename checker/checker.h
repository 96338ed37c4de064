/* The checker of the CPU backend: what main.c, run.cu and the grader ask of it.
 *
 * Linked into ./sgemm-check beside the runtime. kernel.cu is compiled with
 * -fsanitize=thread,bounds, whose calls access.c answers instead of libtsan. */
#ifndef CHECKER_CHECKER_H
#define CHECKER_CHECKER_H
#include "finding.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum checker_role { CHECKER_SCRATCH, CHECKER_INPUT, CHECKER_OUTPUT };

/* Gives a device allocation its name ("A", a literal) and shape. An input may not be written; of an
 * output, whatever was copied there before, no element counts as written. */
void checker_name_matrix(const float *data, const char *name, int rows, int cols,
                         enum checker_role role);

/* Launches of so many threads at most run on one core: blocks run in order then, and every run sees
 * the same. */
void checker_run_alone(uint64_t threads);

/* Around basicSgemm. Between the two, allocations, launches and failed calls are the student's. */
void checker_wrapper_begins(void);
void checker_wrapper_ended(void);

/* What was seen while the wrapper ran; kind FINDING_NONE: nothing. A mistake of the host's that
 * ends the program calls `fatal` with it instead; `fatal` must not return. */
struct finding checker_finding(void);
void checker_on_fatal(void (*fatal)(const struct finding *finding));

/* So many seconds of processor time for a block of a launch; a launch whose blocks end may take
 * CHECKER_LAUNCH_BLOCKS times as long. */
enum { CHECKER_LAUNCH_BLOCKS = 4 };
void checker_limit_time(double block_seconds);

/* Called with a literal when the machine, not the student, is at fault; must not return. */
void checker_on_machine_fault(void (*machine)(const char *what));

/* Where a function of the program begins. */
void checker_place_of(const void *function, struct finding_party *party);

/* Kernel launches that the wrapper made and that were possible. */
int checker_launches(void);

/* Device memory that the wrapper allocated and did not free. */
struct finding checker_leak(void);

#ifdef __cplusplus
}
#endif
#endif
