/* A shared variable with an initializer. */
__global__ void mysgemm(float *C)
{
    __shared__ float sum = 0; // refused: cannot have an initializer
    C[threadIdx.x] = sum;
}
