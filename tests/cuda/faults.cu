/* What a kernel, or host code with device memory, must not do, one fault a run: the program's
 * argument names it. The comment before each declares what is expected (see test_emulator.py). */
#include "programs/check.h"
#include <assert.h>
#include <cuda_pipeline.h>

static struct {
    const char *name;
    void (*run)();
} faults[64];
static int fault_count;

struct registered {
    registered(const char *name, void (*run)()) { faults[fault_count++] = {name, run}; }
};
#define FAULT(name)                                                                                \
    static void fault_##name();                                                                    \
    static registered registered_##name(#name, fault_##name);                                      \
    static void fault_##name()

template <class T> static T *device(size_t n) {
    T *data = NULL;
    OK(cudaMalloc(&data, n * sizeof(T)));
    OK(cudaMemset(data, 0, n * sizeof(T)));
    return data;
}

static void ends_with(cudaError_t error) { EXPECT(cudaDeviceSynchronize(), error); }

/* A launch, and the error with which it ends. */
#define FAULT_ENDS(name, error, ...)                                                               \
    FAULT(name) {                                                                                  \
        __VA_ARGS__;                                                                               \
        ends_with(error);                                                                          \
    }

/* --- addresses -------------------------------------------------------------------------------- */

/* A read far behind an allocation: reported with its line, thread, block, and where it went. */
// expect: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect:     7600 bytes behind the end of a device allocation of 400 bytes
// expect:     thread \(4,0,0\) of block \(1,0,0\), in read_far
__global__ void read_far(const float *x, float *y) {
    int i = blockIdx.x == 1 && threadIdx.x == 4 ? 2000 : threadIdx.x;
    y[threadIdx.x] = x[i]; // HERE
}
FAULT(stray_read) {
    float *x = device<float>(100), *y = device<float>(100);
    read_far<<<2, 100>>>(x, y);
    OK(cudaGetLastError());
    ends_with(cudaErrorIllegalAddress);
}

/* A write before an allocation, as from a negative index. */
// expect: {HERE}: illegal memory access: write to address 0x[0-9a-f]+,
// expect:     4000 bytes before the beginning of a device allocation of 4000 bytes
// expect:     thread \(0,0,0\) of block \(0,0,0\), in write_before
__global__ void write_before(float *x, int row) {
    x[row * 1000 + (int)threadIdx.x] = 1; // HERE
}
FAULT_ENDS(stray_write, cudaErrorIllegalAddress, write_before<<<1, 1>>>(device<float>(1000), -1))

/* An index to an address that this machine cannot even have; cudaErrorIllegalAddress on a GPU. */
// expect: {HERE}: misaligned vector access, or an address that cannot exist
// expect:     thread \(0,0,0\) of block \(0,0,0\), in write_very_far
__global__ void write_very_far(float *x, long i) {
    x[i] = 1; // HERE
}
FAULT_ENDS(stray_very_far, cudaErrorMisalignedAddress,
           write_very_far<<<1, 1>>>(device<float>(1000), 1L << 45))

/* A kernel dereferences a null pointer, in a function that it calls. */
// expect: {HERE}: illegal memory access: read from address \(nil\)
// expect:     thread \(0,0,0\) of block \(0,0,0\), in load
__device__ __noinline__ float load(const float *x) {
    return x[threadIdx.x]; // HERE
}
__global__ void read_null(const float *x, float *y) { y[threadIdx.x] = load(x); }
FAULT_ENDS(null_pointer, cudaErrorIllegalAddress, read_null<<<1, 1>>>(NULL, device<float>(1000)))

/* A kernel reads memory that was freed. */
// expect: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect:     in 4000 bytes of device memory that were freed
// expect:     thread \(0,0,0\) of block \(0,0,0\), in read_freed
__global__ void read_freed(const float *x, float *y) {
    *y = *x; // HERE
}
FAULT(use_after_free) {
    float *x = device<float>(1000), *y = device<float>(1000);
    OK(cudaFree(x));
    read_freed<<<1, 1>>>(x, y);
    ends_with(cudaErrorIllegalAddress);
}

/* Managed memory that was freed; host code could access it, too. */
// expect: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect:     in 4000 bytes of device memory that were freed
// expect:     thread \(0,0,0\) of block \(0,0,0\), in read_managed
__global__ void read_managed(const float *x, float *y) {
    *y = x[999]; // HERE
}
FAULT(use_after_free_of_both) {
    float *x = visible<float>(1000), *y = device<float>(1000);
    OK(cudaFree(x));
    read_managed<<<1, 1>>>(x, y);
    ends_with(cudaErrorIllegalAddress);
}

