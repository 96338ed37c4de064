/* Your code: fill in both functions.
 *
 *     out[r][c] = (in[r][c] + in[r - 1][c] + in[r + 1][c] + in[r][c - 1] + in[r][c + 1]) / 5
 *
 * Elements outside count as 0. Both arrays are rows x cols, row-major.
 *
 * Build and run:   make && ./stencil 100 70 */

__global__ void smoothTile(int rows, int cols, const float *in, float *out)
{
    /* INSERT KERNEL CODE HERE */
}

/* in and out are in device memory; in is filled. */
void smooth(int rows, int cols, const float *in, float *out)
{
    /* INSERT CODE HERE: choose block and grid, and launch smoothTile */
}
