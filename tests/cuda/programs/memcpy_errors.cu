/* cudaMemcpy with arguments that are wrong, each found before a byte moves. */
#include "check.h"

int main() {
    int *d, *e, a[100] = {7}, b[100] = {8};
    OK(cudaMalloc(&d, 400));
    OK(cudaMalloc(&e, 400));
    OK(cudaMemset(d, 0, 400));

    EXPECT(cudaMemcpy(d, a, 400, (cudaMemcpyKind)5), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpy(NULL, a, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a, NULL, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(NULL, a, 400, cudaMemcpyDefault), cudaErrorInvalidValue);
    /* One end is not where the direction says. */
    EXPECT(cudaMemcpy(a, b, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a, b, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a, b, 400, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a, d, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(d, a, 400, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
    /* More bytes than there are. */
    const size_t too_many = (size_t)1 << 30;
    static char large[1 << 20];
    EXPECT(cudaMemcpy(large, d, too_many, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT(cudaMemset(d, 0, too_many), cudaErrorInvalidValue);
    EXPECT(cudaMemset(NULL, 0, 4), cudaErrorInvalidValue);
    EXPECT(cudaMemset(a, 0, 4), cudaErrorInvalidValue);
    OK(cudaFree(e));
    EXPECT(cudaMemcpy(e, a, 400, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    EXPECT(a[0] + b[0], 15);
    int c[100];
    OK(cudaMemcpy(c, d, 400, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; ++i) EXPECT(c[i], 0);
    RUN();
    return verdict();
}
