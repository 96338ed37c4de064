/* Error codes, and which call returns them.
 *
 * As in CUDA, cudaGetLastError gives the last call's error and forgets it. An error of a kernel
 * that ran (an illegal address, say) shows at the next call that synchronises, and then at every
 * later call: nothing can be computed any more. */
#include "runtime.h"

static cudaError_t last;
static cudaError_t sticky;
static bool sticky_seen;

cudaError_t error_set(cudaError_t error) {
    if (error == cudaSuccess) return error;
    last = error;
    if (observer) observer->failed(error);
    return error;
}

void error_set_sticky(cudaError_t error) { sticky = error; }

cudaError_t error_sticky(void) { return sticky; }

cudaError_t error_surface(void) {
    if (sticky == cudaSuccess) return cudaSuccess;
    sticky_seen = true;
    return error_set(sticky);
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last;
    if (!sticky_seen) last = cudaSuccess;
    if (observer) observer->looked(error);
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    if (observer) observer->looked(last);
    return last;
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
