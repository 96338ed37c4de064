/* What the model of 9_every_shape says of every kernel on a GPU of 132 multiprocessors: lines as
 * instructor/bench/candidates.cu prints them, with the model's cost for the time. For the shapes on
 * standard input, a line "m k n" each, with the kernel and the share that are chosen; ../test_fit.py
 * compares them with fit.py's. */
#pragma GCC optimize 0
#include "../../../instructor/solutions/9_every_shape/every_shape.cu"
#include <limits.h>
#include <stdio.h>

int main(void) {
    int m, k, n;
    while (scanf("%d %d %d", &m, &k, &n) == 3) {
        const Problem p = {NULL, NULL, NULL, m, n, k, 1, 0};
        const char *comma = "";
        printf("{\"m\": %d, \"k\": %d, \"n\": %d, \"library\": 5, \"runs\": [", m, k, n);
        for (int i = 0; i < (int)(sizeof kernels / sizeof *kernels); ++i)
            for (int share : shares) {
                Plan made;
                if (!fits(kernels[i], p) || !make_plan(made, kernels[i], p, 132, share)) continue;
                printf("%s[%d, %d, %.9g, %d, %.9g, %.9g, %d, %.9g, %.9g]", comma, i, made.share,
                       made.cost, made.chunks, made.waves, made.loads,
                       made.share == 1 ? 0 : made.share, made.read_again, made.rim_k);
                comma = ", ";
            }
        const Choice chosen = choose(p, 132, INT_MAX);
        printf("], \"choice\": [%d, %d]}\n", (int)(chosen.kernel - kernels), chosen.plan.share);
    }
    return 0;
}
