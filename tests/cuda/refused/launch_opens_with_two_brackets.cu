/* A launch that opens with two angle brackets and closes with three. */
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }

void basicSgemm(float *C)
{
    mysgemm<<1, 16>>>(C); // refused: three angle brackets
}
