/* cudaMemset sets bytes; in two dimensions it leaves the padding alone. */
#include "check.h"

int main() {
    unsigned *d, h[64];
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemset(d, 0, sizeof h));
    OK(cudaMemset(d + 1, 0xAB, 4));
    OK(cudaMemset((char *)d + 9, 0x1FF, 1)); /* the low byte of the value counts */
    OK(cudaMemset(d, 7, 0));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0], 0u);
    EXPECT(h[1], 0xABABABABu);
    EXPECT(h[2], 0xFF00u);
    EXPECT(h[3], 0u);

    OK(cudaMemset2D(d, 32, 1, 20, 4));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; ++i) {
        EXPECT(h[i * 8 + 4], 0x01010101u);
        EXPECT(h[i * 8 + 5], 0u);
    }
    EXPECT(h[32], 0u);
    EXPECT(cudaMemset2D(d, 16, 0, 20, 2), cudaErrorInvalidValue); /* rows wider than the pitch */
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaMemsetAsync(d, 0, sizeof h));
    OK(cudaMemsetAsync(d, 2, 4, 0));
    RUN();
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    EXPECT(h[0], 0x02020202u);
    EXPECT(h[1], 0u);
    OK(cudaFree(d));
    return verdict();
}
