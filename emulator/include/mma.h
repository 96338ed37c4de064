/* A left-over #include does no harm. A use of the tensor cores' wmma is refused by ../rewrite.c, by
 * its line. */
#ifndef EMULATOR_MMA_H
#define EMULATOR_MMA_H
#include "cuda_runtime.h"
#endif
