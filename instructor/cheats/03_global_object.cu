/* CHEAT 3: the same by the destructor of a global variable, which C++ allows: it runs too late
 * to matter.
 *
 * tries:    3
 * named:    no kernel | nothing | never written | none of */

#include <stdio.h>

struct last_word {
    ~last_word() { printf("TEST PASSED\nSCORE 100\n"); } /* <- here */
};
static last_word word;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
}
