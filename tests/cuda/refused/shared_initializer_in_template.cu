/* A shared variable of a template parameter's type with an initializer. */
template <class T> __global__ void mysgemm(T *C)
{
    __shared__ T sum{}; // refused: cannot have an initializer
    C[threadIdx.x] = sum;
}

void basicSgemm(float *C)
{
    mysgemm<<<1, 16>>>(C);
}
