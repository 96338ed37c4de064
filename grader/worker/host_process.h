/* The checked build runs the wrapper in a process of its own, as host code and device code are
 * apart on a GPU. The worker forks before the inputs are in it. The child runs the submission's
 * host code; the worker keeps the device, the checker with all it has counted and found, and the
 * report. The host code asks for the device's memory and launches through a pipe: device_calls.c.
 *
 * So it does not matter what host code writes in its own memory, by whatever library function or
 * forged pointer: nothing reads its copy of the checker. */
#ifndef WORKER_HOST_PROCESS_H
#define WORKER_HOST_PROCESS_H
#include "watch.h"
#include <sys/types.h>

/* Forks. In the child, `run` is called when the worker says so, and is to call the wrapper. */
void host_process_start(void (*run)(const struct watched *watched));
pid_t host_process_id(void);

/* Has it do so, and does what it asks for until it ends. Its report, of which only what is said of
 * the host's code counts; the state is WORKER_RETURNED if the wrapper has returned. If it ended in
 * any other way that it has not reported, so does this process. */
struct worker_report host_process_run(const struct watched *watched);

#endif
