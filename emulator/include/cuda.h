/* Course code includes this out of habit; what it uses of it is in cuda_runtime.h. */
#ifndef EMULATOR_CUDA_H
#define EMULATOR_CUDA_H
#include "cuda_runtime.h"
#endif
