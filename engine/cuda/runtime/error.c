/* Error codes, and which call returns them.
 *
 * As in CUDA, cudaGetLastError gives the last call's error and forgets it. An error of a kernel
 * that ran (an illegal address, say) shows at the next call that synchronizes, and then at every
 * later call: nothing can be computed any more. */
#include "../../report/device.h"
#include "runtime.h"

enum { FRAMES = 16 };

static cudaError_t last, sticky;
static bool sticky_seen;

/* The first call that failed since the last error was forgotten: what went wrong later often comes
 * of it. */
static struct {
    cudaError_t error; /* cudaSuccess: none */
    bool is_launch;
    void *frames[FRAMES];
    int frame_count;
} first;

const struct far_device *far_device;

static void remember(cudaError_t error, bool is_launch) {
    last = error;
    if (first.error != cudaSuccess) return;
    first.error = error;
    first.is_launch = is_launch;
    first.frame_count = fault_backtrace(first.frames, FRAMES);
}

void error_set_by_launch(cudaError_t error) { remember(error, true); }
void error_set_sticky(cudaError_t error) { sticky = error; }

static cudaError_t set(cudaError_t error) {
    if (error == cudaSuccess) return error;
    remember(error, false);
    if (observer) observer->failed(error);
    return error;
}

cudaError_t error_call(enum error_call call, cudaError_t error) {
    if (far_device) return far_device->error(call, error);
    if (call == ERROR_SURFACE) sticky_seen |= sticky != cudaSuccess;
    switch (call) {
    case ERROR_SET: return set(error);
    case ERROR_STICKY: return sticky;
    case ERROR_SURFACE: return set(sticky);
    case ERROR_GET_LAST:
        error = last;
        if (!sticky_seen) last = first.error = cudaSuccess;
        if (observer) observer->looked(error, last == cudaSuccess);
        return error;
    case ERROR_PEEK:
        if (observer) observer->looked(last, false);
        return last;
    }
    return cudaErrorInvalidValue;
}

cudaError_t error_set(cudaError_t error) {
    return error == cudaSuccess ? error : error_call(ERROR_SET, error);
}
cudaError_t error_sticky(void) { return error_call(ERROR_STICKY, cudaSuccess); }
cudaError_t error_surface(void) { return error_call(ERROR_SURFACE, cudaSuccess); }
cudaError_t cudaGetLastError(void) { return error_call(ERROR_GET_LAST, cudaSuccess); }
cudaError_t cudaPeekAtLastError(void) { return error_call(ERROR_PEEK, cudaSuccess); }

cudaError_t error_first(struct failed_call *call) {
    *call = (struct failed_call){.is_kernel = sticky != cudaSuccess, .is_launch = first.is_launch};
    if (call->is_kernel) return sticky;
    if (first.error != cudaSuccess) call->place = place_find(first.frames, first.frame_count);
    return first.error;
}

void failed_call_describe(const struct failed_call *call, char *text, size_t bytes) {
    if (call->is_kernel || call->is_launch)
        snprintf(text, bytes, call->is_kernel ? "the kernel failed" : "the launch failed");
    else
        snprintf(text, bytes, "%s failed",
                 call->place.called[0] ? call->place.called : "a call of the CUDA runtime");
}

cudaError_t emulator_failed_call(char *text, size_t bytes) {
    struct failed_call call;
    const cudaError_t error = error_first(&call);
    int place = 0;
    if (call.place.line) place = snprintf(text, bytes, "%s:%d: ", call.place.file, call.place.line);
    if ((size_t)place < bytes) failed_call_describe(&call, text + place, bytes - (size_t)place);
    return error;
}

const char *cudaGetErrorName(cudaError_t error) { return cuda_error_name((int)error); }
const char *cudaGetErrorString(cudaError_t error) { return cuda_error_text((int)error); }
