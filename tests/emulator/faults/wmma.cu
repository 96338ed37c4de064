/* Nor can the tensor cores' wmma. */
// expect-build-failure
// expect-stderr: {HERE}: wmma \(tensor cores\) runs only on a GPU; build with BACKEND=cuda on a machine that has one
#include "../programs/check.h"
#include <mma.h>
using namespace nvcuda; // HERE

__global__ void multiply(float *c) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() { return verdict(); }
