"""A write that is ordered behind two readers of a word, and not behind a third one, races with it: in
global memory and in shared memory, ordered by fences, by a whole warp's operation, or by some lanes'.

Which thread comes when is said by atomics without a fence, which order nothing else. All kernels are one
program; its arguments say which is launched, which thread strays, and how many lanes wait.
"""

from __future__ import annotations

import pytest
from alone import the_engine

MAIN = """
int main(int, char **argv) {
    const int stray = atoi(argv[2]), lanes = atoi(argv[3]);
    int *word, *arrived, *out;
    cudaMalloc(&word, sizeof(int));
    cudaMalloc(&arrived, sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(word, 0, sizeof(int));
    cudaMemset(arrived, 0, sizeof(int));
    switch (argv[1][0]) {
    case 'b': between_blocks<<<4, 1>>>(word, arrived, out, stray); break;
    case 'w': between_warps<<<1, 128>>>(out, stray); break;
    case 'l': between_lanes<<<1, 32>>>(out, stray, lanes); break;
    }
    cudaFree(word);
    cudaFree(arrived);
    cudaFree(out);
    return 0;
}
"""

BETWEEN_BLOCKS = """\
__global__ void between_blocks(int *word, int *arrived, int *out, int stray) {
    if (blockIdx.x < 3) {
        out[blockIdx.x] = word[0];
        if (blockIdx.x != stray) __threadfence();
        atomicAdd(arrived, 1);
    } else {
        while (atomicAdd(arrived, 0) < 3) {}
        __threadfence();
        word[0] = 1;
    }
}
"""

SHARED = """\
    __shared__ int word, arrived;
    const int t = threadIdx.x;
    if (t == 0) word = 5, arrived = 0;
    __syncthreads();
"""

BETWEEN_WARPS = "__global__ void between_warps(int *out, int stray) {\n" + SHARED + """\
    if (t >= 32 && t % 32 == 0) {
        out[t] = word;
        if (t / 32 != stray) __threadfence_block();
        atomicAdd(&arrived, 1);
    }
    if (t == 0) {
        while (atomicAdd(&arrived, 0) < 3) {}
        __threadfence_block();
        word = 6;
    }
}
"""

# Lane `stray` reads behind the operation, of all lanes of the warp; or of two of them. None returns before
# the operation, which would order what it has done.
BETWEEN_LANES = "__global__ void between_lanes(int *out, int stray, int lanes) {\n" + SHARED + """\
    if (t < 2) out[t] = word;
    if (t < lanes) __syncwarp(lanes == 32 ? 0xffffffff : (1u << lanes) - 1);
    if (t == stray) out[t] = word;
    if (t == 5) atomicAdd(&arrived, 1);
    if (t == 0) {
        while (atomicAdd(&arrived, 0) < 1) {}
        word = 6;
    }
    __syncthreads();
}
"""


TEXT = "#include <cstdlib>\n" + BETWEEN_BLOCKS + BETWEEN_WARPS + BETWEEN_LANES + MAIN


def said_of(kernel: str, stray: int, lanes: int = 0) -> str:
    engine = the_engine()
    engine.build(TEXT)
    return engine.run(kernel, str(stray), str(lanes)).err


@pytest.mark.parametrize("stray", [0, 1, 2, -1])
def test_blocks(stray: int) -> None:
    said = said_of("blocks", stray)
    assert ("race between blocks on word" if stray >= 0 else "no mistakes found") in said


@pytest.mark.parametrize("stray", [1, 2, 3, -1])
def test_warps(stray: int) -> None:
    said = said_of("warps", stray)
    assert ("race on shared memory" if stray >= 0 else "no mistakes found") in said


@pytest.mark.parametrize("lanes", [2, 32])
@pytest.mark.parametrize("stray", [5, -1])
def test_lanes(lanes: int, stray: int) -> None:
    said = said_of("lanes", stray, lanes)
    assert ("race on shared memory" if stray >= 0 else "no mistakes found") in said
