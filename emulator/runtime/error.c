/* Error codes, and which call returns them.
 *
 * As in CUDA, cudaGetLastError gives the last call's error and forgets it. An error of a kernel
 * that ran (an illegal address, say) shows at the next call that synchronises, and then at every
 * later call: nothing can be computed any more. */
#include "runtime.h"

static cudaError_t last;
static cudaError_t sticky;
static bool sticky_seen;

const struct far_device *far_device;

cudaError_t error_set(cudaError_t error) {
    if (error == cudaSuccess) return error;
    if (far_device) return far_device->error(ERROR_SET, error);
    last = error;
    if (observer) observer->failed(error);
    return error;
}

void error_set_sticky(cudaError_t error) { sticky = error; }

cudaError_t error_sticky(void) {
    return far_device ? far_device->error(ERROR_STICKY, cudaSuccess) : sticky;
}

cudaError_t error_surface(void) {
    if (far_device) return far_device->error(ERROR_SURFACE, cudaSuccess);
    if (sticky == cudaSuccess) return cudaSuccess;
    sticky_seen = true;
    return error_set(sticky);
}

cudaError_t cudaGetLastError(void) {
    if (far_device) return far_device->error(ERROR_GET_LAST, cudaSuccess);
    cudaError_t error = last;
    if (!sticky_seen) last = cudaSuccess;
    if (observer) observer->looked(error);
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    if (far_device) return far_device->error(ERROR_PEEK, cudaSuccess);
    if (observer) observer->looked(last);
    return last;
}

cudaError_t error_call(enum error_call call, cudaError_t error) {
    switch (call) {
    case ERROR_SET: return error_set(error);
    case ERROR_STICKY: return error_sticky();
    case ERROR_SURFACE: return error_surface();
    case ERROR_GET_LAST: return cudaGetLastError();
    case ERROR_PEEK: return cudaPeekAtLastError();
    }
    return cudaErrorInvalidValue;
}

const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define ROW(name, number, text)                                                                    \
    case name: return #name;
        EMULATOR_CUDA_ERRORS(ROW)
#undef ROW
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define ROW(name, number, text)                                                                    \
    case name: return text;
        EMULATOR_CUDA_ERRORS(ROW)
#undef ROW
    }
    return "unrecognized error code";
}
