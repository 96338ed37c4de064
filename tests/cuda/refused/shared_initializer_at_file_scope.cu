/* A shared variable outside of functions with an initializer. */
__shared__ float tile[16];
__shared__ float sum = 1; // refused: cannot have an initializer

__global__ void mysgemm(float *C)
{
    C[threadIdx.x] = tile[threadIdx.x] + sum;
}
