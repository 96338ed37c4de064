/* A kernel calls what only host code may. */
#ifndef ENGINE_WATCH_GUARD_HOST_CALL_H
#define ENGINE_WATCH_GUARD_HOST_CALL_H
#include <stdint.h>

/* Notes the call that returns to `code`, and ends the launch. `name`: the function's symbol, or
 * words for what of it a kernel may not use. On a worker, in a kernel. */
_Noreturn void host_call_refuse(const char *name, const void *code);

/* For host_call.S: a kernel jumps to this address, in front of `code`. */
void checker_jump(uintptr_t to, const void *code);

/* For host_call.S, which jumps here from where the function was called. */
_Noreturn void checker_host_call(const char *name);

#endif
