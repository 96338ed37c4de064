/* A } is missing in the kernel, so that the wrapper with its launch begins inside it. */
__global__ void mysgemm(float *C)
{
    for (int i = 0; i < 16; ++i) {
        C[i] = i;
}

void basicSgemm(float *C) { // refused: begins inside mysgemm, whose { in line 3 is still open
    mysgemm<<<1, 1>>>(C);
}
