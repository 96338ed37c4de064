/* What the files of this lab share. C = A B; A is m x k, B is k x n, C is m x n. */
#ifndef LAB_SGEMM_H
#define LAB_SGEMM_H
#include "../engine/lab.h"
#include "fill.h"

/* Positions in lab.params. */
enum { PARAM_M, PARAM_N, PARAM_K };

/* m, n or k: kernels index with int, and lab.c allows no more. */
static inline int shape_size(const struct shape *shape, int param) { return (int)shape->of[param]; }

#endif
