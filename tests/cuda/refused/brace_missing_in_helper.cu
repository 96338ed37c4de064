/* A } is missing in a device function, so that the kernel begins inside it. */
__device__ float at_least_zero(float x) {
    if (x < 0) {
        return 0;
    return x;
}

__global__ void mysgemm(float *C) { // refused: begins inside at_least_zero, whose { in line 2
    C[threadIdx.x] = at_least_zero(C[threadIdx.x]);
}
