/* Launches of one block that copy so many elements of x to y, or set eight of y to 0. */
__global__ void copy_some(const float *x, float *y, int count) {
    if (threadIdx.x < count) y[threadIdx.x] = x[threadIdx.x];
}

__global__ void fill(float *y) { y[threadIdx.x] = 0; }

extern "C" void copy(const float *x, float *y, int count) {
    if (count)
        copy_some<<<1, 32>>>(x, y, count);
    else
        fill<<<1, 8>>>(y);
}
