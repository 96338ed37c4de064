/* A header of CUDA's that the CPU backend does not have, with CUDA installed or not. */
// expect-build-failure
// expect-stderr: {HERE}: <cuda_fp16.h> of the CUDA toolkit does not work on the CPU backend; take the #include out, or build with BACKEND=cuda
#include "../programs/check.h"
#include <cuda_fp16.h> // HERE

int main() { return verdict(); }
