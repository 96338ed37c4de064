/* A shared array with braces as its initializer. */
__global__ void mysgemm(float *C)
{
    __shared__ float tile[16]{}; // refused: cannot have an initializer
    C[threadIdx.x] = tile[threadIdx.x];
}
