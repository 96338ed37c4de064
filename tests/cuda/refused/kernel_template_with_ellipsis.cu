/* A template of kernels with a variable number of arguments behind a pack. */
template <class... T> __global__ void mysgemm(float *C, T... more, ...) // refused: cannot take a variable number of arguments
{
    C[threadIdx.x] = sizeof...(more);
}
