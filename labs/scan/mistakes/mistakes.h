/* The mistakes that runs of prefix sums can prove: lessons.c says them, rules.c proves them. */
#ifndef LAB_SCAN_MISTAKES_H
#define LAB_SCAN_MISTAKES_H
#include "../scan.h"

enum { SAY_EXCLUSIVE, SAY_BLOCKS_APART, SAY_OWN_SUM_ADDED, SAY_LAST_STORE, SENTENCES };
enum { MISTAKES = SAY_OWN_SUM_ADDED + 1 }; /* each has a sentence */

#endif
