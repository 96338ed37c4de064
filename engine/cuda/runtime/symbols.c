/* Variables of the program, as host code and kernels know them.
 *
 * A __device__ or __constant__ variable is one variable here, at one address; on a GPU host code
 * has a copy of its own, whose address means nothing to a kernel, and asks for the device's. So a
 * pointer to a variable of the program becomes, among a launch's arguments, an address that nothing
 * is at, unless host code can have the device's: it has asked for it, or has read device memory,
 * where a kernel may have left it. */
#define _GNU_SOURCE
#include "runtime.h"

/* Nothing is mapped there, as little as where device memory begins (allocations.c). */
#define HOSTS_IMAGE ((uintptr_t)1 << 44)

extern const char __executable_start[], etext[], end[];
extern const char __start_emulator_managed[] __attribute__((weak));

enum { MOST_SYMBOLS = 64 };
static struct symbol {
    const char *begin;
    size_t bytes;
} asked[MOST_SYMBOLS];
static int asked_count;
static bool may_know_all; /* addresses of variables: host code has read the device's memory */

bool symbol_is_asked(const void *address, size_t bytes) {
    for (int i = 0; i < asked_count; ++i) {
        const size_t offset = (size_t)((const char *)address - asked[i].begin);
        if (offset <= asked[i].bytes && bytes <= asked[i].bytes - offset) return true;
    }
    return false;
}

void symbol_host_reads(void) { may_know_all = true; }

uintptr_t symbol_in_host(uintptr_t address) {
    const uintptr_t offset = address - HOSTS_IMAGE;
    return offset < (uintptr_t)(end - __executable_start) ? (uintptr_t)__executable_start + offset
                                                          : 0;
}

cudaError_t emulator_symbol_address(void **pointer, const void *symbol, size_t bytes) {
    if (!pointer) return error_set(cudaErrorInvalidValue);
    *pointer = (void *)symbol;
    if (symbol_is_asked(symbol, bytes)) return cudaSuccess;
    if (asked_count == MOST_SYMBOLS)
        may_know_all = true;
    else
        asked[asked_count++] = (struct symbol){symbol, bytes};
    return cudaSuccess;
}

void *emulator_argument(const void *pointer) {
    const char *at = pointer;
    if (at < etext || at >= end || may_know_all || symbol_is_asked(at, 0) ||
        __start_emulator_managed)
        return (void *)pointer;
    return (void *)(HOSTS_IMAGE + (uintptr_t)(at - __executable_start));
}