/* A float4 at an address that is no multiple of 16. A GPU always refuses it; a CPU only where the
 * compiler moves all four at once, as it does here. */
// expect: {HERE}: misaligned vector access.*
// expect:     thread \(0,0,0\) of block \(0,0,0\), in shifted
__global__ void shifted(const float *x, float4 *y) {
    y[threadIdx.x] = *(const float4 *)(x + 1); // HERE
}
FAULT_ENDS(misaligned, cudaErrorMisalignedAddress,
           shifted<<<1, 1>>>(device<float>(1000), device<float4>(250)))

/* Host code dereferences a device pointer, after a kernel has run: reported with its line, then the
 * program dies of it, as it would with a GPU. */
// expect: {HERE}: host code dereferences the device pointer 0x[0-9a-f]+;
// expect:     only kernels and cudaMemcpy can access device memory
// status: -11
__global__ void fill(float *x) { x[threadIdx.x] = 1; }
FAULT(host_writes_device) {
    float *x = device<float>(100);
    fill<<<1, 100>>>(x);
    RUN();
    x[0] = 5; // HERE
}

/* --- functions -------------------------------------------------------------------------------- */

/* A function whose author forgot the last statement: wherever the compiler would go on. */
// expect: {HERE}: this function has a result, and ends without a return statement
// expect:     thread \(5,0,0\) of block \(0,0,0\)
__device__ int forgets(int x) { // HERE
    if (x != 5) return x;
}
__global__ void uses(float *x) { x[threadIdx.x] = forgets(threadIdx.x); }
FAULT_ENDS(no_return, cudaErrorLaunchFailure, uses<<<1, 32>>>(device<float>(100)))

/* The same in host code, which it ends. */
// expect: {HERE}: this function has a result, and ends without a return statement
// status: -6
static int forgets_too(int x) { // HERE
    if (x != 5) return x;
}
FAULT(no_return_in_host_code) { ends_with((cudaError_t)forgets_too(5)); }

/* --- asynchronous copies ---------------------------------------------------------------------- */

/* The source of an asynchronous copy is read at once: so a wrong one is reported at the copy's
 * line, in a function of its own as well, whose last act it is. */
