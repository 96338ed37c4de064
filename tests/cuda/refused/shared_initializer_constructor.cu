/* A shared object whose constructor is to be called with an argument. */
struct tile {
    float corner;
    __device__ tile(float x) { corner = x; }
};

__global__ void mysgemm(float *C)
{
    __shared__ tile A_s(1.0f); // refused: cannot have an initializer
    C[threadIdx.x] = A_s.corner;
}
