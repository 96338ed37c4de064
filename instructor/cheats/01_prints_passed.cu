/* CHEAT 1: prints what a passed run prints, and ends the program.
 *
 * tries:    1
 * named:    ended the program */

#include <stdio.h>
#include <stdlib.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    printf("TEST PASSED %d\n", m * n);
    fflush(stdout);
    exit(0); /* <- here */
}
