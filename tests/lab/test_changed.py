"""docs/instructor.md, on changing the assignment: each change is made as the page says. Another tile is in
test_handout.py, a larger reuse in grader/verdict/test_score.py."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Tree, finished

PAGE = (REPOSITORY / "docs" / "instructor.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Changing the assignment"):PAGE.index("## Each term")]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
LINES, CALL = (text for _, text in BLOCKS)
TRUTH = (REPOSITORY / "tests/lab/alpha_beta_truth.c").read_text(encoding="utf-8")
REGISTERS = """
[points]
memory = 11
tiled = 9
registers = 5

[[case]]
name = "128x64x128"
m = 128
k = 64
n = 128
fill = "random"
points = 1
criteria = ["memory", "tiled", "registers"]
"""


def grade(tree: Tree, kernel: Path, *words: str) -> Any:
    """The record."""
    finished([sys.executable, "-B", "-m", "grader", "--submission", kernel, "--name", "my",
              "--protection", "none", *words], tree.path)
    return json.loads((tree.path / "results/my/result.json").read_text())


@pytest.mark.slow
def test_points_for_register_tiles(tree: Tree, tmp_path: Path) -> None:
    assert all(f"`{line}`" in SECTION for line in ("registers = 5", 'criteria = ["memory", "tiled", "registers"]'))
    suite = tmp_path / "one.toml"
    suite.write_text(f'title = "One"\n{REGISTERS}')
    for solution, points in (("2_tiled", 1 + 11 + 9), ("4_register_tiles", 1 + 11 + 9 + 5)):
        record = grade(tree, REPOSITORY / f"instructor/solutions/{solution}.cu", "--suite", str(suite))
        assert (record["score"], record["max_score"]) == (points, 26), record["marks"]


KERNEL = """
__global__ void mysgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += A[row * k + p] * B[p * n + col];
    C[row * n + col] = alpha * sum + beta * C[row * n + col];
}

void basicSgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, alpha, A, B, beta, C);
}
"""


@pytest.mark.slow
def test_another_signature(fresh_tree: Tree) -> None:
    """By lab/ alone: the programs and the grader take it, and no other one."""
    tree = fresh_tree
    text = (tree.path / "lab/lab.c").read_text()
    for line in LINES.splitlines():
        begins = re.escape(" ".join(line.split()[:2]))
        text, found = re.subn(rf"^ *{begins}[^\n]*\n", f"{line}\n", text, flags=re.MULTILINE)
        assert found == 1, line
    for name, content in (("lab.c", text), ("call.cu", CALL), ("truth.c", TRUTH)):
        (tree.path / "lab" / name).write_text(content)

    def run(kernel: str, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        tree.write("my.cu", kernel)
        tree.make("KERNEL=my.cu", program, "BACKEND=cpu")
        return finished([f"./{program}", *words], tree.path)

    assert "TEST PASSED 700\n" in run(KERNEL, "sgemm", "35", "70", "20").stdout
    assert "no mistakes found" in run(KERNEL, "sgemm-check").stdout
    wrong = KERNEL.replace(" + beta * C[row * n + col]", "")
    assert wrong != KERNEL and run(wrong, "sgemm-check", "34", "34", "34").returncode == 1
    solution = REPOSITORY / "instructor/solutions/2_tiled.cu"
    refused = tree.make(f"KERNEL={solution}", "sgemm", "BACKEND=cpu", check=False)
    assert "float beta, float *C)" in refused.stderr
    assert grade(tree, tree.write("my.cu", KERNEL))["score"] == 40 - 9  # naive
    assert grade(tree, tree.write("my.cu", wrong))["score"] == 0
