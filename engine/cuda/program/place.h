/* Where in the program a code address is: file, line, function. */
#ifndef ENGINE_CUDA_PLACE_H
#define ENGINE_CUDA_PLACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct place {
    char file[1024];
    char function[256];
    char called[64]; /* the CUDA function that it calls there; empty: not known */
    int line;        /* 0: unknown */
};

/* The innermost of `count` code addresses that belongs to the program under test, not to the
 * emulator or a library. Asks addr2line; line is 0 where that is missing or knows nothing. */
struct place place_find(void *const *addresses, int count);

/* The same of one instruction; `code` is the address behind it, as a call's return address is. Of
 * the first ones asked for, what was found is kept. */
struct place place_before(const void *code);

/* Whether both are in the same line, and it is known. */
bool place_same_line(const struct place *a, const struct place *b);

/* A file's name as seen from the working directory: the part of `file` that says so. */
const char *place_relative(const char *file);

/* Whether a code address lies in the program itself (not in a shared library). */
bool place_in_program(const void *address);

/* Whether an address lies in the program's code or among its static variables: not on a stack, in
 * memory that was allocated, or in a shared library. */
bool place_in_image(const void *address);

/* An address as the program's file knows it: a position-independent one is linked at 0. */
uintptr_t place_link_address(const void *address);

#ifdef __cplusplus
}
#endif
#endif
