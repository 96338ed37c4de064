"""What clangd, which editors ask, says of a file: nothing where nothing is wrong, on a machine without
CUDA too, and something where something is (.clangd, engine/cuda/editor/)."""

import re
from pathlib import Path

import pytest
from conftest import REPOSITORY, Tree, finished, need, sample

CLEAN = ["kernel.cu", "main.cu", "support.c", "engine/cuda/include/cuda_runtime.h"]
MORE_CLEAN = [
    "engine/host/check/check_run.c", "support.h", "engine/cuda/runtime/memory.c",
    *(f"tests/cuda/programs/{name}.cu" for name in
      ("assert", "async_copy", "leftover_includes", "math", "printf", "shuffle")),
    *(str(path.relative_to(REPOSITORY)) for path in
      sorted((REPOSITORY / "instructor/solutions").glob("*.cu"))),
]  # fmt: skip
DIAGNOSTIC = re.compile(r"\] \[(\w+)\] Line (\d+): (.*)")


def diagnostics(tree: Path, name: str) -> list[tuple[int, str]]:
    """Lines and messages, errors only. --check also tries clangd's own refactorings, some of which
    fail; they are no diagnostics."""
    done = finished([need("clangd"), f"--check={tree / name}"], tree)
    assert "All checks completed" in done.stderr, done.stderr
    if name == "kernel.cu":  # where its own count of errors, refactorings too, is none
        assert done.returncode == 0 and "All checks completed, 0 errors" in done.stderr
    found = [(line, DIAGNOSTIC.search(line)) for line in done.stderr.splitlines()]
    return [(int(match[2]), match[3]) for line, match in found if match and line.startswith("E")]


@pytest.mark.parametrize("name", [*CLEAN, *sample(MORE_CLEAN, every=32)])
def test_a_right_file_has_no_errors(tree: Tree, name: str) -> None:
    tree.make_first()  # which leaves the empty headers
    assert diagnostics(tree.path, name) == []


@pytest.mark.parametrize("right, wrong, says", sample([
    ("int row = 0;", "int row = a_row;", "a_row"),
    ("__syncthreads();", "__syncthread();", "__syncthread"),
    ("tile<<<1, 16>>>(C);", "tile<<<1, 16>>>(C, 3);", "argument"),
    ("tile<<<1, 16>>>(C);", "tile<<<>>>(C);", "expected expression"),
    ("C[row], ", "C.row, ", "member"),
], every=5))  # fmt: skip
def test_a_mistake_is_seen(fresh_tree: Tree, right: str, wrong: str, says: str) -> None:
    text = """__global__ void tile(float *C)
{
    __shared__ float A_s[16];
    int row = 0;
    A_s[threadIdx.x] = fmaxf(C[row], min(1, 2));
    __syncthreads();
    C[threadIdx.x] = A_s[15 - threadIdx.x];
}
void basicSgemm(float *C) {
    tile<<<1, 16>>>(C);
}
"""
    assert right in text
    fresh_tree.write("lab/kernel.cu", text.replace(right, wrong))
    line = text[:text.index(right)].count("\n") + 1
    assert [(at, says in what) for at, what in diagnostics(fresh_tree.path, "lab/kernel.cu")][:1] \
        == [(line, True)]
