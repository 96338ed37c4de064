/* Host code that uses device data by name reads the host's own copy of it: nvcc only warns. */
__device__ int counter;
__constant__ float factors[4];
__device__ int *where;

__global__ void use(float *p) { p[0] = factors[1] + counter; }

int main() {
    float values[4] = {1, 2, 3, 4}, *p;
    void *address;
    cudaMalloc(&p, sizeof *p);
    cudaMemcpyToSymbol(factors, values, sizeof values);
    cudaGetSymbolAddress(&address, counter);
    use<<<1, 1>>>(p);
    return counter + (factors[0] != 0 && !where) + (cudaDeviceSynchronize() != cudaSuccess);
}
