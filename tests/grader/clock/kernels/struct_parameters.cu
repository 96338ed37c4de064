/* All parameters in one struct, by value; one of its pointers is the end of A.
 *
 * clock:    timed */
struct job {
    int m, n, k;
    float alpha;
    const float *A, *A_end, *B;
    float *C;
};

static __global__ void mysgemm(struct job job)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.m && j < job.n) {
        const float *a = job.A + (size_t)i * job.k, *b = job.B + j;
        float sum = 0.0f;
        for (int p = 0; p < job.k && a < job.A_end; ++p, ++a, b += job.n)
            sum += *a * *b;
        job.C[i * job.n + j] = job.alpha * sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    struct job job = {m, n, k, 1.0f, A, A + (size_t)m * k, B, C};
    mysgemm<<<grid, block>>>(job);
}
