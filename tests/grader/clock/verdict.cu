/* verdict.cu: lab/speed.cu against lab/truth.c. The same A and B from a seed, and on each C, right
 * or wrong in some way, the same verdict as the CPU's.
 *
 * Output: `ok WHAT` or `not ok WHAT: ...` a line; exit status 0 if all are ok. Needs a GPU. */
extern "C" {
#include "../../../grader/clock/timer.h"
}
#include "../../../engine/report/element_type.h"
#include "../../../lab/sgemm.h"
#include "../../../support.h"

#include <cuda.h>
#include <math.h>
#include <string.h>
#include <vector>

static int failures;

static void result(bool ok, const char *what, int m, int n, int k) {
    printf("%s %s (m n k %d %d %d)\n", ok ? "ok" : "not ok", what, m, n, k);
    failures += !ok;
}

static void must(bool right, const char *why) {
    if (right) return;
    printf("not ok: %s\n", why);
    exit(EXIT_MACHINE);
}

static void went_well(const char *problem) { must(!problem, problem); }

struct test {
    int m, n, k;
    struct speed *speed;
    std::vector<float> A, B, C, spoilt; /* C is cuBLAS's */
};

static bool near(double x, double y) { return fabs(x - y) <= 1e-6 * fmax(fabs(x), fabs(y)); }

/* Both verdicts on t->spoilt. */
static bool agree(struct test *t) {
    static struct verdict here, there; /* large */
    struct problem problem = {};
    problem.m = t->m;
    problem.n = t->n;
    problem.k = t->k;
    problem.A = t->A.data();
    problem.B = t->B.data();
    problem.C = t->spoilt.data();
    problem.comparison = COMPARE_FLOAT32;
    must(verify(&problem, &there), "verify");
    cudaMemcpy(t->speed->out[MATRIX_C], problem.C, t->C.size() * sizeof(float), cudaMemcpyDefault);
    went_well(lab_speed.verify(t->speed, &here));
    const struct wrong_element *mine = &here.first[0], *first = &there.first[0];
    bool same = here.wrong == there.wrong && here.nan == there.nan &&
                here.unwritten == there.unwritten && here.not_float32 == there.not_float32 &&
                here.passed == there.passed && here.compared == there.compared &&
                near(here.max_error_u, there.max_error_u) &&
                near(here.rms_error_u, there.rms_error_u);
    if (there.wrong)
        same &= here.first_count && mine->row == first->row && mine->col == first->col &&
                memcmp(&mine->got, &first->got, sizeof mine->got) == 0 &&
                near(mine->expected, first->expected) && near(mine->bound, first->bound);
    if (there.unwritten)
        same &= memcmp(&here.unwritten_box, &there.unwritten_box, sizeof here.unwritten_box) == 0;
    return same;
}

/* ---- ways to spoil a C ----------------------------------------------------------------------- */

static void set_unwritten(float *element) {
    const uint32_t bits = POISON_BITS;
    memcpy(element, &bits, sizeof bits);
}

static void last_column_unwritten(struct test *t) {
    for (int i = 0; i < t->m; ++i) set_unwritten(&t->spoilt[(size_t)(i + 1) * t->n - 1]);
}

static void unwritten_and_wrong(struct test *t) {
    set_unwritten(&t->spoilt[0]);
    t->spoilt.back() = -1e9f;
}

/* As sums of TF32 would come out: all elements a little off. */
static void imprecise(struct test *t) {
    for (float &element : t->spoilt) element *= 1 + 0x1p-12f;
}

static const struct {
    const char *what;
    void (*spoil)(struct test *);
} ways[] = {{"right", [](struct test *) {}},
            {"one wrong", [](struct test *t) { t->spoilt[t->C.size() / 2] += 1; }},
            {"one NaN", [](struct test *t) { t->spoilt.back() = NAN; }},
            {"one infinite", [](struct test *t) { t->spoilt[t->C.size() / 3] = INFINITY; }},
            {"a column unwritten", last_column_unwritten},
            {"one unwritten, one wrong", unwritten_and_wrong},
            {"all imprecise", imprecise}};

