/* Blocks are spread over all cores: with one CPU each, as many blocks as there are run at once.
 * Only the emulator has cores to look at; on a GPU the program checks that blocks do meet. */
#include "check.h"
#ifdef CUDA_EMULATOR
#include <sched.h>
#endif

/* Each block waits until `meeting` blocks are here: ends only if so many run at the same time. */
__global__ void meet(int *arrived, int meeting, unsigned long *who) {
#ifdef CUDA_EMULATOR
    __shared__ int of_this_core; /* each thread of the system has its own */
    who[blockIdx.x] = (unsigned long)&of_this_core;
#else
    who[blockIdx.x] = blockIdx.x + 1;
#endif
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < meeting) {
    }
}

int main() {
    int cores = 2;
#ifdef CUDA_EMULATOR
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
    emulator_time_limit(10);
#endif
    int *arrived = visible<int>(1);
    unsigned long *who = visible<unsigned long>(cores);
    RUN(meet<<<cores, 1>>>(arrived, cores, who));
    for (int i = 0; i < cores; ++i)
        for (int j = 0; j < i; ++j) CHECK(who[i] != who[j]);
    return verdict();
}
