/* CHEAT 5: looks up the functions of the program that it runs in.
 *
 * tries:    5
 * named:    calls dlsym */

#include <dlfcn.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    void (*tell)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "worker_tell"); /* <- here */
    if (tell)
        tell(2);
}
