/* What a kernel may not call, and what it calls instead. */
#define _GNU_SOURCE
#include "../../cuda/program/program.h"
#include "../block.h"
#include "../detector.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- a kernel calls a host function ----------------------------------------------------------- */

/* Notes the call that returns to `code`, and ends the launch. `name`: the function's symbol, or
 * words for what of it a kernel may not use. On a worker, in a kernel. */
static _Noreturn void host_call_refuse(const char *name, const void *code) {
    HEAR(host_call, watch_here(), name, code);
    fault_raise(cudaErrorLaunchFailure, FAULT_NONE);
}

/* For host_call.S: a kernel jumps to this address, in front of `code`. */
void checker_jump(uintptr_t to, const void *code) {
    if (!program_is_kernels_function(to)) host_call_refuse("what is not in kernel.cu", code);
}

/* For host_call.S, which jumps here from where the function was called. */
_Noreturn void checker_host_call(const char *name) {
    host_call_refuse(name, __builtin_return_address(0));
}

/* Device functions of C's library that load or store through a pointer, or tell the time.
 * kernel.sh links these instead: the compiler does not announce what the library does. Each
 * does as the function of its name does (C17, 7.12.6, 7.12.10, 7.21.6 and 7.27.2.1; sincos is GNU's
 * and CUDA's).
 */
long long emulator_clock(void); /* of the emulator's headers for kernels */

#define STORES(p)                                                                                  \
    access_slowly(&(struct access){.address = (uintptr_t)(p),                                      \
                                   .size = sizeof *(p),                                            \
                                   .write = true,                                                  \
                                   .code = __builtin_return_address(0)})

#define STORES_ONE(type, stored, name)                                                             \
    type checker_##name(type x, stored *p) {                                                       \
        STORES(p);                                                                                 \
        return name(x, p);                                                                         \
    }
STORES_ONE(float, int, frexpf)
STORES_ONE(double, int, frexp)
STORES_ONE(float, float, modff)
STORES_ONE(double, double, modf)

#define REMQUO(type, name)                                                                         \
    type checker_##name(type x, type y, int *quotient) {                                           \
        STORES(quotient);                                                                          \
        return name(x, y, quotient);                                                               \
    }
REMQUO(float, remquof)
REMQUO(double, remquo)

#define SINCOS(type, name)                                                                         \
    void checker_##name(type x, type *sine, type *cosine) {                                        \
        STORES(sine);                                                                              \
        STORES(cosine);                                                                            \
        access_announce(sine, sizeof *sine);                                                       \
        name(x, sine, cosine);                                                                     \
    }
SINCOS(float, sincosf)
SINCOS(double, sincos)

/* In a kernel, CUDA's: see emulator_clock(). */
clock_t checker_clock(void) { return watch_here() ? (clock_t)emulator_clock() : clock(); }

/* CUDA's printf has no %n, which stores. */
static bool has_n(const char *format) {
    for (const char *p = strchr(format, '%'); p; p = strchr(p + 1, '%')) {
        p += 1 + strspn(p + 1, "0123456789.*$#+- 'hlLqjztI");
        if (*p == 'w') p += 1 + (p[1] == 'f') + strspn(p + 1 + (p[1] == 'f'), "0123456789");
        if (*p == 'n') return true;
        if (!*p) return false;
    }
    return false;
}

/* A kernel's format is copied: another block could change it behind the look at it. */
static int print(const char *format, va_list arguments, const void *code) {
    char *own = watch_here() ? strdup(format) : NULL;
    if (own && has_n(own)) host_call_refuse("printf with %n", code);
    const int printed = own || !watch_here() ? vprintf(own ? own : format, arguments) : -1;
    free(own);
    return printed;
}

int checker_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int checker_vprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

int checker_printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int printed = print(format, arguments, __builtin_return_address(0));
    va_end(arguments);
    return printed;
}
int checker_vprintf(const char *format, va_list arguments) {
    return print(format, arguments, __builtin_return_address(0));
}

/* delete's, too. A kernel's stays allocated: what a forged pointer would have C's library do to its
 * lists of free memory, it would do to any address. */
void checker_free(void *p) {
    if (!watch_here()) free(p);
}
