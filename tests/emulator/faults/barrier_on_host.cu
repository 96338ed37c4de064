/* nvcc refuses this; the emulator, which compiles both sides alike, notices when it runs. */
// expect-stderr: __syncthreads\(\) was called by host code; only a kernel may call it
// expect-status: 1
#include "../programs/check.h"

int main() {
    __syncthreads();
    return verdict();
}
