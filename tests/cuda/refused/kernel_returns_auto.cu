/* A kernel whose return type is to be deduced. */
__global__ auto mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = 1.0f;
}
