/* cudaMemcpy in every direction; cudaMemset, which sets bytes; and arguments that are wrong, each
 * found before a byte moves. */
#include "check.h"

#include <sys/mman.h>

__global__ void add(float *x, float what) { x[threadIdx.x] += what; }

static void copies() {
    enum { N = 100 };
    const size_t bytes = N * sizeof(float);
    float a[N], b[N], *d, *e;
    for (int i = 0; i < N; ++i) a[i] = i;
    OK(cudaMalloc(&d, bytes));
    OK(cudaMalloc(&e, bytes));

    OK(cudaMemcpy(d, a, bytes, cudaMemcpyHostToDevice));
    add<<<1, N>>>(d, 1);
    OK(cudaMemcpy(e, d, bytes, cudaMemcpyDeviceToDevice)); /* waits for the kernel */
    add<<<1, N>>>(d, 100);
    OK(cudaMemcpy(b, e, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; ++i) EXPECT(b[i], i + 1.0f);

    OK(cudaMemcpy(b, a, bytes, cudaMemcpyHostToHost));
    EXPECT(b[99], 99.0f);
    memset(b, 0, bytes);
    OK(cudaMemcpy(d, a, bytes, cudaMemcpyDefault));
    OK(cudaMemcpy(b, d, bytes, cudaMemcpyDefault));
    EXPECT(b[99], 99.0f);

    /* The host's memory may have lower addresses than the device's. */
    void *low =
        mmap((void *)(1 << 28), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(cudaMemcpy(low, d, bytes, cudaMemcpyDeviceToHost));
    EXPECT(((float *)low)[99], 99.0f);

    /* Parts, and nothing. */
    OK(cudaMemcpy(d + 50, a, 10 * sizeof(float), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, d + 49, 12 * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT_EACH(b, 49.0f, 0.0f);
    EXPECT(b[10], 9.0f);
    EXPECT(b[11], 60.0f);
    OK(cudaMemcpy(d, a, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(d, b, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(a, d, bytes, cudaMemcpyDeviceToHost, 0));
    RUN();
    EXPECT(a[11], 60.0f);
}

/* A direction asks for device memory, or pinned memory, at its device's ends; where it says host,
 * the device's will do, too. */
static void directions() {
    enum { DIRECTIONS = 5, ENDS = 3 }; /* pageable, pinned, of the device */
    float one = 1, seven = 7, to_stack, from_stack, *to[ENDS] = {&to_stack},
          *from[ENDS] = {&from_stack};
    for (float **pointers : {to, from}) {
        OK(cudaMallocHost(&pointers[1], sizeof one));
        OK(cudaMalloc(&pointers[2], sizeof one));
    }
    for (int i = 0; i < DIRECTIONS * ENDS * ENDS; ++i) {
        const auto direction = (cudaMemcpyKind)(i / ENDS / ENDS);
        const bool to_device =
            direction == cudaMemcpyHostToDevice || direction == cudaMemcpyDeviceToDevice;
        const bool from_device =
            direction == cudaMemcpyDeviceToHost || direction == cudaMemcpyDeviceToDevice;
        const int t = i / ENDS % ENDS, f = i % ENDS;
        const bool wrong = (to_device && t == 0) || (from_device && f == 0);
        float got;
        OK(cudaMemcpy(to[t], &one, sizeof one, cudaMemcpyDefault));
        OK(cudaMemcpy(from[f], &seven, sizeof one, cudaMemcpyDefault));
        EXPECT(cudaMemcpy(to[t], from[f], sizeof one, direction),
               wrong ? cudaErrorInvalidValue : cudaSuccess);
        cudaGetLastError();
        OK(cudaMemcpy(&got, to[t], sizeof got, cudaMemcpyDefault));
        EXPECT(got, wrong ? 1.0f : 7.0f);
    }
    RUN();
}

static void sets() {
    unsigned *d, h[4];
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemset(d, 0, sizeof h));
    OK(cudaMemset(d + 1, 0xAB, 4));
    OK(cudaMemset((char *)d + 9, 0x1FF, 1)); /* the low byte of the value counts */
    OK(cudaMemset(d, 7, 0));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT_EACH(h, 0, 0xABABABAB, 0xFF00, 0);
    OK(cudaMemsetAsync(d, 0, sizeof h));
    OK(cudaMemsetAsync(d, 2, 4, 0));
    RUN();
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT_EACH(h, 0x02020202, 0, 0, 0);
}

static void errors() {
    int *d, *e, a[100] = {7}, b[100] = {8}, c[100];
    OK(cudaMalloc(&d, 400));
    OK(cudaMalloc(&e, 400));
    OK(cudaMemset(d, 0, 400));

    FAILS(cudaMemcpy(d, a, 400, (cudaMemcpyKind)5), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemcpy(NULL, a, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, NULL, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(NULL, a, 400, cudaMemcpyDefault), cudaErrorInvalidValue);
    /* One end is not where the direction says. */
    for (auto direction :
         {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice})
        FAILS(cudaMemcpy(a, b, 400, direction), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, d, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, a, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(e, d + 50, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    /* More bytes than there are. */
    const size_t too_many = (size_t)1 << 30;
    static char large[1 << 20];
    FAILS(cudaMemcpy(large, d, too_many, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemset(d, 0, too_many), cudaErrorInvalidValue);
    FAILS(cudaMemset(NULL, 0, 4), cudaErrorInvalidValue);
    FAILS(cudaMemset(a, 0, 4), cudaErrorInvalidValue);
    OK(cudaFree(e));
    FAILS(cudaMemcpy(e, a, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);

    EXPECT(a[0] + b[0], 15);
    OK(cudaMemcpy(c, d, 400, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; ++i) EXPECT(c[i], 0);
    RUN();
}

int main() {
    copies();
    directions();
    sets();
    errors();
    return verdict();
}
