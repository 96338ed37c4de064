/* What ../test_ladder.py does with a rung of the ladder: the program of a rung is its file of
 * instructor/solutions/ and behind it this one, with HAS_SGEMM defined to 1 if the rung has alpha
 * and beta, else to 0.
 *
 * Each line of standard input is one call:
 *
 *     m k n fill alpha beta a b c
 *
 * With alpha 1 and beta 0 it is basicSgemm's, else sgemm's. A, B and C begin so many floats (a, b,
 * c) behind a multiple of 16 bytes, and lie between guards. All that is to be written, and all that
 * is not to be read, holds a NaN: the guards, and C where beta is 0. C is compared with a product
 * in double precision, within the bounds of docs/sgemm.md. Prints what is wrong, and ends
 * with 1 then; the number of calls, and 0, if nothing is. */
#include "../../cuda/programs/check.h"
#include <math.h>

typedef unsigned long long bits;

enum { GUARD = 256 * 32 }; /* floats: more than a row of tiles that hang over an edge */
static const unsigned poison = 0x7FA5A5A5u;

/* A matrix between its guards. */
struct guarded {
    float *memory, *elements;
    size_t offset, count;
};

struct call {
    int m, k, n;
    char fill[16];
    float alpha, beta;
    int offset[3];
};

static void set_poison(float *from, float *to) {
    for (; from < to; ++from) memcpy(from, &poison, sizeof poison);
}

static bool is_poison(const float *from, const float *to) {
    for (; from < to; ++from)
        if (memcmp(from, &poison, sizeof poison) != 0) return false;
    return true;
}

static struct guarded make_guarded(int rows, int cols, int offset) {
    struct guarded made = {NULL, NULL, (size_t)offset, (size_t)rows * (size_t)cols};
    OK(cudaMallocManaged(&made.memory, (made.count + made.offset + 2 * GUARD) * sizeof(float)));
    made.elements = made.memory + GUARD + offset;
    set_poison(made.memory, made.elements + made.count + GUARD);
    return made;
}

static bool guards_hold(const struct guarded *g) {
    const float *end = g->elements + g->count;
    return is_poison(g->memory, g->elements) && is_poison(end, end + GUARD);
}

/* The element number `index` of a matrix: from -1 to 1; or a whole number from -8 to 8, with which
 * every sum is exact. */
static float element(const struct call *call, bits matrix, bits index) {
    bits x = (index + 1) * 0x9E3779B97F4A7C15ull + matrix * 0xD1B54A32D192ED03ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull; /* splitmix64 */
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    if (strcmp(call->fill, "exact") == 0) return (float)(int)(x % 17) - 8;
    return (float)(int)(x >> 40) * 0x1p-23f - 1;
}

static void fill(const struct call *call, bits matrix, struct guarded *g) {
    for (size_t i = 0; i < g->count; ++i) g->elements[i] = element(call, matrix, i);
}

static bool is_plain(const struct call *call) { return call->alpha == 1 && call->beta == 0; }

/* A row of the product, and of the product of absolute values, in double precision. */
static void reference_row(const struct call *call, const float *a, const float *B, double *product,
                          double *size) {
    for (int j = 0; j < call->n; ++j) product[j] = size[j] = 0;
    for (int p = 0; p < call->k; ++p)
        for (int j = 0; j < call->n; ++j) {
            double term = (double)a[p] * B[(size_t)p * call->n + j];
            product[j] += term;
            size[j] += fabs(term);
        }
}

/* gamma(k + 2), or 32 u as is asked of numbers with mean zero; and three roundings more where there
 * is an alpha and a beta. */
static double bound(const struct call *call) {
    const double u = 0x1p-24;
    double roundings = fmin(call->k + 2, 32) + (is_plain(call) ? 0 : 3);
    if (strcmp(call->fill, "exact") == 0) return 0;
    return roundings * u / (1 - roundings * u);
}

static const char *verify(const struct call *call, const struct guarded *A, const struct guarded *B,
                          const struct guarded *C) {
    static char said[200];
    double *product = (double *)malloc((size_t)call->n * 2 * sizeof *product);
    double *size = product + call->n;
    const char *wrong = NULL;
    for (int i = 0; i < call->m && !wrong; ++i) {
        reference_row(call, A->elements + (size_t)i * call->k, B->elements, product, size);
        for (int j = 0; j < call->n && !wrong; ++j) {
            size_t at = (size_t)i * call->n + j;
            double before = call->beta == 0 ? 0 : call->beta * (double)element(call, 2, at);
            double expected = call->alpha * product[j] + before;
            double most = bound(call) * (fabs(call->alpha) * size[j] + fabs(before));
            if (fabs(C->elements[at] - expected) <= most) continue;
            snprintf(said, sizeof said, "C[%d][%d] is %.9g, and should be %.9g", i, j,
                     C->elements[at], expected);
            wrong = said;
        }
    }
    free(product);
    for (size_t i = 0; i < A->count; ++i)
        if (A->elements[i] != element(call, 0, i)) return "A was changed";
    for (size_t i = 0; i < B->count; ++i)
        if (B->elements[i] != element(call, 1, i)) return "B was changed";
    if (!guards_hold(A) || !guards_hold(B) || !guards_hold(C)) return "a guard was changed";
    return wrong;
}

static const char *run(const struct call *call) {
    struct guarded A = make_guarded(call->m, call->k, call->offset[0]);
    struct guarded B = make_guarded(call->k, call->n, call->offset[1]);
    struct guarded C = make_guarded(call->m, call->n, call->offset[2]);
    fill(call, 0, &A);
    fill(call, 1, &B);
    if (call->beta != 0) fill(call, 2, &C);
    if (is_plain(call)) basicSgemm(call->m, call->n, call->k, A.elements, B.elements, C.elements);
#if HAS_SGEMM
    else
        sgemm(call->m, call->n, call->k, call->alpha, A.elements, B.elements, call->beta,
              C.elements);
#endif
    RUN();
    const char *wrong = verify(call, &A, &B, &C);
    OK(cudaFree(A.memory));
    OK(cudaFree(B.memory));
    OK(cudaFree(C.memory));
    return failures ? "a call of the CUDA runtime failed" : wrong;
}

int main() {
    struct call call;
    int calls = 0;
    char line[200];
    while (fgets(line, sizeof line, stdin)) {
        int *offset = call.offset;
        if (sscanf(line, "%d %d %d %15s %f %f %d %d %d", &call.m, &call.k, &call.n, call.fill,
                   &call.alpha, &call.beta, &offset[0], &offset[1], &offset[2]) != 9) {
            fprintf(stderr, "not a call: %s", line);
            return 2;
        }
        const char *wrong = run(&call);
        if (wrong) {
            printf("%s: at m k n fill alpha beta, offsets of A B C: %s", wrong, line);
            return 1;
        }
        calls++;
    }
    printf("%d calls\n", calls);
    return 0;
}
