/* A template of kernels whose return type is bool. */
template <int tile> static __global__ bool mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = tile;
    return true;
}

void basicSgemm(float *C)
{
    mysgemm<16><<<1, 16>>>(C);
}