/* ---------------------------------------------------------------------------------------------- */

static std::vector<float> copy_back(const void *device, int rows, int cols) {
    std::vector<float> host((size_t)rows * cols);
    cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return host;
}

static bool filled_alike(const std::vector<float> &data, uint64_t seed, enum matrix_name which,
                         int rows, int cols) {
    std::vector<float> expected(data.size());
    fill_matrix(FILL_RANDOM, seed, which, rows, cols, expected.data());
    return memcmp(data.data(), expected.data(), data.size() * sizeof(float)) == 0;
}

static bool all_unwritten(struct test *t) {
    struct verdict verdict;
    const size_t count = (size_t)t->m * t->n;
    must(cuMemsetD32Async((CUdeviceptr)t->speed->out[MATRIX_C], POISON_BITS, count, NULL) ==
             CUDA_SUCCESS,
         "poison");
    went_well(lab_speed.verify(t->speed, &verdict));
    const struct box *box = &verdict.unwritten_box;
    return verdict.unwritten == count && verdict.wrong == 0 && !verdict.passed &&
           box->row_first == 0 && box->col_first == 0 && box->row_last == t->m - 1 &&
           box->col_last == t->n - 1;
}

static void one_seed(struct test *t, uint64_t seed) {
    went_well(lab_speed.fill(t->speed, seed));
    t->A = copy_back(t->speed->in[MATRIX_A], t->m, t->k);
    t->B = copy_back(t->speed->in[MATRIX_B], t->k, t->n);
    result(filled_alike(t->A, seed, MATRIX_A, t->m, t->k) &&
               filled_alike(t->B, seed, MATRIX_B, t->k, t->n),
           "the same A and B", t->m, t->n, t->k);
    result(all_unwritten(t), "poison is unwritten", t->m, t->n, t->k);
    went_well(lab_speed.run(t->speed));
    must(cudaDeviceSynchronize() == cudaSuccess, "cuBLAS");
    t->C = copy_back(t->speed->out[MATRIX_C], t->m, t->n);
    for (const auto &way : ways) {
        t->spoilt = t->C;
        way.spoil(t);
        result(agree(t), way.what, t->m, t->n, t->k);
    }
}

static void one_shape(int m, int n, int k) {
    struct test t = {m, n, k};
    const struct shape shape = {{m, n, k}};
    went_well(lab_speed.begin(&shape, &t.speed));
    for (uint64_t seed = 1; seed <= 2; ++seed) one_seed(&t, seed);
    lab_speed.end(t.speed);
}

/* Of no work at all: the hold is over before the first event passes, and the host's clock has it.
 */
static void nothing_takes_no_time(void) {
    struct times times;
    struct timer *timer;
    must(timer_new(&timer) == cudaSuccess, "the timer");
    for (int i = 0; i < 2; ++i) /* the first loads code */
        must(timer_start(timer) == cudaSuccess && timer_stop(timer, &times) == cudaSuccess,
             "the timer");
    result(times.event_seconds < 20e-6 && times.host_seconds > 30e-6 && clocks_agree(&times),
           "nothing takes no time", 0, 0, 0);
}

static void too_large(void) {
    const int huge = 2000000;
    const struct shape shape = {{huge, huge, 1}};
    struct speed *speed;
    result(lab_speed.begin(&shape, &speed) != NULL, "too large is an error", huge, huge, 1);
    result(cudaGetLastError() == cudaSuccess, "... and no other's", huge, huge, 1);
}

int main(void) {
    one_shape(1, 1, 1);
    one_shape(34, 34, 34);
    one_shape(129, 65, 1000);
    one_shape(1000, 700, 500);
    one_shape(1025, 1023, 1027);
    nothing_takes_no_time();
    too_large();
    printf("%d failed\n", failures);
    return failures ? EXIT_WRONG : EXIT_PASSED;
}
