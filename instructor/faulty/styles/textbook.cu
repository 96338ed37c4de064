/* STYLE: a textbook's names; B is loaded before A, each with if and else. */

#include <math.h>

#define TILE_WIDTH 16

__global__ void mysgemm(int m, int n, int k, const float *M, const float *N, float *P)
{
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];

    int Row = threadIdx.y + TILE_WIDTH * blockIdx.y;
    int Col = threadIdx.x + TILE_WIDTH * blockIdx.x;
    float Pvalue = 0;

    for (int ph = 0; ph < ceil(k / (float)TILE_WIDTH); ph++) {
        int bRow = ph * TILE_WIDTH + threadIdx.y, aCol = ph * TILE_WIDTH + threadIdx.x;
        if (bRow < k && Col < n)
            Nds[threadIdx.y][threadIdx.x] = N[Col + bRow * n]; // load B
        else
            Nds[threadIdx.y][threadIdx.x] = 0;
        if (aCol < k && Row < m)
            Mds[threadIdx.y][threadIdx.x] = M[aCol + Row * k]; // load A
        else
            Mds[threadIdx.y][threadIdx.x] = 0;
        __syncthreads(); // first barrier

        for (int i = 0; i < TILE_WIDTH; i++)
            Pvalue += Mds[threadIdx.y][i] * Nds[i][threadIdx.x]; // multiply
        __syncthreads(); // second barrier
    }
    if (Row < m && Col < n)
        P[Col + Row * n] = Pvalue; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 dimGrid(ceil(n / 16.0), ceil(m / 16.0), 1);
    dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
    mysgemm<<<dimGrid, dimBlock>>>(m, n, k, A, B, C); // launch
}
