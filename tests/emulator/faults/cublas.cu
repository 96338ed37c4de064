/* A call of cuBLAS, which is not there. */
// expect-build-failure
// expect-stderr: {HERE}: cuBLAS runs only on a GPU; build with BACKEND=cuda on a machine that has one
#include "../programs/check.h"
#include <cublas_v2.h>

int main() {
    cublasHandle_t handle; // HERE
    cublasCreate(&handle);
    return verdict();
}
