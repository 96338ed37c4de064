/* A kernel with its return type, which is not void, behind the parameters. */
__global__ auto mysgemm(float *C) -> float // refused: must return void
{
    return C[threadIdx.x];
}
