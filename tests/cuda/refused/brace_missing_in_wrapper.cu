/* A } is missing in the wrapper, and a function follows it. */
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }

void basicSgemm(float *C) {
    if (C) {
        mysgemm<<<1, 16>>>(C);
}

static int divide_up(int a, int b) { // refused: begins inside basicSgemm, whose { in line 4
    return (a + b - 1) / b;
}
