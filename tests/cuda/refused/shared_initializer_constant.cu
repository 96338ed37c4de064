/* A shared constant. */
__global__ void mysgemm(float *C)
{
    static __shared__ const float one = 1; // refused: cannot have an initializer
    C[threadIdx.x] = one;
}