// expect: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect:     7600 bytes behind the end of a device allocation of 400 bytes
// expect:     thread \(3,0,0\) of block \(0,0,0\), in fetch
__device__ __noinline__ void fetch(float *to, const float *from) {
    __pipeline_memcpy_async(to, from, 4); // HERE
}
__global__ void fetches(const float *from, float *out) {
    __shared__ float to[32];
    fetch(&to[threadIdx.x], &from[threadIdx.x == 3 ? 2000 : 0]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = to[threadIdx.x];
}
FAULT(copy_from_stray) {
    float *x = device<float>(100), *y = device<float>(100);
    fetches<<<1, 32>>>(x, y);
    ends_with(cudaErrorIllegalAddress);
}

/* Both addresses of an asynchronous copy must be multiples of its size, on a CPU as well. */
// expect: {HERE}: misaligned asynchronous copy: .*
// expect:     thread \(1,0,0\) of block \(0,0,0\), in copy_by_five
__global__ void copy_by_five(const float *from) {
    __shared__ __align__(16) float to[8];
    __pipeline_memcpy_async(&to[threadIdx.x * 4], &from[threadIdx.x * 5], 16); // HERE
}
FAULT_ENDS(copy_misaligned, cudaErrorMisalignedAddress, copy_by_five<<<1, 2>>>(device<float>(1000)))

/* cp.async moves 4, 8 or 16 bytes; CUDA's header ends the kernel where it is asked for others. */
// expect: {HERE}: __pipeline_memcpy_async copies 4, 8 or 16 bytes.*
// expect:     thread \(0,0,0\) of block \(0,0,0\), in copy_twelve
__global__ void copy_twelve(const float *from) {
    __shared__ float to[4];
    __pipeline_memcpy_async(to, from, 12); // HERE
}
FAULT_ENDS(copy_size, cudaErrorLaunchFailure, copy_twelve<<<1, 1>>>(device<float>(1000)))

/* A copy within shared memory: cp.async reads global memory. */
// expect: {HERE}: an asynchronous copy reads global memory, and this address is in .*
// expect:     thread \(0,0,0\) of block \(0,0,0\), in copy_shared
__global__ void copy_shared() {
    __shared__ float from[4], to[4];
    __pipeline_memcpy_async(&to[threadIdx.x], &from[threadIdx.x], 4); // HERE
}
FAULT_ENDS(copy_from_shared, cudaErrorInvalidAddressSpace, copy_shared<<<1, 1>>>())

/* A copy to global memory: cp.async writes shared memory. */
// expect: {HERE}: an asynchronous copy writes shared memory, and this address is elsewhere
// expect:     thread \(0,0,0\) of block \(0,0,0\), in copy_global
__global__ void copy_global(float *out) {
    __pipeline_memcpy_async(&out[4], &out[0], 4); // HERE
}
FAULT_ENDS(copy_to_global, cudaErrorIllegalInstruction, copy_global<<<1, 1>>>(device<float>(1000)))

/* --- what else ends a kernel ------------------------------------------------------------------ */

/* An integer divided by zero. A GPU goes on with a meaningless value; an x86 CPU stops there. */
// expect: {HERE}: integer division by zero.*
// expect:     thread \(0,0,0\) of block \(0,0,0\), in divide
__global__ void divide(int *x, int by) {
    *x = 100 / by; // HERE
}
FAULT_ENDS(division_by_zero, cudaErrorLaunchFailure, divide<<<1, 1>>>(device<int>(1), 0))

/* __trap() ends the kernel with an error. */
// expect: {HERE}: __trap\(\) was called
// expect:     thread \(7,0,0\) of block \(0,0,0\), in stops
__global__ void stops(int *x) {
    if (threadIdx.x == 7) __trap(); // HERE
    *x = 1;
}
FAULT_ENDS(trap, cudaErrorLaunchFailure, stops<<<1, 32>>>(device<int>(1)))

/* A failed assert prints CUDA's line and nothing more. */
// expect: {HERE}: .*even.*: block: \[1,0,0\], thread: \[1,0,0\] Assertion `threadIdx\.x % 2 == 0` failed\.
__global__ void even() {
    if (blockIdx.x == 1) assert(threadIdx.x % 2 == 0); // HERE
}
FAULT_ENDS(assert_message, cudaErrorAssert, even<<<2, 2>>>())

/* A thread whose local array is larger than a thread's local memory. */
// expect: .*faults\.cu:\d+: stack overflow: .*
// expect:     thread \(0,0,0\) of block \(0,0,0\), in huge
__global__ void huge(int *out, int n) {
    volatile int local[256 * 1024];
    for (int i = 0; i < n; ++i) local[i] = i;
    *out = local[n / 2];
}
FAULT(stack_overflow) {
    huge<<<1, 1>>>(device<int>(1), 256 * 1024);
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
}

/* A __device__ function that calls itself without end. */
// expect: .*faults\.cu:\d+: stack overflow: .*
// expect:     thread \(0,0,0\) of block \(0,0,0\), in down
__device__ __noinline__ int down(volatile int *x, int n) {
    volatile int local[4] = {n, *x, 0, 0};
    return n < 0 ? 0 : down(x, n + 1) + local[n & 3];
}
__global__ void recurse(int *x) { *x = down(x, 0); }
FAULT(endless_recursion) {
    recurse<<<1, 1>>>(device<int>(1));
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
}

/* Dynamic parallelism through a function that could be the host's: seen when it runs. */
// expect: {HERE}: a kernel cannot launch a kernel \(dynamic parallelism\) here; launch it from host code
// expect:     thread \(0,0,0\) of block \(\d,0,0\), in start
__global__ void child(int *x) { *x = 1; }
static __host__ __device__ __attribute__((noinline)) void start(int *x) {
    child<<<1, 1>>>(x); // HERE
}
__global__ void parent(int *x) { start(x); }
FAULT_ENDS(launch_from_kernel, cudaErrorNotSupported, parent<<<4, 32>>>(nullptr))

/* A call by name is refused when it is compiled; one through a pointer when it runs. */
// expect: __syncthreads\(\) was called by host code; only a kernel may call it
// status: 1
__device__ void barrier_of_device() { __syncthreads(); }
FAULT(barrier_on_host) {
    void (*volatile pointer)() = barrier_of_device;
    pointer();
}

/* --- barriers that lanes of a warp pass by ---------------------------------------------------- */

/* The barrier is in a branch that some lanes do not take: they wait at the one behind it. */
// expect: {HERE}: not all threads of the block reach this __syncthreads\(\);
// expect:     thread \(20,0,0\), of the same warp, waits at the one in line \d+
// expect:     thread \(0,0,0\) of block \(0,0,0\), in first_in_branch
__global__ void first_in_branch(int *x, int n) {
    if ((int)threadIdx.x < n) __syncthreads(); // HERE
    x[threadIdx.x] = 1;
    __syncthreads();
}
FAULT_ENDS(barrier_in_branch, cudaErrorLaunchFailure,
           first_in_branch<<<1, 100>>>(device<int>(100), 20))

/* Lanes that do not take the branch are at the next iteration's first barrier, the one that all have
 * just left: it is the other one that they have passed by. */
// expect: {HERE}: not all threads of the block reach this __syncthreads\(\);
// expect:     thread \(33,0,0\), of the same warp, waits at the one in line \d+
// expect:     thread \(32,0,0\) of block \(1,0,0\), in second_in_branch
__global__ void second_in_branch(int *x, int n) {
    for (int i = 0; i < 3; ++i) {
        __syncthreads();
        x[threadIdx.x] += i;
        if (blockIdx.x == 0 || (int)threadIdx.x < n) __syncthreads(); // HERE
    }
}
FAULT_ENDS(barrier_at_the_end_of_a_loop, cudaErrorLaunchFailure,
           second_in_branch<<<2, 64>>>(device<int>(64), 33))

/* A barrier that counts is one, too; and others that have returned, the last thread among them, are
 * not waited for. */
// expect: {HERE}: not all threads of the block reach this __syncthreads\(\);
// expect:     thread \(2,0,0\), of the same warp, waits at the one in line \d+
// expect:     thread \(0,0,0\) of block \(0,0,0\), in counts_in_branch
__global__ void counts_in_branch(int *x) {
    if (threadIdx.x >= 30) return;
    if (threadIdx.x < 2) x[0] = __syncthreads_count(1); // HERE
    else x[1] = __syncthreads_or(x[1]);
}
FAULT_ENDS(barrier_that_counts_in_branch, cudaErrorLaunchFailure,
           counts_in_branch<<<1, 40>>>(device<int>(40)))

/* Two barriers in one line are two, also those of one macro. */
// expect: {HERE}: not all threads of the block reach this __syncthreads\(\);
// expect:     thread \(0,0,0\), of the same warp, waits at another one in this line
// expect:     thread \(1,0,0\) of block \(0,0,0\), in branches_in_one_line
#define STORE_BEFORE_BARRIER(i, value) (x[i] = value, __syncthreads())
__global__ void branches_in_one_line(int *x) {
    if (threadIdx.x % 2) STORE_BEFORE_BARRIER(0, 1); else STORE_BEFORE_BARRIER(1, 2); // HERE
}
FAULT_ENDS(barriers_in_one_line, cudaErrorLaunchFailure,
           branches_in_one_line<<<1, 40>>>(device<int>(40)))

/* Whole warps may come to barriers of their own: they are counted. So may lanes that return before
 * a barrier, those of one block and not of another, and a barrier that is compiled twice, of a
 * macro or of a function that is called twice. */
__global__ void warps_of_two_kinds(int *x) {
    if (threadIdx.x / 32 % 2) {
        x[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
        x[threadIdx.x] = x[threadIdx.x + 32];
    }
}
__global__ void some_lanes_return(int *x) {
    if (threadIdx.x % 3 == 1) return;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        if (i == 2 && threadIdx.x % 5 == 2) return;
        __syncthreads();
    }
    if (blockIdx.x == 1) __syncthreads();
    if (__syncthreads_or(x[threadIdx.x]) == 0) x[threadIdx.x] = 7;
}
__device__ void store_before_barrier(int *x, int value) { STORE_BEFORE_BARRIER(threadIdx.x, value); }
__global__ void one_after_another(int *x) {
    for (int i = 0; i < 4; ++i)
        if (i % 2) { store_before_barrier(x, i); STORE_BEFORE_BARRIER(threadIdx.x, i); }
        else { STORE_BEFORE_BARRIER(threadIdx.x, 7); store_before_barrier(x, i); }
}
FAULT(barriers_that_open) {
    int *x = device<int>(128), back[128];
    warps_of_two_kinds<<<1, 128>>>(x);
    ends_with(cudaSuccess);
    OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; ++i) EXPECT(back[i], 1);
    some_lanes_return<<<2, 100>>>(device<int>(100));
    ends_with(cudaSuccess);
    one_after_another<<<2, 40>>>(device<int>(40));
    ends_with(cudaSuccess);
}

