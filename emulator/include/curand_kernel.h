/* A left-over #include does no harm. A use of cuRAND is refused by ../rewrite.c, by its line. */
#ifndef EMULATOR_CURAND_KERNEL_H
#define EMULATOR_CURAND_KERNEL_H
#include "cuda_runtime.h"
#endif
