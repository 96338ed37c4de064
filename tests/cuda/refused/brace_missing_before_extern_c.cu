/* A } is missing in the kernel; what follows is extern "C". */
__global__ void mysgemm(float *C) {
    if (threadIdx.x < 8) {
        C[threadIdx.x] = 1.0f;
}

extern "C" void basicSgemm(float *C) { // refused: begins inside mysgemm, whose { in line 2
    mysgemm<<<1, 16>>>(C);
}
