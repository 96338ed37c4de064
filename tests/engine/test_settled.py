"""Words that many blocks read are settled: further reads of a launch take the short path. A write that
some read is not ordered with is a race all the same, in whatever launch; and no other write is one.

Some blocks of a launch take the long path in any case, so grids are large and those that matter few.
"""

from __future__ import annotations

import pytest
from alone import the_engine

LOOK = """\
#include <cstdlib>

__global__ void look(int *in, int *out, int reader, int writer, bool vector) {
    const int b = blockIdx.x;
    int sum = 0;
    if (vector) { int4 all = *(int4 *)in; sum = all.x + all.y + all.z + all.w; }
    else if (reader < 0 || b == reader) sum = in[2];
    if (b == writer) in[2] = 5;
    out[b] = sum;
}

__global__ void idle() {}

int main(int argc, char **argv) {
    const int launches = atoi(argv[1]), reader = atoi(argv[2]), writer = atoi(argv[3]);
    const bool vector = argc > 4;
    const int blocks = 1000;
    int *in, *out;
    cudaMalloc(&in, 4 * sizeof(int));
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemset(in, 0, 4 * sizeof(int));
    look<<<blocks, 1>>>(in, out, -1, -1, vector);
    for (int i = 1; i < launches; i++) idle<<<1, 1>>>();
    look<<<blocks, 1>>>(in, out, reader, writer, vector);
    look<<<blocks, 1>>>(in, out, -1, -1, vector);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


RACE = "program.cu:8: race between blocks on in"


def said_of(text: str, *arguments: object) -> str:
    engine = the_engine()
    engine.build(text)
    return engine.run(*map(str, arguments)).err


# 255 launches: then the numbers that mark settled words begin again.
@pytest.mark.parametrize("launches", [1, 254, 255, 256])
def test_a_read_in_a_later_launch_is_remembered(launches: int) -> None:
    assert RACE in said_of(LOOK, launches, 0, 999)


def test_a_write_behind_many_reads() -> None:
    assert RACE in said_of(LOOK, 1, -1, 999)


def test_a_write_of_another_launch() -> None:
    assert "no mistakes found" in said_of(LOOK, 1, 7, 7)


def test_vectors_are_settled_by_their_words() -> None:
    assert RACE in said_of(LOOK, 1, -1, 999, "vectors")


MISALIGNED = """\
#include <cstdlib>

__global__ void look(int *in, int *out, int reader) {
    const int b = blockIdx.x;
    int sum = in[1] + in[2];
    if (b == reader) { int2 two = *(int2 *)(in + 1); sum = two.x + two.y; }
    out[b] = sum;
}

int main() {
    const int blocks = 1000;
    int *in, *out;
    cudaMalloc(&in, 4 * sizeof(int));
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemset(in, 0, 4 * sizeof(int));
    look<<<blocks, 1>>>(in, out, -1);
    look<<<blocks, 1>>>(in, out, 999);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


def test_a_vector_of_settled_words_is_misaligned_all_the_same() -> None:
    assert "program.cu:6: misaligned" in said_of(MISALIGNED)


ORDERED = """\
#include <cstdlib>

__device__ int count;

__global__ void look(int *in, int *out, int more) {
    int sum = in[0];
    out[blockIdx.x] = sum;
    if (blockIdx.x == gridDim.x - more) return;
    __threadfence();
    const int before = atomicAdd(&count, 1);
    __threadfence();
    if (before == gridDim.x - more - 1) in[0] = sum + 1;
}

int main(int, char **argv) {
    const int blocks = 1000;
    int *in, *out;
    cudaMalloc(&in, sizeof(int));
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemset(in, 0, sizeof(int));
    look<<<blocks, 1>>>(in, out, atoi(argv[1]));
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


def test_a_read_behind_a_write_that_is_ordered_with_all_reads_before() -> None:
    """The last of the blocks that count writes, behind all their reads; the one block more reads."""
    assert "program.cu:6: race between blocks on in" in said_of(ORDERED, 1)
    assert "no mistakes found" in said_of(ORDERED, 0)


CONSTANT = """\
#include <cstdlib>

__device__ int table[2] = {1, 2};
__constant__ int steps[4];

struct Step { __device__ virtual int of(int i) const { return i; } };
struct Two : Step { __device__ int of(int i) const override { return 2 * i; } };

__global__ void look(int *out, int writer) {
    Two two;
    const Step *step = &two;
    int b = blockIdx.x;
    int sum = step->of(table[1]) + steps[2];
    if (b == writer) table[1] = 5;
    out[b] = sum;
}

int main(int, char **argv) {
    const int blocks = 1000;
    int *out, four[4] = {1, 2, 3, 4};
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemcpyToSymbol(steps, four, sizeof four);
    look<<<blocks, 1>>>(out, -1);
    look<<<blocks, 1>>>(out, atoi(argv[1]));
    cudaFree(out);
    return 0;
}
"""


def test_variables_of_the_program() -> None:
    """They hold a value from the beginning."""
    assert "no mistakes found" in said_of(CONSTANT, -1)
    assert "program.cu:14: race between blocks" in said_of(CONSTANT, 999)
