/* The host's end of the calls to the device: see calls.h. */
#include "calls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static struct { int calls, answers; } pipes;

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
    must(call_send(pipes.calls, call, sizeof *call));
    for (size_t row = 0; given && row < given->height; ++row)
        must(call_send(pipes.calls, given->begin + row * given->pitch, given->width));
    must(call_receive(pipes.answers, &answer, sizeof answer));
    for (size_t row = 0; answer.bytes && row < wanted->height; ++row)
        must(call_receive(pipes.answers, wanted->begin + row * wanted->pitch, wanted->width));
    return answer;
}

static cudaError_t allocate(void **pointer, size_t bytes) {
    struct call call = {.kind = CALL_ALLOCATE, .allocate = {bytes}};
    const struct answer answer = ask(&call, NULL, NULL);
    if (answer.error != cudaSuccess) return answer.error;
    *pointer = answer.pointer;
    if (*pointer && memory_reserve(*pointer, bytes)) observer->allocated(*pointer, bytes, true);
    return cudaSuccess;
}

static cudaError_t release(void *pointer) {
    struct call call = {.kind = CALL_RELEASE, .release = {pointer}};
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
    struct call call = {.kind = CALL_COPY,
                        .copy = {to, from, to_pitch, from_pitch, width, height, kind}};
    return ask(&call, from_host ? &given : NULL, &wanted).error;
}

static cudaError_t set(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    struct call call = {.kind = CALL_SET, .set = {pointer, pitch, width, height, value}};
    return ask(&call, NULL, NULL).error;
}

static cudaError_t copy_to_symbol(void *to, const void *from, size_t bytes) {
    struct call call = {.kind = CALL_COPY_TO_SYMBOL, .symbol = {to, from, bytes}};
    const struct rows given = {(char *)from, bytes, bytes, 1};
    return ask(&call, memory_is_device(from) ? NULL : &given, NULL).error;
}

static cudaError_t set_attribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
    struct call call = {.kind = CALL_SET_ATTRIBUTE, .attribute = {kernel, attribute, value}};
    return ask(&call, NULL, NULL).error;
}

static void launch(const struct launch *launch) {
    struct call call = {.kind = CALL_LAUNCH, .launch = *launch};
    const struct rows given = {(char *)launch->data, launch->data_bytes, launch->data_bytes, 1};
    ask(&call, &given, NULL);
}

static cudaError_t error(enum error_call what, cudaError_t error) {
    struct call call = {.kind = CALL_ERROR, .error = {what, error}};
    return ask(&call, NULL, NULL).error;
}

void host_calls_begin(int calls, int answers) {
    static const struct far_device device = {allocate,       release,       copy,   set,
                                             copy_to_symbol, set_attribute, launch, error};
    pipes.calls = calls;
    pipes.answers = answers;
    far_device = &device;
}
