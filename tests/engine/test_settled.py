"""Words that many blocks read are settled: further reads of a launch take the short path. A write that
some read is not ordered with is a race all the same, in whatever launch; and no other write is one.

Some blocks of a launch take the long path in any case, so grids are large and those that matter few.
"""

from __future__ import annotations

import pytest
from alone import the_engine

LOOK = """\
__global__ void look(int *in, int *out, int reader, int writer) {
    const int b = blockIdx.x;
    int sum = 0;
    if (reader < 0 || b == reader) sum = in[2];
    if (b == writer) in[2] = 5;
    out[b] = sum;
}

__global__ void idle() {}

int main(int argc, char **argv) {
    const int blocks = 1000;
    int *in, *out;
    cudaMalloc(&in, 4 * sizeof(int));
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemset(in, 0, 4 * sizeof(int));
    look<<<blocks, 1>>>(in, out, -1, -1);
    for (int i = 1; i < LAUNCHES; i++) idle<<<1, 1>>>();
    look<<<blocks, 1>>>(in, out, READER, WRITER);
    look<<<blocks, 1>>>(in, out, -1, -1);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


def said_of(launches: int, reader: int, writer: int, text: str = LOOK) -> str:
    engine = the_engine()
    engine.build(text.replace("LAUNCHES", str(launches)).replace("READER", str(reader))
                 .replace("WRITER", str(writer)))
    return engine.run().err


# 255 launches: then the numbers that mark settled words begin again.
@pytest.mark.parametrize("launches", [pytest.param(1, marks=pytest.mark.slow),
                                      pytest.param(254, marks=pytest.mark.slow), 255, 256])
def test_a_read_in_a_later_launch_is_remembered(launches: int) -> None:
    assert "program.cu:5: race between blocks on in" in said_of(launches, 0, 999)


def test_a_write_behind_many_reads() -> None:
    assert "program.cu:5: race between blocks on in" in said_of(1, -1, 999)


def test_a_write_of_another_launch() -> None:
    assert "no mistakes found" in said_of(1, 7, 7)


def test_vectors_are_settled_by_their_words() -> None:
    text = LOOK.replace("sum = in[2];", "{ int4 all = *(int4 *)in; sum = all.x + all.y + all.z + all.w; }")
    assert "program.cu:5: race between blocks on in" in said_of(1, -1, 999, text)


ORDERED = """\
__device__ int count;

__global__ void look(int *in, int *out) {
    int sum = in[0];
    out[blockIdx.x] = sum;
    if (blockIdx.x == gridDim.x - 1) return;
    __threadfence();
    const int before = atomicAdd(&count, 1);
    __threadfence();
    if (before == gridDim.x - 2) in[0] = sum + 1;
}

int main() {
    const int blocks = 1000;
    int *in, *out;
    cudaMalloc(&in, sizeof(int));
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemset(in, 0, sizeof(int));
    look<<<blocks, 1>>>(in, out);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


def test_a_read_behind_a_write_that_is_ordered_with_all_reads_before() -> None:
    """The last of the blocks that count writes, behind all their reads; the one block more reads."""
    assert "program.cu:4: race between blocks on in" in said_of(0, 0, 0, ORDERED)
    all_count = ORDERED.replace("    if (blockIdx.x == gridDim.x - 1) return;\n", "")
    all_count = all_count.replace("gridDim.x - 2", "gridDim.x - 1")
    assert "no mistakes found" in said_of(0, 0, 0, all_count)


CONSTANT = """\
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

int main() {
    const int blocks = 1000;
    int *out, four[4] = {1, 2, 3, 4};
    cudaMalloc(&out, blocks * sizeof(int));
    cudaMemcpyToSymbol(steps, four, sizeof four);
    look<<<blocks, 1>>>(out, -1);
    look<<<blocks, 1>>>(out, WRITER);
    cudaFree(out);
    return 0;
}
"""


@pytest.mark.parametrize(("writer", "said"), [(-1, "no mistakes found"), (999, "program.cu:12: race between blocks")])
def test_variables_of_the_program(writer: int, said: str) -> None:
    """They hold a value from the beginning."""
    assert said in said_of(1, 0, writer, CONSTANT)
