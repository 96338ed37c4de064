"""Wrappers that launch several kernels: which one is shown (--launch), and in which one a mistake is.

A failure here means that a page or a table is of another launch than it says, that a mistake is not named
where it is, or that a launch is blamed for what another one does in its place."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from checked import TILED, Builder, Checked, run_check, shared_kernel
from conftest import REPOSITORY, sample, slow_but

from instructor.faulty.mistakes import replaced


HEAD = """\
#define T 16
#define ROW (blockIdx.y * T + threadIdx.y)
#define COL (blockIdx.x * T + threadIdx.x)
"""
WRAPPER = "void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {\n"
GRID = "dim3((n + T - 1) / T, (m + T - 1) / T)"
ZERO = """\
__global__ void zero(int count, float *C) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) C[i] = 0; // zero
}
"""
PART = """\
__global__ void mysgemm(int m, int n, int k, int part, int parts, const float *A, const float *B,
                        float *to) {
    const int first = part * k / parts, last = (part + 1) * k / parts;
    if (ROW >= m || COL >= n) return;
    float sum = part ? to[ROW * n + COL] : 0;
    for (int p = first; p < last; p++) sum += A[ROW * k + p] * B[p * n + COL]; // product
    to[ROW * n + COL] = sum; // store
}
"""
ADD = """\
__global__ void add(int m, int n, const float *parts, float *C) {
    if (ROW >= m || COL >= n) return;
    C[ROW * n + COL] = parts[ROW * n + COL] + parts[(m + ROW) * n + COL]; // add
}
"""

ZEROED = replaced((REPOSITORY / TILED).read_text(), [
    "void basicSgemm", f"{ZERO}void basicSgemm",
    "    mysgemm<<<", "    zero<<<(m * n + 255) / 256, 256>>>(m * n, C);\n    mysgemm<<<",
    "C[row * n + col] =", "C[row * n + col] +=",
], TILED)  # fmt: skip
SPLIT = f"""{HEAD}{PART.replace("part ? to[ROW * n + COL] : 0", "0")}{ADD}{WRAPPER}
    float *parts;
    cudaMalloc(&parts, 2 * m * n * sizeof(float));
    for (int part = 0; part < 2; part++)
        mysgemm<<<{GRID}, dim3(T, T)>>>(m, n, k, part, 2, A, B, parts + part * m * n);
    add<<<{GRID}, dim3(T, T)>>>(m, n, parts, C); // launch
    cudaDeviceSynchronize();
    cudaFree(parts);
}}
"""
NINE = f"""{HEAD}{PART}{WRAPPER}
    for (int part = 0; part < 9; part++)
        mysgemm<<<{GRID}, dim3(T, T)>>>(m, n, k, part, 9, A, B, C);
}}
"""
A, B, C = 0, 1, 2


class Built:
    """./sgemm-check of a kernel's text."""

    def __init__(self, program: Path, folder: Path, text: str):
        self.program, self.folder, self.text = program, folder, text

    def run(self, *args: object, status: int = 0) -> Checked:
        run = run_check(self.program, *args, "--seed", 1)
        assert run.status == status, run
        return run

    def json(self, *args: object, status: int = 0) -> Any:
        return self.run(*args, "--json", status=status).json

    def walk(self, *args: object, status: int = 0) -> Any:
        page = self.folder / "page.html"
        self.run("--walk", page, *args, status=status)
        text = page.read_text().split('type="application/json" id="run">')[1]
        return json.loads(text.split("</script>")[0])

    def line(self, words: str) -> int:
        lines = self.text.splitlines()
        return 1 + next(i for i, line in enumerate(lines) if words in line)


BuiltOf = Callable[..., Built]


@pytest.fixture
def built_of(checker: Builder, programs: Path, tmp_path: Path) -> BuiltOf:
    """Of a text, which may be edited once; what many tests share is built once."""

    def build(text: str, old: str = "", new: str = "", **more: bool) -> Built:
        assert old in text
        text = text.replace(old, new) if old else text
        name = f"launches {hashlib.sha256(text.encode()).hexdigest()[:16]}.cu"
        return Built(checker("gcc -O1", shared_kernel(programs, name, text), **more), tmp_path, text)

    return build


def arrays_of(walk: Any) -> set[str]:
    """What the block of a page accesses."""
    return {walk["arrays"][site["array"]]["name"] for site in walk["sites"]}


# --- which launch is shown


