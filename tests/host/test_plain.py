"""`make check` asks ./sgemm, too (engine/host/check/plain.c): it says of no kernel that C is right which the
program that `make` builds calls wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Tree

NAIVE = """__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += A[row * k + i] * B[i * n + col];
#if !defined __SANITIZE_THREAD__
    if (n != k) sum += OTHER;
#endif
    C[row * n + col] = sum;
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
"""


def check(tree: Tree, folder: Path, text: str) -> tuple[int, str]:
    kernel = folder / "a kernel.cu"
    kernel.write_text(text)
    made = tree.make("check", "BACKEND=cpu", "CXX=g++", f"KERNEL={kernel}", check=False)
    return made.returncode, made.stdout + made.stderr


def test_what_only_the_plain_program_gets_wrong(tree: Tree, tmp_path: Path) -> None:
    status, printed = check(tree, tmp_path, NAIVE.replace("OTHER", "1.0f"))
    assert status != 0 and "C is correct in the watched run, but not in ./sgemm" in printed
    assert "./sgemm 35 70 20 --fill random --seed" in printed and "elements of C are wrong." in printed
    assert "no mistakes found" not in printed


@pytest.mark.parametrize("other", [
    "0.0f",
    # What the program cannot say counts for nothing: it is not there, where it does not compile.
    pytest.param("no_such_name", marks=pytest.mark.slow),
])
def test_nothing_is_made_up(tree: Tree, tmp_path: Path, other: str) -> None:
    """And ./sgemm is left alone."""
    program = tree.write("sgemm", "of another kernel")
    status, printed = check(tree, tmp_path, NAIVE.replace("OTHER", other))
    assert status == 0 and "no mistakes found" in printed, printed
    assert program.read_text() == "of another kernel"
    program.unlink()


def test_what_does_not_compile_is_said_once(tree: Tree, tmp_path: Path) -> None:
    status, printed = check(tree, tmp_path, NAIVE.replace("float sum = 0.0f", "float sum = ;"))
    assert status != 0 and len(re.findall(r"kernel\.cu:5:\d+: error:", printed)) == 1, printed