/* --- kernels that do not end ------------------------------------------------------------------ */

/* Half of a warp waits at a barrier, half at a warp operation that names all lanes: nothing will
 * ever change, and no time limit is needed to know it. */
// expect: {HERE}: deadlock: the threads of this block wait for each other; this one waits here
// expect:     thread \(\d+,0,0\) of block \(0,0,0\), in two_ways
__global__ void two_ways(int *x) {
    if (threadIdx.x >= 16) __syncwarp(); else __syncthreads(); // HERE
    x[threadIdx.x] = 1;
}
FAULT_ENDS(deadlock, cudaErrorLaunchTimeout, two_ways<<<1, 32>>>(device<int>(32)))

/* All lanes but one have returned or wait at a warp operation for the last, which waits at another:
 * the place that is named lies in the kernel, not in the emulator's own code. */
// expect: {HERE}: deadlock: the threads of this block wait for each other; this one waits here
// expect:     thread \(\d+,0,0\) of block \(0,0,0\), in two_masks
__global__ void two_masks(int *x) {
    if (threadIdx.x < 16) return;
    unsigned mask = threadIdx.x == 20 ? 0xFFF00000u : 0xFFFF0000u;
    x[threadIdx.x] = __shfl_sync(mask, 1, 16); // HERE
}
FAULT_ENDS(deadlock_in_warp, cudaErrorLaunchTimeout, two_masks<<<1, 32>>>(device<int>(32)))

