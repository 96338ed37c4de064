/* RIGHT: host code that uses much of C's and C++'s libraries; constructors make its variables. A
 * helper is not inlined. */

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#define TILE 16

static std::vector<int> sides = {8, 12, TILE};
static std::string name = "tile of " + std::to_string(sides.back());
static cudaDeviceProp properties;

__constant__ int limits[3];

__device__ __noinline__ float dot(const float *a, const float *b, int count, int stride) {
    float sum = 0.0f;
    for (int p = 0; p < count; ++p) sum = fmaf(a[p], b[p * stride], sum);
    return sum;
}

__global__ void mysgemm(const float *A, const float *B, float *C) {
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    if (row < limits[0] && col < limits[1])
        C[row * limits[1] + col] = dot(&A[row * limits[2]], &B[col], limits[2], limits[1]);
}

static int upwards(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    auto start = std::chrono::steady_clock::now();
    auto block = std::make_unique<dim3>(std::max(sides[0], TILE), TILE);
    char text[100], copy[100];
    int shape[3] = {m, n, k};
    static std::map<std::string, int> calls;
    std::function<int(int)> blocks = [](int size) { return (size + TILE - 1) / sides.back(); };
    std::ostringstream stream;

    cudaGetDeviceProperties(&properties, 0);
    snprintf(text, sizeof text, "%s on %s", name.c_str(), properties.name);
    strncpy(copy, text, sizeof copy);
    qsort(sides.data(), sides.size(), sizeof sides[0], upwards);
    std::sort(sides.begin(), sides.end(), [](int x, int y) { return x < y; });
    calls[name] += strlen(copy) > 0;
    stream << copy << ' ' << calls[name] << ' ' << strtol("12", NULL, 10);
    int *scratch = (int *)realloc(malloc(8), 4096);
    memset(scratch, 0, 4096);
    free(scratch);
    try {
        std::vector<int>(3).at(4);
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
    }
    std::cout << stream.str() << std::endl;
    puts(text);
    (void)(std::chrono::steady_clock::now() - start);
    cudaMemcpyToSymbol(limits, shape, sizeof shape);
    mysgemm<<<dim3(blocks(n), blocks(m)), *block>>>(A, B, C);
}
