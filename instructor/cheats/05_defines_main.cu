/* CHEAT 5: has a main() of its own, which says that all is well.
 *
 * tries:    5
 * named:    remove main() */

#include <stdio.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
}

int main() /* <- here */
{
    printf("TEST PASSED\n");
    return 0;
}
