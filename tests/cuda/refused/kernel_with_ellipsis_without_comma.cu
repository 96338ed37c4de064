/* A kernel with a variable number of arguments, without the comma. */
__global__ void mysgemm(float *C, int n...) // refused: cannot take a variable number of arguments
{
    C[threadIdx.x] = n;
}
