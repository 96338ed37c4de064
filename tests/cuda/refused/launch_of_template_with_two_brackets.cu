/* A launch of a template with two angle brackets on each side. */
template <int tile> __global__ void mysgemm(float *C) { C[threadIdx.x] = tile; }

void basicSgemm(float *C)
{
    if (C)
        mysgemm<4><<1, 16>>(C); // refused: three angle brackets
}