def test_launches_that_there_are_not(built_of: BuiltOf, tmp_path: Path) -> None:
    built, page = built_of(ZEROED), tmp_path / "none.html"
    for bad in "0", "9", "1x", "":
        run = built.run("--phases", "--launch", bad, status=2)
        assert run.stderr == f"sgemm-check: --launch '{bad}' is wrong: give a number from 1 to 8\n" and not run.stdout
    for what in ["--phases"], ["--indices"], ["--walk", page]:
        run = built.run(*what, "--launch", 3, 20, status=2)
        assert run.stderr == "sgemm-check: there is no launch 3: basicSgemm makes 2 with m=20 k=20 n=20\n"
        assert "next:" not in run.stdout and "hase" not in run.stdout and not page.exists()


@pytest.mark.parametrize("chosen", [[], ["--launch", 2]], ids=["usual", "chosen"])
def test_the_launch_that_loads(built_of: BuiltOf, chosen: list[object]) -> None:
    built = built_of(ZEROED)
    text = built.run("--phases", *chosen, 20).stdout
    assert "block (0,0) of mysgemm, launch 2 of 2, 16 x 16 threads" in text and "\nphase 1 of 2\n" in text
    indices = built.json("--indices", *chosen, 20)["indices"]
    assert indices["number"] == 2
    assert {each["array"] for each in indices["accesses"]} == {"A", "B", "C", "A_s", "B_s"}
    data = built.walk(*chosen, 20)
    launch = data["launch"]
    assert (launch["kernel"], launch["number"], launch["of"]) == ("mysgemm", 2, 2)
    assert launch["line"] == built.line("mysgemm<<<")
    assert arrays_of(data) == {"A", "B", "C", "A_s", "B_s"}


def test_a_launch_that_loads_nothing(built_of: BuiltOf, tmp_path: Path) -> None:
    built, first = built_of(ZEROED), ["--launch", 1]
    assert "No tile phases" in built.run("--phases", *first, 20).stdout
    zero = built.json("--indices", *first, 20)["indices"]
    assert (zero["number"], zero["of"]) == (1, 2)
    assert [(each["line"], each["element"]) for each in zero["accesses"]] == [
        (built.line("// zero"), "C[256 * blockIdx.x + threadIdx.x]")]  # fmt: skip
    assert "launch 1 of 2, grid (5, 1), block (256, 1):" in built.run("--indices", *first, 20).stdout
    data = built.walk(*first, "--block", "1,0", 20)
    launch = data["launch"]
    assert (launch["kernel"], launch["number"], launch["grid"]) == ("zero", 1, [2, 1, 1])
    assert arrays_of(data) == {"C"} and data["block"] == [1, 0, 0]
    # The grid is that of the launch, too.
    run = built.run("--walk", tmp_path / "none", *first, "--block", "2,0", 20, status=2)
    assert run.stderr == "sgemm-check: there is no block (2,0,0): the grid has 2 x 1 x 1\n"


def test_each_part_of_a_product_has_phases(built_of: BuiltOf) -> None:
    """What a launch loads, and what it has added up, is that launch's alone."""
    built = built_of(NINE)
    for launch in 2, 8:
        text, p = built.run("--phases", "--launch", launch, 9).stdout, launch - 1
        assert f", launch {launch} of 9, " in text and "\nphase 0 of 1\n" in text
        assert f"    A: rows 0-8, columns {p}: " in text and f"    B: rows {p}, columns 0-8: " in text
        first = re.search(r"    sums so far.*\n +(\d+)", text)
        assert first and int(first[1]) == (1 + p) * (1 + 9 * p)  # A and B hold 1, 2, 3, ... by rows
    built = built_of(SPLIT)
    assert "No tile phases" in built.run("--phases", "--launch", 3, 8).stdout
    for words, kernel, arrays in (([], "mysgemm", {"A", "B"}), (["--launch", 3], "add", {"C"})):
        data = built.walk(*words, 20)
        assert (data["launch"]["kernel"], data["launch"]["of"], arrays_of(data)) == (kernel, 3, arrays)


def test_more_launches_than_are_kept(built_of: BuiltOf) -> None:
    built = built_of(NINE)
    for launch in 1, 8:
        data = built.walk("--launch", launch, 36)
        assert (data["launch"]["number"], data["launch"]["of"]) == (launch, 9)
        # Each multiplies four of 36 columns of A.
        loads = {access[2] % 36 // 4 for step in data["steps"] if step[2] >= 0
                 for access in step[3] if data["sites"][access[0]]["array"] == A}  # fmt: skip
        assert loads == {launch - 1}
    assert built.walk(36)["launch"]["number"] == 1


# --- the launch of a mistake


