/* A left-over #include does no harm. A use of cuBLAS is refused by ../rewrite.c, by its line. */
#ifndef EMULATOR_CUBLAS_V2_H
#define EMULATOR_CUBLAS_V2_H
#include "cuda_runtime.h"
#endif
