/* What passes between the host's process and the device's: a call, what it takes of the host's
 * memory, the answer, and what it brings there. The device's process believes nothing of a call: it
 * checks what a call says as a GPU's driver would. */
#ifndef WORKER_CALLS_H
#define WORKER_CALLS_H
#include "../../engine/cuda/runtime/runtime.h"
#include "watch.h"
#include <sys/types.h>

enum call_kind {
    CALL_ALLOCATE,
    CALL_RELEASE,
    CALL_COPY,
    CALL_SET,
    CALL_COPY_TO_SYMBOL,
    CALL_SET_ATTRIBUTE,
    CALL_LAUNCH,
    CALL_ERROR
};

enum { CALL_FRAMES = 16 };

/* Beside the kind, what the runtime's function takes. Bytes in a row are one row, of this width. */
struct call {
    enum call_kind kind;
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    enum cudaMemcpyKind copy_kind;
    enum cudaFuncAttribute attribute;
    int value;
    struct launch launch;
    enum error_call error_call;
    cudaError_t error;
    int frame_count;
    void *frames[CALL_FRAMES]; /* who calls, from the innermost on */
    size_t bytes;              /* of the host's memory, which follow */
};

struct answer {
    cudaError_t error;
    void *pointer;
    size_t bytes; /* for the host's memory, which follow */
};

/* All of them. False: the other process has ended. */
bool call_send(int pipe, const void *bytes, size_t count);
bool call_receive(int pipe, void *bytes, size_t count);

/* In the device's process: answers one. False: the host's process has ended, or lies. */
bool device_answer(int calls, int answers);

/* --- host_process.c ---------------------------------------------------------------------------
 *
 * The checked build runs the wrapper in a process of its own, as host code and device code are
 * apart on a GPU. The worker forks before the inputs are in it. The child runs the submission's
 * host code; the worker keeps the device, the checker with all it has counted and found, and the
 * report. The host code asks for the device's memory and launches through a pipe: device_calls.c.
 *
 * So it does not matter what host code writes in its own memory, by whatever library function or
 * forged pointer: nothing reads its copy of the checker. */

/* Forks. In the child, `run` is called when the worker says so, and is to call the wrapper. */
void host_process_start(void (*run)(const struct watched *watched));
pid_t host_process_id(void);

/* Has it do so, and does what it asks for until it ends. Its report, of which only what is said of
 * the host's code counts; the state is WORKER_RETURNED if the wrapper has returned, and
 * WORKER_IN_WRAPPER if it has called exit() or abort(). If it ended in any other way that it has
 * not reported, so does this process. */
struct worker_report host_process_run(const struct watched *watched);

/* As if host code had done it in this process: the grader sees how a worker ends. */
void host_process_end_likewise(void) __attribute__((noreturn));

#endif
