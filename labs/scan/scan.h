/* Prefix sums: the order of parameters, arrays and fills in lab.c. */
#ifndef LAB_SCAN_H
#define LAB_SCAN_H
#include "engine/lab.h"

enum { PARAM_N };
enum { ARRAY_IN, ARRAY_OUT };
enum { FILL_RANDOM, FILL_ONES, FILL_CANCEL, FILL_COUNTING, FILL_WRAP };

int explain_sums(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                 const struct verdict *verdict, struct explanation *out);

#endif