/* A kernel that does not end is stopped at the time limit, and the place is its loop. */
// expect: {HERE}: the kernel does not end: a block was still running here after [\d.]+ s
// expect:     thread \(3,0,0\) of block \(1,0,0\), in waits
__global__ void waits(volatile int *x, int n) {
    int i = 0;
    if (blockIdx.x == 1 && threadIdx.x == 3)
        while (i < n) i += *x; // HERE
    x[threadIdx.x] = i;
}
FAULT(infinite_loop) {
    int *x = device<int>(32);
    emulator_time_limit(0.5);
    waits<<<2, 32>>>(x, 100);
    OK(cudaGetLastError());
    ends_with(cudaErrorLaunchTimeout);
    EXPECT(cudaMemset(x, 0, 128), cudaErrorLaunchTimeout);
}

/* A phase loop that never reaches its end, with barriers in it. */
// expect: .*faults\.cu:\d+: the kernel does not end: a block was still running here after [\d.]+ s
// expect:     thread \(\d+,0,0\) of block \(0,0,0\), in phases
__global__ void phases(int *x, unsigned n) {
    for (unsigned i = n; i >= 0; --i) {
        x[threadIdx.x] += i;
        __syncthreads();
    }
}
FAULT(endless_barriers) {
    emulator_time_limit(0.5);
    phases<<<1, 32>>>(device<int>(32), 100);
    ends_with(cudaErrorLaunchTimeout);
}

/* A kernel that prints endlessly is inside the C library nearly always: its line is named all the
 * same, and it prints no more when the host has the word again. */
// expect: {HERE}: the kernel does not end: a block was still running here after [\d.]+ s
// expect:     thread \(0,0,0\) of block \(0,0,0\), in prints
__global__ void prints(const volatile int *go) {
    while (*go) printf("%d\n", threadIdx.x); // HERE
}
FAULT(endless_printf) {
    int *go = visible<int>(1);
    *go = 1;
    static capture out;
    out.begin(1);
    emulator_time_limit(0.5);
    prints<<<1, 1>>>(go);
    cudaError_t error = cudaDeviceSynchronize();
    out.end();
    EXPECT(error, cudaErrorLaunchTimeout);
}

/* Blocks that end, but too many of them: that is slow, and not endless. */
// expect: {HERE}: time limit exceeded: [1-9][\d,]* of 1,000,000 blocks were done after [\d.]+ s
// expect:     thread \(0,0,0\) of block \(\d+,0,0\), in slow
__global__ void slow(int *x) {
    for (volatile int i = 0; i < 300000; i = i + 1) {} // HERE
    x[0] = 1;
}
FAULT(slow_blocks) {
    emulator_time_limit(2); /* a block that waits half of it for a processor seems endless */
    slow<<<1000000, 1>>>(device<int>(1));
    ends_with(cudaErrorLaunchTimeout);
}

/* --- one of them ------------------------------------------------------------------------------ */

int main(int, char **arguments) {
    for (int i = 0; i < fault_count; ++i)
        if (strcmp(faults[i].name, arguments[1]) == 0) {
            faults[i].run();
            return verdict();
        }
    return 98;
}
