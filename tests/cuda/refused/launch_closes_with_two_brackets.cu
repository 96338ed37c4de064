/* A launch that opens with three angle brackets and closes with two. */
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }

void basicSgemm(float *C)
{
    mysgemm<<<1, 16>>(C); // refused: not closed by >>>
}
