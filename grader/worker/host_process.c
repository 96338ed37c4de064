/* The process in which the submission's host code runs, and its end of the calls to the device: see
 * calls.h. */
#define _GNU_SOURCE
#include "calls.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_END, WRITE_END, PIPE_ENDS, DESCRIPTORS = 256 };

static pid_t child;
static int to_host[PIPE_ENDS], to_device[PIPE_ENDS];
static struct worker_report *said; /* by the host's process, which shares this memory */

pid_t host_process_id(void) { return child; }

bool call_send(int pipe, const void *bytes, size_t count) {
    for (const char *at = bytes, *end = at + count; at < end;) {
        const ssize_t written = write(pipe, at, (size_t)(end - at));
        if (written > 0) at += written;
        if (written < 0 && errno != EINTR) return false;
    }
    return true;
}

bool call_receive(int pipe, void *bytes, size_t count) {
    for (char *at = bytes, *end = at + count; at < end;) {
        const ssize_t got = read(pipe, at, (size_t)(end - at));
        if (got > 0) at += got;
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
    }
    return true;
}

/* --- the host's end of the calls -------------------------------------------------------------- */

/* Rows of the host's memory. */
struct rows {
    char *begin;
    size_t pitch, width, height;
};

static void must(bool passed) {
    if (!passed) _exit(1); /* the device's process has ended, and with it the run */
}

static struct answer ask(struct call *call, const struct rows *given, const struct rows *wanted) {
    struct answer answer;
    fflush(stdout); /* what a kernel prints comes behind it */
    call->frame_count = fault_backtrace(call->frames, CALL_FRAMES);
    call->bytes = given ? given->width * given->height : 0;
    must(call_send(to_device[WRITE_END], call, sizeof *call));
    for (size_t row = 0; given && row < given->height; ++row)
        must(call_send(to_device[WRITE_END], given->begin + row * given->pitch, given->width));
    must(call_receive(to_host[READ_END], &answer, sizeof answer));
    for (size_t row = 0; answer.bytes && row < wanted->height; ++row)
        must(call_receive(to_host[READ_END], wanted->begin + row * wanted->pitch, wanted->width));
    return answer;
}

static cudaError_t allocate(void **pointer, size_t bytes) {
    struct call call = {.kind = CALL_ALLOCATE, .width = bytes};
    const struct answer answer = ask(&call, NULL, NULL);
    if (answer.error != cudaSuccess) return answer.error;
    *pointer = answer.pointer;
    if (*pointer && memory_reserve(*pointer, bytes)) observer->allocated(*pointer, bytes, true);
    return cudaSuccess;
}

static cudaError_t release(void *pointer) {
    struct call call = {.kind = CALL_RELEASE, .to = pointer};
    const cudaError_t error = ask(&call, NULL, NULL).error;
    if (error == cudaSuccess) memory_free(pointer, false);
    return error;
}

/* Whether this end of a copy is the host's; what it should be is for the device to say. */
static bool is_hosts(const void *end, bool should_be, enum cudaMemcpyKind kind) {
    return end && !memory_is_device(end) && (should_be || kind == cudaMemcpyDefault);
}

static cudaError_t copy(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                        size_t width, size_t height, enum cudaMemcpyKind kind) {
    const bool from_host =
        is_hosts(from, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost, kind);
    const bool to_host =
        is_hosts(to, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost, kind);
    const struct rows given = {(char *)from, from_pitch, width, height};
    const struct rows wanted = {to, to_pitch, width, height};
    if (from_host && to_host) {
        for (size_t row = 0; row < height; ++row)
            memmove(to + row * to_pitch, from + row * from_pitch, width);
        return error_surface();
    }
    struct call call = {CALL_COPY,  to,    from,   to_pitch,
                        from_pitch, width, height, .copy_kind = kind};
    return ask(&call, from_host ? &given : NULL, &wanted).error;
}

static cudaError_t set(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    struct call call = {CALL_SET, pointer, NULL, pitch, 0, width, height, .value = value};
    return ask(&call, NULL, NULL).error;
}

