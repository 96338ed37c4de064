/* A kernel that is declared, though not defined, with the return type float. */
__global__ float mysgemm(float *C); // refused: must return void

__global__ void other(float *C)
{
    C[threadIdx.x] = 1.0f;
}
