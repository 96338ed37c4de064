/* A launch whose brackets are before the name of the kernel. */
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }

void basicSgemm(float *C)
{
    <<<1, 16>>>mysgemm(C); // refused: not closed by >>>(arguments)
}
