/* Inline PTX cannot run on a CPU. */
// expect-build-failure
// expect-stderr: {HERE}: inline PTX \(asm\) runs only on a GPU; build with BACKEND=cuda on a machine that has one
#include "../programs/check.h"

__global__ void lane(unsigned *out) {
    unsigned id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id)); // HERE
    *out = id;
}

int main() { return verdict(); }
