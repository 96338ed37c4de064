/* Host code follows a device pointer: told with its line, then the program dies of it, as it would
 * with a GPU. */
// expect-stderr: {HERE}: host code dereferences the device pointer 0x[0-9a-f]+;
// expect-stderr:     only kernels and cudaMemcpy can access device memory
// expect-status: -11
#include "../programs/check.h"

int main() {
    float *x;
    OK(cudaMalloc(&x, 400));
    OK(cudaMemset(x, 0, 400));
    printf("%f\n", x[5]); // HERE
    return verdict();
}
