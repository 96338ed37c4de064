"""./sgemm-check --indices: what each load and store of a kernel computes, in terms of threadIdx,
blockIdx, m, n and k (engine/show/indices.c).

A failure here means that a student who asks is shown another index than the kernel's, or none.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from checked import TILED, Builder, run_check
from conftest import REPOSITORY, sample

from instructor.faulty.mistakes import replaced


NAIVE = "instructor/solutions/1_naive.cu"
REGISTER_TILE = "instructor/faulty/styles/register_tile.cu"
IN_A_ROW = "instructor/faulty/styles/one_dimensional.cu"
B_STRIDE_K = "instructor/faulty/18_b_stride_k.cu"

Access = tuple[str, str, str | None, str | None]  # read or write, element, warp, source

ROW = "16 * blockIdx.y + threadIdx.y"
COLUMN = "16 * blockIdx.x + threadIdx.x"
STORE = ("write", f"C[({ROW}) * n + {COLUMN}]", "coalesced", None)

# Of each kernel, all accesses in the order of their lines; of the register tiles, the loads.
EXPECTED: dict[str, list[Access]] = {
    NAIVE: [
        ("read", f"A[({ROW}) * k + step]", "broadcast", None),
        ("read", f"B[step * n + {COLUMN}]", "coalesced", None),
        STORE,
    ],
    TILED: [
        ("read", f"A[({ROW}) * k + 16 * phase + threadIdx.x]", "coalesced", None),
        ("write", "A_s[threadIdx.y][threadIdx.x]", None, None),
        ("read", f"B[(16 * phase + threadIdx.y) * n + {COLUMN}]", "coalesced", None),
        ("write", "B_s[threadIdx.y][threadIdx.x]", None, None),
        ("read", "A_s[threadIdx.y][step]", None, f"A[({ROW}) * k + 16 * phase + step]"),
        ("read", "B_s[step][threadIdx.x]", None, f"B[(16 * phase + step) * n + {COLUMN}]"),
        STORE,
    ],
    REGISTER_TILE: [
        ("read", "A[(32 * blockIdx.y + threadIdx.y + 16 * step) * k + 16 * phase + threadIdx.x]", "coalesced", None),
        ("read", "B[(16 * phase + threadIdx.y) * n + 32 * blockIdx.x + threadIdx.x + 16 * step]", "coalesced", None),
        ("read", "A_s[threadIdx.y + 16 * (step / 2 % 2)][step / 4]", None,
         "A[(32 * blockIdx.y + threadIdx.y + 16 * (step / 2 % 2)) * k + 16 * phase + step / 4]"),
        ("read", "B_s[step / 4][threadIdx.x + 16 * (step % 2)]", None,
         "B[(16 * phase + step / 4) * n + 32 * blockIdx.x + threadIdx.x + 16 * (step % 2)]"),
    ],
    B_STRIDE_K: [
        ("read", f"A[({ROW}) * k + step]", "broadcast", None),
        ("read", f"B[step * k + {COLUMN}]", "coalesced", None),
        STORE,
    ],
}  # fmt: skip
STATUS = {B_STRIDE_K: 1}


def accesses(report: Any) -> list[Access]:
    return [(each["access"], each["element"], each["warp"], each["source"])
            for each in report["indices"]["accesses"]]


@pytest.mark.parametrize("kernel", sample(list(EXPECTED), every=4, start=1), ids=lambda kernel: Path(kernel).stem)
def test_indices(checker: Builder, kernel: str) -> None:
    """The same in text and in JSON."""
    program = checker("gcc -O1", kernel)
    run = run_check(program, "--indices", "--json", "--seed", 1)
    assert run.status == STATUS.get(kernel, 0), run
    found = accesses(run.json)
    if kernel == REGISTER_TILE:
        found = [each for each in found if each[0] == "read"]
    assert found == EXPECTED[kernel] and run.json["indices"]["ended"]

    lines = (REPOSITORY / kernel).read_text().splitlines()
    for each in run.json["indices"]["accesses"]:
        assert each["file"] == kernel and each["array"] == each["element"].split("[")[0]
        assert f"{each['array']}[" in lines[each["line"] - 1] and each["accesses"] > 0
        assert (each["textbook"] is None) == (each["array"] not in "ABC")

    text = run_check(program, "--indices", "--seed", 1)
    assert text.status == run.status and not text.stderr
    shown = text.stdout.split("\nWhat each index computes")[1]
    assert max(map(len, shown.splitlines())) <= 80
    words = " ".join(shown.split())
    for each in run.json["indices"]["accesses"]:
        verb = "stores to" if each["access"] == "write" else "loads"
        assert f"line {each['line']} {verb} {each['element']}" in words
        for more in ("textbook", "source"):
            assert each[more] is None or each[more] in words


def test_the_run_is_on_sizes_that_cannot_be_confused(checker: Builder) -> None:
    """Whatever sizes are checked, it has its own, and says which. Without the option there is none."""
    program = checker("gcc -O1", TILED)
    for sizes in ([], [16, 16, 16]):
        run = run_check(program, "--indices", "--json", *sizes)
        m, n, k = (run.json["indices"][size] for size in "mnk")
        assert len({m, n, k}) == 3 and min(m, n, k) > 16
        for size in (m, n, k):
            assert all(size % divisor for divisor in range(2, size))
        text = run_check(program, "--indices", *sizes).stdout
        assert re.search(rf"in a run with m={m} k={k} n={n},\ngrid \(2, 3\), block \(16, 16\):", text)
    assert "What each index" not in run_check(program, 34).stdout
    assert "indices" not in run_check(program, "--json", 34).json


def test_a_mistake_comes_first(checker: Builder) -> None:
    run = run_check(checker("gcc -O1", B_STRIDE_K), "--indices", "--seed", 1)
    mistake, _, shown = run.stdout.partition("\nWhat each index computes")
    assert run.status == 1 and "rows are k elements apart" in mistake
    assert "loads B[step * k + " in shown and "textbook: B[i * n + col]" in shown


def test_an_index_without_a_formula(checker: Builder, tmp_path: Path) -> None:
    """A column modulo 3: no sum of bits gives that. It is shown as not known."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(replaced((REPOSITORY / NAIVE).read_text(), ["A[row * k + i]", "A[row * k + i % 3]"], NAIVE))
    program = checker("gcc -O1", kernel)
    run = run_check(program, "--indices", "--json", 1, 1, 1)
    (load,) = [each for each in run.json["indices"]["accesses"] if each["array"] == "A"]
    assert load["element"] is None and load["warp"] is None
    assert "loads A[...]\n" in run_check(program, "--indices", 1, 1, 1).stdout


