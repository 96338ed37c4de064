/* Lambdas of the host's that are for the device: with --extended-lambda, nvcc takes them. */
__device__ int add(int a, int b) { return a + b; }

template <class F> __global__ void apply(F f, int *p) { f(p); }

int main() {
    int *p, by = 3;
    cudaMallocManaged(&p, 2 * sizeof *p);
    apply<<<1, 1>>>([=] __device__(int *q) { q[0] = add(by, 1); }, p);
    apply<<<1, 1>>>([=] __host__ __device__(int *q) { q[1] = by; }, p);
    apply<<<1, 1>>>(
        [=] __device__(int *q) mutable {
            __shared__ int tile[2];
            tile[0] = by++;
            __syncthreads();
            q[1] = tile[0];
        },
        p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
