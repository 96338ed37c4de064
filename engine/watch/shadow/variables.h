/* The cells of kernel.cu's variables: kernels access __device__ and managed ones as they do other
 * global memory. */
#ifndef ENGINE_WATCH_SHADOW_VARIABLES_H
#define ENGINE_WATCH_SHADOW_VARIABLES_H
#include "cells.h"

/* Those of the variables among which the address is, and where these begin; null: it is among none.
 */
const struct cells *variables_cells(uintptr_t address, uintptr_t *begin);
/* One after the other, from 0 on; null behind the last. */
const struct cells *variables_number(int number, uintptr_t *begin);

#endif