@pytest.mark.parametrize(("row", "col", "element"), [
    ("/ ((n + T - 1) / T)", "% ((n + T - 1) / T)",
     "C[(16 * (blockIdx.x / 2) + threadIdx.x / 16) * n + 16 * (blockIdx.x % 2) + threadIdx.x % 16]"),
    ("% ((m + T - 1) / T)", "/ ((m + T - 1) / T)", None),
])  # fmt: skip
def test_blocks_in_one_row(checker: Builder, tmp_path: Path, row: str, col: str, element: str | None) -> None:
    """Three by two of them: all have to bear a formula out, as the first two and the last bear out several."""
    kernel = tmp_path / "kernel.cu"
    edits = ["blockIdx.y * T", f"blockIdx.x {row} * T", "blockIdx.x * T", f"blockIdx.x {col} * T",
             "dim3 blocks((n + T - 1) / T, (m + T - 1) / T);", "int blocks = (n + T - 1) / T * ((m + T - 1) / T);"]
    kernel.write_text(replaced((REPOSITORY / IN_A_ROW).read_text(), edits, IN_A_ROW))
    run = run_check(checker("gcc -O1", kernel), "--indices", "--json", 16)
    assert run.status == 0 and accesses(run.json)[-1][1] == element


def test_a_launch_that_was_stopped(checker: Builder, tmp_path: Path) -> None:
    """By its first thread's second load of A: what the index has to do with others is not known by then."""
    kernel = tmp_path / "kernel.cu"
    edits = ["            sum +=", "            if (m > 34 && i) __trap(); else sum +="]
    kernel.write_text(replaced((REPOSITORY / NAIVE).read_text(), edits, NAIVE))
    program = checker("gcc -O1", kernel)
    indices = run_check(program, "--indices", "--json", 34).json["indices"]
    assert indices["ended"] is False
    assert {(each["array"], each["warp"]) for each in indices["accesses"]} == {("A", None), ("B", None)}
    text = run_check(program, "--indices", 34).stdout
    assert "\n  stopped early: a variable that had one value until then is in no formula\n" in text
    assert "broadcast" not in text and "coalesced" not in text
