/* A kernel calls a host function: see host_call.h. */
#include "host_call.h"
#include "../../cuda/program/extents.h"
#include "../../cuda/program/kernel_name.h"
#include "../event.h"
#include <string.h>

/* "std::vector<int>::at" becomes "std::vector::at"; the < of an operator stays. */
static void drop_template_arguments(char *name) {
    char *to = name;
    int depth = 0;
    for (const char *from = name; *from; ++from) {
        if (!depth && strncmp(from, "operator", 8) == 0) {
            memmove(to, from, strlen(from) + 1);
            return;
        }
        depth += *from == '<';
        if (!depth) *to++ = *from;
        depth -= *from == '>';
    }
    *to = '\0';
}

void host_call_refuse(const char *name, const void *code) {
    const struct access access = {.code = code};
    struct event event = event_here(watch_here(), FINDING_HOST_FUNCTION, &access);
    kernel_name(name, event.text, sizeof event.text);
    drop_template_arguments(event.text);
    event_note(&event);
    fault_raise(cudaErrorLaunchFailure, NULL);
}

void checker_jump(uintptr_t to, const void *code) {
    if (!program_is_kernels_function(to)) host_call_refuse("what is not in kernel.cu", code);
}

void checker_host_call(const char *name) { host_call_refuse(name, __builtin_return_address(0)); }
