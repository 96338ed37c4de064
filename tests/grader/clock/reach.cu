// clock_reach.cu: what a kernel can reach from where ./clock runs submissions. Made by
// tests/grader/clock/test_record_and_replay.py and run on a GPU:
//
//     clock_reach own|context|process
//
// A kernel writes to memory of its own context, to show that the probe works; to memory of another
// context of its process; to an address at which another process has memory. Prints "reached" when
// what it wrote is found there, else "out of reach".
#include "../../../lab/sgemm.h"
#include "../../../support.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int mark = 42;

__global__ void touch(volatile int *where) { *where = mark; }

static void must(bool fine, const char *what) {
    if (fine) return;
    printf("machine: %s\n", what);
    exit(EXIT_MACHINE);
}

static int *new_memory() {
    int *memory;
    must(cudaMalloc((void **)&memory, 1 << 20) == cudaSuccess, "memory");
    must(cudaMemset(memory, 0, 1 << 20) == cudaSuccess, "memset");
    must(cudaDeviceSynchronize() == cudaSuccess, "memset");
    return memory;
}

static int found(const int *memory) {
    int value = 0;
    must(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    return value;
}

// The current context's kernel, by the driver, so that no runtime chooses another context.
static void touch_by_driver(const int *where) {
    cudaFunction_t function;
    must(cudaGetFuncBySymbol(&function, (const void *)touch) == cudaSuccess, "function");
    void *parameters[] = {&where};
    must(cuLaunchKernel((CUfunction)function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) ==
             CUDA_SUCCESS,
         "launch");
    cuCtxSynchronize(); // fails where the address is none
}

static void enter_new_context() {
    CUcontext context, current;
#if CUDA_VERSION >= 13000
    must(cuCtxCreate(&context, NULL, CU_CTX_SCHED_SPIN, 0) == CUDA_SUCCESS, "context");
#else
    must(cuCtxCreate(&context, CU_CTX_SCHED_SPIN, 0) == CUDA_SUCCESS, "context");
#endif
    must(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context, "another context");
}

static int in_context() {
    CUcontext home;
    int *memory = new_memory();
    must(cuCtxGetCurrent(&home) == CUDA_SUCCESS, "context");
    enter_new_context();
    touch_by_driver(memory);
    must(cuCtxSetCurrent(home) == CUDA_SUCCESS, "back");
    return found(memory);
}

// The other process is the one that has memory; this one writes to its address.
static int in_process() {
    int to[2], from[2], *memory = NULL, value = 0;
    must(pipe(to) == 0 && pipe(from) == 0, "pipes");
    const pid_t other = fork(); // before CUDA starts
    if (other == 0) {
        char done;
        memory = new_memory();
        must(write(from[1], &memory, sizeof memory) == sizeof memory, "write");
        must(read(to[0], &done, 1) == 1, "read");
        value = found(memory);
        must(write(from[1], &value, sizeof value) == sizeof value, "write");
        _exit(0);
    }
    must(read(from[0], &memory, sizeof memory) == sizeof memory, "read");
    cudaFree(NULL);
    touch_by_driver(memory);
    must(write(to[1], "", 1) == 1, "write");
    must(read(from[0], &value, sizeof value) == sizeof value, "read");
    waitpid(other, NULL, 0);
    return value;
}

int main(int argc, char **argv) {
    const char *where = argc == 2 ? argv[1] : "";
    int value;
    if (strcmp(where, "own") == 0) {
        int *memory = new_memory();
        touch_by_driver(memory);
        value = found(memory);
    } else if (strcmp(where, "context") == 0)
        value = in_context();
    else if (strcmp(where, "process") == 0)
        value = in_process();
    else
        return EXIT_USAGE;
    puts(value == mark ? "reached" : "out of reach");
    return EXIT_PASSED;
}
