/* Course code includes this out of habit; what it uses of it is in cuda_runtime.h. */
#ifndef EMULATOR_DEVICE_LAUNCH_PARAMETERS_H
#define EMULATOR_DEVICE_LAUNCH_PARAMETERS_H
#include "cuda_runtime.h"
#endif
