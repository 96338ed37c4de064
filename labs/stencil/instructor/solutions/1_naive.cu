/* Each thread loads an element and its neighbors from global memory.
 *
 * loses: tiled */

__global__ void smoothTile(int rows, int cols, const float *in, float *out)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row >= rows || col >= cols)
        return;
    float sum = in[row * cols + col];
    if (row > 0)
        sum += in[(row - 1) * cols + col];
    if (row + 1 < rows)
        sum += in[(row + 1) * cols + col];
    if (col > 0)
        sum += in[row * cols + col - 1];
    if (col + 1 < cols)
        sum += in[row * cols + col + 1];
    out[row * cols + col] = sum / 5;
}

void smooth(int rows, int cols, const float *in, float *out)
{
    dim3 block(16, 16), grid((cols + 15) / 16, (rows + 15) / 16);
    smoothTile<<<grid, block>>>(rows, cols, in, out);
}
