/* cudaMalloc and cudaFree, and what they say to bad arguments; and memory that host and kernels
 * both reach: cudaMallocManaged, cudaMallocHost, cudaHostAlloc. */
#include "check.h"
#include <stdint.h>

/* Bytes of it that this process has. */
static long address_space(void) {
    unsigned long first, end, all = 0;
    FILE *maps =
        fopen("/proc/self/maps", "r"); /* emulators of other machines have this, not statm */
    CHECK(maps != NULL);
    while (fscanf(maps, "%lx-%lx%*[^\n]", &first, &end) == 2) all += end - first;
    fclose(maps);
    return (long)all;
}

static void on_the_device() {
    int *x = NULL, on_stack = 0;
    void *untyped = NULL;
    OK(cudaMalloc((void **)&untyped, 1));
    EXPECT((uintptr_t)untyped % 256, (uintptr_t)0); /* the alignment that CUDA promises */
    OK(cudaFree(untyped));
    x = &on_stack;
    OK(cudaMalloc(&x, 0));
    CHECK(x == NULL);
    OK(cudaFree(x));
    OK(cudaFree(NULL));

    FAILS(cudaMalloc((int **)NULL, 4), cudaErrorInvalidValue);
    FAILS(cudaMalloc(&x, (size_t)1 << 60), cudaErrorMemoryAllocation);

    OK(cudaMalloc(&x, 1000));
    OK(cudaFree(x));
    EXPECT(cudaFree(x), cudaErrorInvalidValue);
    EXPECT(cudaFree(&on_stack), cudaErrorInvalidValue);
    OK(cudaMalloc(&x, 1000));
    EXPECT(cudaFree((char *)x + 4), cudaErrorInvalidValue);
    OK(cudaFree(x));
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    /* Allocations do not overlap, and what is freed can be had again, however often. */
    int *many[50];
    for (int i = 0; i < 50; ++i) {
        OK(cudaMalloc(&many[i], 1000 + i));
        OK(cudaMemset(many[i], i, 1000 + i));
    }
    for (int i = 0; i < 50; ++i) {
        unsigned char last = 255;
        OK(cudaMemcpy(&last, (char *)many[i] + 999 + i, 1, cudaMemcpyDeviceToHost));
        EXPECT((int)last, i);
        OK(cudaFree(many[i]));
    }
    long in_use = 0;
    for (int i = 0; i < 700; ++i) {
        OK(cudaMalloc(&x, 1 << 16));
        OK(cudaFree(x));
        if (i == 350) in_use = address_space();
    }
    CHECK(address_space() - in_use < 8 << 20);

    size_t free_bytes = 0, total_bytes = 0;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    CHECK(free_bytes > 0 && free_bytes <= total_bytes);
}

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

static void for_both() {
    int *managed, *pinned, *mapped, *device, y[32];
    OK(cudaMallocManaged(&managed, 128));
    OK(cudaMallocHost(&pinned, 128));
    OK(cudaHostAlloc(&mapped, 128, cudaHostAllocMapped));
    OK(cudaMalloc(&device, 128));
    for (int i = 0; i < 32; ++i) managed[i] = pinned[i] = mapped[i] = i;

    twice<<<1, 32>>>(managed);
    twice<<<1, 32>>>(pinned); /* unified addressing: one pointer for both sides */
    RUN(twice<<<1, 32>>>(mapped));
    for (int i = 0; i < 32; ++i) EXPECT(managed[i] + pinned[i] + mapped[i], 6 * i);

    OK(cudaMemcpy(device, pinned, 128, cudaMemcpyHostToDevice));
    twice<<<1, 32>>>(device);
    OK(cudaMemcpy(pinned, device, 128, cudaMemcpyDeviceToHost));
    EXPECT(pinned[31], 124);
    OK(cudaMemcpy(y, managed, 128, cudaMemcpyDefault));
    EXPECT(y[31], 62);
    OK(cudaMemcpy(y, managed, 128, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(managed, device, 128, cudaMemcpyDeviceToDevice));
    EXPECT(managed[31], 124);
    OK(cudaMemset(managed, 0, 128));
    OK(cudaDeviceSynchronize());
    EXPECT(managed[31], 0);

    int *same = NULL;
    OK(cudaHostGetDevicePointer(&same, mapped, 0));
    *mapped = 4;
    RUN(twice<<<1, 1>>>(same));
    EXPECT(*mapped, 8);
    const cudaMemLocation here = {cudaMemLocationTypeDevice, 0},
                          host = {cudaMemLocationTypeHost, 0};
    OK(cudaMemPrefetchAsync(managed, 128, here, 0));
    OK(cudaMemPrefetchAsync(managed, 128, host, 0, 0));
#ifdef CUDA_EMULATOR
    FAILS(cudaHostGetDevicePointer((void **)&same, y, 0), cudaErrorInvalidValue);
    OK(cudaMemPrefetchAsync(managed, 128, 0)); /* as of CUDA 12 and earlier */
    OK(cudaMemPrefetchAsync(managed, 128, cudaCpuDeviceId, 0));
    FAILS(cudaMemPrefetchAsync(managed, 128, 1), cudaErrorInvalidDevice);
    FAILS(cudaMemPrefetchAsync(device, 128, here, 0), cudaErrorInvalidValue);
    FAILS(cudaMemPrefetchAsync(managed, 132, here, 0), cudaErrorInvalidValue);
#endif

    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(mapped));
    OK(cudaFreeHost(NULL));
    FAILS(cudaFreeHost(y), cudaErrorInvalidValue);
}

int main() {
    on_the_device();
    for_both();
    return verdict();
}
