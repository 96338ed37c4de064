/* A left-over #include does no harm. A use of cooperative groups is refused by ../rewrite.c, by its
 * line. */
#ifndef EMULATOR_COOPERATIVE_GROUPS_H
#define EMULATOR_COOPERATIVE_GROUPS_H
#include "cuda_runtime.h"
#endif
