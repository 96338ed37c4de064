/* Nor cooperative groups. */
// expect-build-failure
// expect-stderr: {HERE}: cooperative_groups runs only on a GPU; build with BACKEND=cuda on a machine that has one
#include "../programs/check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups; // HERE

__global__ void waits() { cg::this_thread_block().sync(); }

int main() { return verdict(); }
