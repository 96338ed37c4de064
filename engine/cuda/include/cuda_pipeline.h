/* The asynchronous copies in their plain C form; the classes that CUDA's header has, too, run on a
 * GPU only. */
#ifndef EMULATOR_CUDA_PIPELINE_H
#define EMULATOR_CUDA_PIPELINE_H
#include "cuda_pipeline_primitives.h"
#endif
