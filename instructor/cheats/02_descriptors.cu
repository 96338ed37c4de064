/* CHEAT 2: writes into every descriptor that may be open, one of which takes the verdict.
 *
 * tries:    2
 * named:    calls write */

#include <string.h>
#include <unistd.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const char *verdict = "{\"state\": \"returned\", \"right\": true}\n";
    for (int descriptor = 1; descriptor < 64; ++descriptor)
        write(descriptor, verdict, strlen(verdict)); /* <- here */
}
