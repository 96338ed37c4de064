/* Which functions and variables are for the device. ../rewrite.c writes attributes in place of
 * CUDA's words, which compilers leave in the object:
 *
 *     __device__              patchable_function_entry(1, 0), and aligned(4096) for a variable
 *     __constant__            aligned(4096)
 *     __global__              patchable_function_entry(2, 1)
 *     __host__ __device__     patchable_function_entry(3, 2)
 *
 * Of each function with the first, the section __patchable_function_entries has an address: that of
 * the function, or one or two instructions before it. */
#ifndef EMULATOR_SPACES_MARKS_H
#define EMULATOR_SPACES_MARKS_H
#include "object.h"

/* CUDA's execution spaces. */
enum space {
    SPACE_HOST,
    SPACE_DEVICE,
    SPACE_GLOBAL,
    SPACE_BOTH,
    SPACE_IMPLICIT, /* a class's own function that the compiler made: as its callers */
    SPACE_NONE      /* the emulator's or the compiler's: not checked */
};

/* The space of each symbol that is a function. Returns NULL where memory is lacking. */
enum space *marks_read(const struct object *o);

/* A variable of the device's memory. */
bool marks_is_device_variable(const struct object *o, unsigned symbol);

/* A constant structure of the host's: nvcc knows the values of its members. */
bool marks_is_constant_structure(const struct object *o, unsigned symbol);

#endif
