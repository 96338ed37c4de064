/* Prefix sums: the order of parameters, arrays, fills and formulas in lab.c. */
#ifndef LAB_SCAN_H
#define LAB_SCAN_H
#include "engine/lab.h"

enum { PARAM_N };
enum { ARRAY_IN, ARRAY_OUT };
enum { FILL_RANDOM, FILL_ONES, FILL_CANCEL, FILL_COUNTING, FILL_WRAP };
enum { EXCLUSIVE, BLOCKS_APART, OWN_SUM_ADDED, COPIED };

#endif
