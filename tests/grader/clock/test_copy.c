/* Tests of what a lab without a speed.cu is timed beside, here with SGEMM's arrays and with a
 * device of one heap, whose calls the tests count: what is copied, that inputs follow the seed,
 * what a verdict says, and that a call that fails is reported. */
#include "../../../grader/clock/copy.c"

#include "../../../lab/sgemm.h"
#include "../../check.h"

static const struct shape shape = {{5, 7, 3}}; /* m n k */
enum { M = 5, N = 7, K = 3, FLOATS = M * K + K * N + M * N };

static int allocations, fails_at; /* the allocation that fails; 0: none */
static size_t allocated;
static void *copied_to;
static const void *copied_from;
static size_t copied;

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    if (++allocations == fails_at) return cudaErrorMemoryAllocation;
    allocated += bytes;
    *pointer = malloc(bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer) {
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (kind != cudaMemcpyDefault || stream) return cudaErrorInvalidValue;
    copied_to = to, copied_from = from, copied += bytes;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory" : "another error";
}

static struct speed *begun(void) {
    struct speed *speed = NULL;
    allocations = fails_at = 0, allocated = copied = 0;
    CHECK(!lab_speed.begin(&shape, &speed));
    return speed;
}

/* And nothing is computed. */
TEST(as_many_bytes_are_read_and_written_as_the_arrays_have) {
    struct speed *speed = begun();
    const size_t half = (FLOATS * sizeof(float) + 1) / 2;
    CHECK(!lab_speed.computes);
    CHECK(speed->in[0] && speed->in[1] && !speed->in[2]);
    CHECK(!speed->out[0] && !speed->out[1] && speed->out[2]);
    CHECK_INT(allocations, 2);
    CHECK_INT((long long)allocated, (long long)(2 * half));
    CHECK(!lab_speed.run(speed));
    CHECK_INT((long long)copied, (long long)half);
    CHECK(copied_to && copied_from && copied_to != copied_from);
    lab_speed.end(speed);
}

TEST(inputs_follow_the_seed) {
    struct speed *speed = begun();
    float first[M * K];
    lab_speed.fill(speed, 1);
    memcpy(first, speed->in[0], sizeof first);
    lab_speed.fill(speed, 2);
    CHECK(memcmp(first, speed->in[0], sizeof first) != 0);
    lab_speed.fill(speed, 1);
    CHECK(memcmp(first, speed->in[0], sizeof first) == 0);
    lab_speed.end(speed);
}

/* Into what verify() judges, as a kernel would. */
static void multiply(struct speed *speed) {
    const float *a = speed->in[0], *b = speed->in[1];
    float *c = speed->out[2];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int p = 0; p < K; p++) sum += (double)a[i * K + p] * b[p * N + j];
            c[i * N + j] = (float)sum;
        }
}

TEST(a_verdict_is_about_the_last_inputs) {
    struct speed *speed = begun();
    struct verdict verdict;
    lab_speed.fill(speed, 3);
    multiply(speed);
    CHECK(!lab_speed.verify(speed, &verdict));
    CHECK(verdict.passed);
    ((float *)speed->out[2])[M * N - 1] += 1;
    CHECK(!lab_speed.verify(speed, &verdict));
    CHECK(!verdict.passed);
    CHECK_INT((long long)verdict.wrong, 1);
    multiply(speed);
    lab_speed.fill(speed, 4);
    CHECK(!lab_speed.verify(speed, &verdict));
    CHECK(!verdict.passed);
    lab_speed.end(speed);
}

TEST(memory_that_cannot_be_had_is_reported) {
    for (int which = 1; which <= 2; which++) {
        struct speed *speed = NULL;
        allocations = 0, fails_at = which;
        CHECK_STRING(lab_speed.begin(&shape, &speed), "device memory: out of memory");
        lab_speed.end(speed);
    }
}
