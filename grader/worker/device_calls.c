/* The device's end of the calls: see calls.h.
 *
 * A call comes from a process in which anything may have been forged. No address in it is written
 * to, or jumped to, before it is known to be device memory, a variable of kernel.cu's or one of its
 * functions. */
#include "../../engine/cuda/program/program.h"
#include "calls.h"
#include <stdlib.h>

void emulator_launch(const void *kernel, struct uint3 grid, struct uint3 block, size_t shared_bytes,
                     cudaStream_t stream, void (*thread)(const void *copy), const void *data,
                     size_t bytes);

enum {
    MOST_ARGUMENTS = 32 << 10,  /* bytes; CUDA 12 takes 32,764 */
    MOST_BYTES = (1u << 31) - 1 /* of a copy between host and device; no case comes near it */
};

/* --- copies ----------------------------------------------------------------------------------- */

/* What the host's process has sent, or is to get. */
struct passed {
    void *bytes;
    size_t given, wanted;
};

static cudaError_t copy(const struct call *call, struct passed *passed) {
    const void *from = call->from;
    void *to = call->to;
    size_t to_pitch = call->to_pitch, from_pitch = call->from_pitch, bytes;
    const size_t width = call->width, height = call->height;
    if (__builtin_mul_overflow(width, height, &bytes) || bytes > MOST_BYTES)
        return error_set(cudaErrorInvalidValue);
    const bool from_device = memory_is_device(from), to_device = memory_is_device(to);
    if (bytes && !to_device && from_device) { /* to the host */
        passed->bytes = malloc(bytes);
        passed->wanted = bytes;
        to = passed->bytes;
        to_pitch = width;
    } else if (bytes && to_device && !from_device) {
        if (passed->given != bytes) return error_set(cudaErrorInvalidValue);
        from = passed->bytes;
        from_pitch = width;
    } else if (bytes && !to_device) {
        return error_set(cudaErrorInvalidValue);
    }
    if (!to || !from) return error_set(cudaErrorInvalidValue);
    const cudaError_t error =
        cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, call->copy_kind);
    if (error != cudaSuccess) passed->wanted = 0;
    return error;
}

static cudaError_t copy_to_symbol(const struct call *call, const struct passed *passed) {
    const size_t bytes = call->width;
    const bool from_device = memory_is_device(call->from);
    if (!program_is_kernels_variable((uintptr_t)call->to, bytes) ||
        (!from_device && passed->given != bytes))
        return error_set(cudaErrorInvalidSymbol);
    return cudaMemcpyToSymbol(call->to, bytes, from_device ? call->from : passed->bytes, bytes, 0,
                              cudaMemcpyDefault);
}

/* --- launches --------------------------------------------------------------------------------- */

/* The arguments begin with the kernel, which `thread` calls: see cuda_runtime.h of the engine. */
static cudaError_t launch(const struct call *call, const struct passed *passed) {
    const struct launch *asked = &call->launch;
    if (passed->given < sizeof asked->kernel || passed->given > MOST_ARGUMENTS ||
        *(const void **)passed->bytes != asked->kernel ||
        !program_is_kernels_function((uintptr_t)asked->kernel) ||
        !program_is_kernels_function((uintptr_t)asked->thread))
        return error_set(cudaErrorInvalidDeviceFunction);
    emulator_launch(asked->kernel, asked->grid, asked->block, asked->shared_bytes, NULL,
                    asked->thread, passed->bytes, passed->given);
    return cudaSuccess;
}

/* --- answering -------------------------------------------------------------------------------- */

static cudaError_t answer(const struct call *call, struct passed *passed, void **pointer) {
    switch (call->kind) {
    case CALL_ALLOCATE: return cudaMalloc(pointer, call->width);
    case CALL_RELEASE: return cudaFree(call->to);
    case CALL_COPY: return copy(call, passed);
    case CALL_SET:
        return cudaMemset2D(call->to, call->to_pitch, call->value, call->width, call->height);
    case CALL_COPY_TO_SYMBOL: return copy_to_symbol(call, passed);
    case CALL_SET_ATTRIBUTE: return cudaFuncSetAttribute(call->from, call->attribute, call->value);
    case CALL_LAUNCH: return launch(call, passed);
    case CALL_ERROR: return error_call(call->error_call, call->error);
    }
    return error_set(cudaErrorInvalidValue);
}

bool device_answer(int calls, int answers) {
    struct call call;
    struct passed passed = {NULL, 0, 0};
    if (!call_receive(calls, &call, sizeof call) || call.frame_count < 0 ||
        call.frame_count > CALL_FRAMES || call.bytes > MOST_BYTES)
        return false;
    passed.given = call.bytes;
    if (call.bytes && !(passed.bytes = malloc(call.bytes))) return false;
    bool alive = !call.bytes || call_receive(calls, passed.bytes, call.bytes);
    if (alive) {
        void *given = passed.bytes;
        fault_called_from(call.frames, call.frame_count);
        struct answer made = {0};
        made.error = answer(&call, &passed, &made.pointer);
        fault_called_from(NULL, 0);
        fflush(stdout);
        made.bytes = passed.wanted;
        alive = call_send(answers, &made, sizeof made) &&
                (!made.bytes || call_send(answers, passed.bytes, made.bytes));
        if (given != passed.bytes) free(given);
    }
    free(passed.bytes);
    return alive;
}
