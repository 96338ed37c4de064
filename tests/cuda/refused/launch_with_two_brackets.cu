/* A launch with two angle brackets on each side. */
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }

void basicSgemm(float *C)
{
    dim3 grid(1), block(16);
    mysgemm<<grid, block>>(C); // refused: three angle brackets
}
