/* CHEAT 18: loads a library that multiplies.
 *
 * tries:    18
 * named:    calls dlopen */

#include <dlfcn.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    void *library = dlopen("libopenblas.so", RTLD_NOW); /* <- here */
    if (library)
        dlclose(library);
}
