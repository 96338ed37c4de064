/* The program's own variables: kernel.cu's, and all others. */
#ifndef ENGINE_CUDA_PROGRAM_EXTENTS_H
#define ENGINE_CUDA_PROGRAM_EXTENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether an address is in the program, its code and variables. */
bool program_holds(uintptr_t address);
/* Whether it is a variable of neither kernel.cu nor the C++ library. Slow where it is. */
bool program_is_foreign(uintptr_t address);
/* A kernel writes a word of kernel.cu's variables; whether one has. */
void program_kernel_writes(uintptr_t address);
bool program_kernel_wrote(uintptr_t address);
/* Where variables of kernel.cu lie: its own in two places, and its managed ones. */
enum { PROGRAM_EXTENTS = 3 };
void program_extent(int number, uintptr_t *begin, uintptr_t *end);

/* Whether kernel.cu has variables, of whichever side, but for constants that the compiler knows. */
bool program_has_variables(void);
/* Whether these bytes are in kernel.cu's variables. */
bool program_is_kernels_variable(uintptr_t address, size_t bytes);
/* Whether an address is in one of kernel.cu's functions; whether one begins there. */
bool program_is_kernels_code(uintptr_t address);
bool program_is_kernels_function(uintptr_t address);

#endif
