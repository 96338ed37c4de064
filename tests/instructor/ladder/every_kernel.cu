/* Every kernel that 9_every_shape chooses from, on problems of all kinds, with k shared by one
 * block and by several: which of them `sgemm` takes depends on the number of multiprocessors, here
 * this machine's cores. Prints what is wrong, and ends with 1 then; the number of problems, and 0,
 * if nothing is. ../test_ladder.py runs it. */
#pragma GCC optimize 1 /* or compiling takes longer than running */
#include "../../../build/9_every_shape.cu"
#include "exact.h"

static int problems;

static void compare(const Problem &p, const float *old, size_t number, int share, int processors) {
    for (int i = 0; i < p.m; ++i)
        for (int j = 0; j < p.n; ++j) {
            const size_t at = (size_t)i * p.n + j;
            float sum = 0;
            for (int l = 0; l < p.k; ++l) sum += p.A[(size_t)i * p.k + l] * p.B[(size_t)l * p.n + j];
            const float expected = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * old[at]);
            if (p.C[at] == expected) continue;
            printf("kernel %zu, %d blocks a tile, %d processors, m=%d n=%d k=%d: C[%d][%d] is %g, "
                   "not %g\n", number, share, processors, p.m, p.n, p.k, i, j, p.C[at], expected);
            exit(1);
        }
}

/* C = 2 A B - C, or 2 A B where C holds NaN, by kernel `number` if it does that problem. */
static void problem(size_t number, int m, int n, int k, int share, int processors, float beta) {
    const Kernel &kernel = kernels[number];
    float *A = new_matrix((size_t)m * k, 1), *B = new_matrix((size_t)k * n, 2);
    float *C = new_matrix((size_t)m * n, 3), *old = new_matrix((size_t)m * n, 3);
    const Problem p = {A, B, C, m, n, k, 2, beta};
    const Plan made = plan(kernel, p, processors, share);
    if (fits(kernel, p) && isfinite(made.cost)) {
        for (size_t i = 0; beta == 0 && i < (size_t)m * n; ++i) C[i] = NAN;
        kernel.launch(kernel, p, made);
        OK(cudaGetLastError());
        OK(cudaDeviceSynchronize());
        compare(p, old, number, share, processors);
        ++problems;
    }
    OK(cudaFree(A));
    OK(cudaFree(B));
    OK(cudaFree(C));
    OK(cudaFree(old));
}

static int within(int wanted, int most) { return min(wanted, most); }

/* One tile; tiles that overlap or stick out; rims of both kinds; rows that are no vectors; a k of
 * one chunk, of several, and of one more; and what few kernels are for. */
int main(void) {
    for (size_t number = 0; number < sizeof kernels / sizeof *kernels; ++number) {
        const Kernel &kernel = kernels[number];
        const int m = min(kernel.rows, kernel.most_m), n = min(kernel.cols, kernel.most_n);
        const int k = min(kernel.depth, kernel.most_k);
        const int more_k = within(20 * k + (kernel.wide_k ? 4 : 1), kernel.most_k);
        const int before = problems;
        const int shares[] = {0, 1, 3, 18};
        for (int share : shares) {
            if ((share == 0 && !kernel.streams) || (share > 1 && !kernel.splits)) continue;
            problem(number, m, n, k, share, 3, 0);
            problem(number, within(m + 5, kernel.most_m), within(n + 8, kernel.most_n), more_k,
                    share, 3, -1);
            problem(number, within(m + 3, kernel.most_m), within(n + 3, kernel.most_n), more_k,
                    share, 5, -1);
            problem(number, within(2 * m + 1, kernel.most_m), within(n + 1, kernel.most_n), k,
                    share, 2, 0);
            problem(number, m, n, 1, share, 2, -1);
        }
        CHECK(problems >= before + 4);
    }
    printf("%d problems\n", problems);
    return 0;
}
