"""A write that is ordered behind two readers of a word, and not behind a third one, races with it: in
global memory and in shared memory, ordered by fences, by a whole warp's operation, or by some lanes'.

Which thread comes when is said by atomics without a fence, which order nothing else.
"""

from __future__ import annotations

from functools import partial

import pytest
from alone import the_engine

AT_NIGHT = partial(pytest.param, marks=pytest.mark.slow)

MAIN = """
int main() {
    int *word, *arrived, *out;
    cudaMalloc(&word, sizeof(int));
    cudaMalloc(&arrived, sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(word, 0, sizeof(int));
    cudaMemset(arrived, 0, sizeof(int));
    kernel<<<BLOCKS, THREADS>>>(word, arrived, out);
    cudaFree(word);
    cudaFree(arrived);
    cudaFree(out);
    return 0;
}
"""

BETWEEN_BLOCKS = """\
__global__ void kernel(int *word, int *arrived, int *out) {
    if (blockIdx.x < 3) {
        out[blockIdx.x] = word[0];
        if (blockIdx.x != STRAY) __threadfence();
        atomicAdd(arrived, 1);
    } else {
        while (atomicAdd(arrived, 0) < 3) {}
        __threadfence();
        word[0] = 1;
    }
}
"""

SHARED = """\
__global__ void kernel(int *, int *, int *out) {
    __shared__ int word, arrived;
    const int t = threadIdx.x;
    if (t == 0) word = 5, arrived = 0;
    __syncthreads();
"""

BETWEEN_WARPS = SHARED + """\
    if (t >= 32 && t % 32 == 0) {
        out[t] = word;
        if (t / 32 != STRAY) __threadfence_block();
        atomicAdd(&arrived, 1);
    }
    if (t == 0) {
        while (atomicAdd(&arrived, 0) < 3) {}
        __threadfence_block();
        word = 6;
    }
}
"""

# Lane STRAY reads behind the operation, of all lanes of the warp; or of two of them. None returns before
# the operation, which would order what it has done.
BETWEEN_LANES = SHARED + """\
    if (t < 2) out[t] = word;
    if (t < LANES) __syncwarp(LANES == 32 ? 0xffffffff : (1u << LANES) - 1);
    if (t == STRAY) out[t] = word;
    if (t == 5) atomicAdd(&arrived, 1);
    if (t == 0) {
        while (atomicAdd(&arrived, 0) < 1) {}
        word = 6;
    }
    __syncthreads();
}
"""


def said_of(kernel: str, blocks: int, threads: int, **given: int) -> str:
    engine = the_engine()
    text = kernel + MAIN
    for name, value in {"BLOCKS": blocks, "THREADS": threads, **given}.items():
        text = text.replace(name, str(value))
    engine.build(text)
    return engine.run().err


@pytest.mark.parametrize("stray", [AT_NIGHT(0), AT_NIGHT(1), 2, -1])
def test_blocks(stray: int) -> None:
    said = said_of(BETWEEN_BLOCKS, 4, 1, STRAY=stray)
    assert ("race between blocks on word" if stray >= 0 else "no mistakes found") in said


@pytest.mark.parametrize("stray", [AT_NIGHT(1), AT_NIGHT(2), 3, -1])
def test_warps(stray: int) -> None:
    said = said_of(BETWEEN_WARPS, 1, 128, STRAY=stray)
    assert ("race on shared memory" if stray >= 0 else "no mistakes found") in said


@pytest.mark.parametrize("lanes", [AT_NIGHT(2), 32])
@pytest.mark.parametrize("stray", [5, -1])
def test_lanes(lanes: int, stray: int) -> None:
    said = said_of(BETWEEN_LANES, 1, 32, STRAY=stray, LANES=lanes)
    assert ("race on shared memory" if stray >= 0 else "no mistakes found") in said
