/* dim3 in all the ways that host code makes one. */
#include "check.h"
#include <math.h>

#define TILE 16.0
#define TILE_SIZE 16

static void is(int line, dim3 d, unsigned x, unsigned y, unsigned z) {
    expect(__FILE__, line, "x", d.x, x);
    expect(__FILE__, line, "y", d.y, y);
    expect(__FILE__, line, "z", d.z, z);
}
#define IS(d, x, y, z) is(__LINE__, d, x, y, z)

__global__ void shape(unsigned *out) {
    store(out, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z);
}
static unsigned *seen;
static void launched_as(int line, dim3 grid, dim3 block) {
    RUN();
    is(line, dim3(seen[0], seen[1], seen[2]), grid.x, grid.y, grid.z);
    is(line, dim3(seen[3], seen[4], seen[5]), block.x, block.y, block.z);
}
#define LAUNCHED(grid, block) launched_as(__LINE__, grid, block)

dim3 returned(int n) { return n; }

int main() {
    int m = 100, n = 33;
    unsigned int u = 7;
    size_t s = 9;
    double fraction = 1.9;

    dim3 none, three(5, 6, 7), by_int = 4, braces = {4, 5}, list{1, 2, 3}, assigned, members;
    IS(none, 1, 1, 1);
    IS(three, 5, 6, 7);
    IS(by_int, 4, 1, 1);
    IS(braces, 4, 5, 1);
    IS(list, 1, 2, 3);
    assigned = 3;
    IS(assigned, 3, 1, 1);
    assigned = {2, 2, 2};
    IS(assigned, 2, 2, 2);
    members.x = members.y = TILE_SIZE;
    members.z = n;
    IS(members, 16, 16, 33);
    IS(dim3(u, s, m), 7, 9, 100);
    dim3 of_double(TILE, fraction), ceiled(ceil(n / TILE), ceilf((float)m / TILE_SIZE), 1);
    IS(of_double, 16, 1, 1);
    IS(ceiled, 3, 7, 1);
    dim3 array[2] = {dim3(1, 2), 3}, copy = array[0];
    copy.x++;
    IS(copy, 2, 2, 1);
    IS(array[1], 3, 1, 1);
    IS(returned(12), 12, 1, 1);
    uint3 plain = {1, 2, 3};
    IS(dim3(plain), 1, 2, 3);
    plain = three;
    EXPECT(plain.y, 6u);

    seen = visible<unsigned>(6);
    shape<<<u, s>>>(seen);
    LAUNCHED(dim3(7), dim3(9));
    shape<<<dim3(2, 3, 4), three>>>(seen);
    LAUNCHED(dim3(2, 3, 4), dim3(5, 6, 7));
    shape<<<{2, 2}, {4, 4}>>>(seen);
    LAUNCHED(dim3(2, 2), dim3(4, 4));
    shape<<<ceil(n / TILE), TILE>>>(seen);
    LAUNCHED(dim3(3), dim3(16));
    shape<<<plain, 1>>>(seen);
    LAUNCHED(dim3(5, 6, 7), dim3(1));
    return verdict();
}
