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
    const unsigned all[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z};
    for (int i = 0; i < 6; ++i) out[i] = all[i];
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
    const unsigned int BLOCK_SIZE = TILE_SIZE;

    dim3 none;
    IS(none, 1, 1, 1);
    dim3 one(5), two(5, 6), three(5, 6, 7);
    IS(one, 5, 1, 1);
    IS(two, 5, 6, 1);
    IS(three, 5, 6, 7);
    dim3 assigned, by_int = 4, braces = {4, 5}, list{1, 2, 3};
    assigned = dim3(8, 9);
    IS(assigned, 8, 9, 1);
    IS(by_int, 4, 1, 1);
    IS(braces, 4, 5, 1);
    IS(list, 1, 2, 3);
    assigned = 3;
    IS(assigned, 3, 1, 1);
    assigned = {2, 2, 2};
    IS(assigned, 2, 2, 2);
    dim3 members;
    members.x = members.y = BLOCK_SIZE;
    IS(members, 16, 16, 1);
    members.z = n;
    IS(members, 16, 16, 33);
    dim3 mixed(u, s, m), from_unsigned(u, u);
    IS(mixed, 7, 9, 100);
    IS(from_unsigned, 7, 7, 1);
    dim3 of_double(TILE, TILE);
    IS(of_double, 16, 16, 1);
    dim3 ceiled(ceil(n / TILE), ceil(m / TILE), 1), ceiled_f(ceilf((float)n / TILE_SIZE));
    IS(ceiled, 3, 7, 1);
    IS(ceiled_f, 3, 1, 1);
    dim3 rounded((n - 1) / TILE_SIZE + 1, (m + BLOCK_SIZE - 1) / BLOCK_SIZE);
    IS(rounded, 3, 7, 1);
    double almost_two = 1.9;
    dim3 truncated((n - 1) / TILE + 1, almost_two);
    IS(truncated, 3, 1, 1);
    dim3 copy = rounded, copied(rounded);
    copy.x++;
    IS(copy, 4, 7, 1);
    IS(copied, 3, 7, 1);
    const dim3 constant(2, 3);
    IS(constant, 2, 3, 1);
    dim3 array[2] = {dim3(1, 2), 3};
    IS(array[1], 3, 1, 1);
    IS(returned(12), 12, 1, 1);
    uint3 plain = {1, 2, 3};
    IS(dim3(plain), 1, 2, 3);
    plain = three;
    EXPECT(plain.y, 6u);
    dim3 *allocated = new dim3(4, 4);
    IS(*allocated, 4, 4, 1);
    delete allocated;
    EXPECT(three.x * three.y * three.z, 210u);

    seen = visible<unsigned>(6);
    shape<<<3, 5>>>(seen);
    LAUNCHED(dim3(3), dim3(5));
    shape<<<u, s>>>(seen);
    LAUNCHED(dim3(7), dim3(9));
    shape<<<dim3(2, 3, 4), dim3(5, 6, 7)>>>(seen);
    LAUNCHED(dim3(2, 3, 4), dim3(5, 6, 7));
    shape<<<rounded, of_double>>>(seen);
    LAUNCHED(dim3(3, 7), dim3(16, 16));
    shape<<<{2, 2}, {4, 4}>>>(seen);
    LAUNCHED(dim3(2, 2), dim3(4, 4));
    shape<<<ceil(n / TILE), TILE>>>(seen);
    LAUNCHED(dim3(3), dim3(16));
    shape<<<plain, constant>>>(seen);
    LAUNCHED(dim3(5, 6, 7), dim3(2, 3));
    return verdict();
}
