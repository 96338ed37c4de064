/* A kernel calls a host function: see host_call.h. */
#include "host_call.h"
#include "../../cuda/program/extents.h"
#include "../detector.h"

void host_call_refuse(const char *name, const void *code) {
    HEAR(host_call, watch_here(), name, code);
    fault_raise(cudaErrorLaunchFailure, FAULT_NONE);
}

void checker_jump(uintptr_t to, const void *code) {
    if (!program_is_kernels_function(to)) host_call_refuse("what is not in kernel.cu", code);
}

void checker_host_call(const char *name) { host_call_refuse(name, __builtin_return_address(0)); }
