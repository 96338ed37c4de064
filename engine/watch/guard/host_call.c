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

/* The length of the conversion that begins behind a %, of those that CUDA's printf has, or %n; 0:
 * it begins none. */
static size_t conversion_length(const char *behind) {
    const char *const digits = "0123456789", *p = behind + strspn(behind, "-+ #0");
    p += *p == '*' ? 1 : strspn(p, digits);
    if (*p == '.') p += p[1] == '*' ? 2 : 1 + strspn(p + 1, digits);
    if (*p == 'h' || *p == 'l')
        p += p[1] == *p ? 2 : 1;
    else
        p += *p == 'j' || *p == 'z' || *p == 't';
    return *p && strchr("cdiouxXpeEfFgGaAsn", *p) ? (size_t)(p + 1 - behind) : 0;
}

/* A kernel's format. C's library knows more conversions, and old names of some, so every other % is
 * printed as it is. Null: there is no memory for it. */
static char *safe_format(const char *p, const void *code) {
    char *const safe = malloc(2 * strlen(p) + 1), *to = safe;
    while (safe && *p) {
        if ((*to++ = *p++) != '%') continue;
        const size_t length = *p == '%' ? 1 : conversion_length(p);
        if (length && p[length - 1] == 'n') host_call_refuse("printf with %n", code);
        to = length ? mempcpy(to, p, length) : stpcpy(to, "%");
        p += length;
    }
    if (safe) *to = 0;
    return safe;
}

/* A kernel's format is copied, and the copy ended: another block could change it behind each look.
 */
static int print(const char *format, va_list arguments, const void *code) {
    if (!watch_here()) return vprintf(format, arguments);
    char *const own = strndup(format, SIZE_MAX), *const safe = own ? safe_format(own, code) : NULL;
    const int printed = safe ? vprintf(safe, arguments) : -1;
    free(own);
    free(safe);
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
