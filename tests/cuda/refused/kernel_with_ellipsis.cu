/* A kernel with a variable number of arguments. */
__global__ void mysgemm(float *C, ...) // refused: cannot take a variable number of arguments
{
    C[threadIdx.x] = 1.0f;
}