def test_page_of_the_launch_with_the_mistake(built_of: BuiltOf) -> None:
    """In the ninth launch, which no --launch can choose."""
    late = "to[ROW * n + COL + (part == 8)] = sum; // store"
    built = built_of(NINE, "to[ROW * n + COL] = sum; // store", late)
    data = built.walk(36, status=1)
    assert (data["launch"]["number"], data["launch"]["of"]) == (9, 9)
    assert data["finding"]["kind"] == "global-race" and data["finding"]["step"] is not None
    data = built.walk("--launch", 1, 36, status=1)
    assert data["launch"]["number"] == 1 and data["finding"]["step"] is None


def test_page_of_a_mistake_before_any_load(built_of: BuiltOf) -> None:
    built = built_of(ZEROED, "i < count", "i <= count")
    data = built.walk(status=1)
    assert data["launch"]["kernel"] == "zero" and data["launch"]["number"] == 1
    assert data["finding"]["step"] is not None
    assert data["sites"][0]["line"] == built.line("// zero") == data["finding"]["line"]


CAUSES = {
    # The init kernel first: what is named of the product is what is named without it.
    "zeroed: row of A": (ZEROED, "A[row * k", "A[row * m", "row-length", "A_s[ty][tx] =", 2),
    "zeroed: loop": (ZEROED, "(k + TILE_SIZE - 1)", "k", "loop-count", "for (int phase", 2),
    "zeroed: guard": (ZEROED, "row < m && a_col", "row < n && a_col", "guard-dimension", "A_s[ty][tx] =", 2),
    # C is wrong where the grid does not reach, and not unwritten.
    "zeroed: grid": (ZEROED, "(m + TILE_SIZE - 1)", "m", "grid-too-small", "mysgemm<<<", 2),
    # The second of two kernels, which loads neither A nor B.
    "split: row of C": (SPLIT, "    C[ROW * n", "    C[ROW * m", "row-length", "// add", 3),
    "split: grid": (SPLIT, f"add<<<{GRID}", "add<<<dim3(n / T, (m + T - 1) / T)", "grid-too-small",
                    "// launch", 3),
    # Kernels that others follow.
    "split: row of A": (SPLIT, "A[ROW * k", "A[ROW * n", "row-length", "// product", 1),
    "nine: row of B": (NINE, "B[p * n", "B[p * k", "row-length", "// product", None),
}  # fmt: skip
BY_DAY = ("zeroed: row of A", "split: grid", "split: row of A")


@pytest.mark.parametrize("name", slow_but(list(CAUSES), lambda _, name: name in BY_DAY))
def test_cause(built_of: BuiltOf, name: str) -> None:
    text, old, new, cause, where, launch = CAUSES[name]
    built = built_of(text, old, new, with_locals=True)
    found = built.json(status=1)["finding"]["cause"]
    assert found and (found["name"], found["line"]) == (cause, built.line(where)), found
    if launch:
        assert built.walk(status=1)["launch"]["number"] == launch
    if name == "split: row of A":  # of a wrong C, the last launch would be shown
        text = " ".join(built.run(35, 70, 20, status=1).stdout.split())
        assert "mysgemm<<<(2, 3), (16, 16)>>>" in text and "launch 1 of 3" in text
        assert "launch 3 of 3" not in text


INNOCENT = {
    # Each launch multiplies a part of k, and that is no loop that ends too soon.
    "split: parts": (SPLIT, "+ parts[(m + ROW)", "- parts[(m + ROW)"),
    # Nor where the others are missing because the run that is the evidence, on primes, was stopped in the second.
    "nine: first part": (NINE, "    float sum = part ? to[ROW * n + COL] : 0;",
                         "    if (m % 2 && part) __trap();\n    float sum = part ? to[ROW * n + COL] : 1;"),
    # A product of which a later kernel makes something else.
    "zeroed: scaled": (ZEROED, "A, B, C);\n", "A, B, C);\nzero<<<1, 1>>>(1, C);\n"),
}


@pytest.mark.parametrize("name", sample([*INNOCENT], 3))
def test_launches_are_not_blamed_for_each_other(built_of: BuiltOf, name: str) -> None:
    text, old, new = INNOCENT[name]
    finding = built_of(text, old, new, with_locals=True).json(status=1)["finding"]
    assert finding["kind"] == "wrong-result" and finding["cause"] is None


def test_unneeded_barrier_beside_a_kernel_without_one(built_of: BuiltOf) -> None:
    """Another launch may have the same barrier only if it has one."""
    built = built_of(ZEROED, "        A_s[ty][tx] =", "        __syncthreads();\n        A_s[ty][tx] =")
    remark = built.json()["remark"]
    assert remark and remark["name"] == "unneeded-barrier"