static cudaError_t copy_to_symbol(void *to, const void *from, size_t bytes) {
    struct call call = {CALL_COPY_TO_SYMBOL, to, from, .width = bytes};
    const struct rows given = {(char *)from, bytes, bytes, 1};
    return ask(&call, memory_is_device(from) ? NULL : &given, NULL).error;
}

static cudaError_t set_attribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
    struct call call = {CALL_SET_ATTRIBUTE, .from = kernel, .attribute = attribute, .value = value};
    return ask(&call, NULL, NULL).error;
}

static void launch(const struct launch *launch) {
    struct call call = {.kind = CALL_LAUNCH, .launch = *launch};
    const struct rows given = {(char *)launch->data, launch->data_bytes, launch->data_bytes, 1};
    ask(&call, &given, NULL);
}

static cudaError_t error(enum error_call what, cudaError_t error) {
    struct call call = {.kind = CALL_ERROR, .error_call = what, .error = error};
    return ask(&call, NULL, NULL).error;
}

static const struct far_device device = {allocate,       release,       copy,   set,
                                         copy_to_symbol, set_attribute, launch, error};

/* --- the host's process ----------------------------------------------------------------------- */

/* The constructors of kernel.cu's own variables, which compile.sh takes out of the list of what
 * runs before main(). */
extern void (*const __start_kernel_init[])(void) __attribute__((weak));
extern void (*const __stop_kernel_init[])(void) __attribute__((weak));

static void construct(void) {
    for (void (*const *each)(void) = __start_kernel_init; each < __stop_kernel_init; ++each)
        (*each)();
}

static void close_all_but(int one, int other) {
    for (int i = STDERR_FILENO + 1; i < DESCRIPTORS; ++i)
        if (i != one && i != other) close(i);
}

/* The sandbox lets a signal pass to the worker alone: in this process the C library's own abort()
 * would end as an invalid memory access. */
void abort(void) {
    fflush(stdout);
    _exit(EXIT_WRONG);
}

static _Noreturn void host(void (*run)(const struct watched *)) {
    struct watched watched;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_all_but(to_host[READ_END], to_device[WRITE_END]);
    worker_report_to(said);
    if (!call_receive(to_host[READ_END], &watched, sizeof watched)) _exit(EXIT_WRONG);
    far_device = &device;
    fault_install();
    worker_write_report(WORKER_IN_WRAPPER);
    /* Both processes would map the same addresses next: a pointer of this one's to the checker's
     * memory. The heap's are others. */
#ifdef M_MMAP_MAX
    mallopt(M_MMAP_MAX, 0);
#endif
    construct();
    run(&watched);
    fflush(stdout);
    worker_write_report(WORKER_RETURNED);
    _exit(EXIT_PASSED);
}

/* --- the device's ----------------------------------------------------------------------------- */

void host_process_start(void (*run)(const struct watched *watched)) {
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED || pipe(to_host) != 0 || pipe(to_device) != 0) _exit(EXIT_MACHINE);
    fflush(stdout);
    child = fork();
    if (child < 0) _exit(EXIT_MACHINE);
    if (child == 0) host(run);
    close(to_host[READ_END]);
    close(to_device[WRITE_END]);
    prctl(PR_SET_DUMPABLE, 0); /* closes /proc/PID/mem and /proc/PID/fd of this process to it */
    signal(SIGPIPE, SIG_IGN);  /* it may end while it is answered */
}

static int status; /* of the host's process */

void host_process_end_likewise(void) {
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WRONG);
}

struct worker_report host_process_run(const struct watched *watched) {
    call_send(to_host[WRITE_END], watched, sizeof *watched);
    while (device_answer(to_device[READ_END], to_host[WRITE_END])) continue;
    close(to_host[WRITE_END]);
    close(to_device[READ_END]);
    while (waitpid(child, &status, 0) != child) continue;
    struct worker_report report = *said;
    const bool returned = report.state == WORKER_RETURNED && status == 0;
    if (returned || report.state == WORKER_STOPPED || report.state == WORKER_TIME_LIMIT)
        return report;
    if (WIFSIGNALED(status)) host_process_end_likewise();
    report.state = WORKER_IN_WRAPPER;
    return report;
}
