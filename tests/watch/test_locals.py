"""Mistakes of local variables, by what becomes of the run when a variable is another one: a variable
that has no value, an array that is not __shared__ (engine/host/check/cause.c). The kernels are made of one
that is right; each line that is to be named ends in a mark. How either may be declared: test_insert.py. (Plain
arrays and sums: the mistakes tiles-not-shared, one-tile-not-shared and sum-without-a-value of
instructor/faulty/mistakes.toml.)"""

import re
import shutil
from pathlib import Path

import pytest
from checked import EACH_SETUP, UNCOMPILED, Builder, Checked, run_check
from conftest import UNSPACED, Tree, sample, slow_but


HERE = "  // <- here"

TILED = """#define T 16
HELPERS
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    ARRAYS
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    SUM
    for (int p = 0; p < (k + T - 1) / T; p++) {
        LOADS
        __syncthreads();
        for (int i = 0; i < T; i++) ADD
        __syncthreads();
    }
    STORE
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
"""
PARTS = {
    "HELPERS": "",
    "ARRAYS": "__shared__ float A_s[T][T]; __shared__ float B_s[T][T];",
    "SUM": "float sum = 0.0f;",
    "LOADS": "A_s[ty][tx] = row < m && p * T + tx < k ? A[row * k + p * T + tx] : 0.0f;"
             " B_s[ty][tx] = col < n && p * T + ty < k ? B[(p * T + ty) * n + col] : 0.0f;",
    "ADD": "sum += A_s[ty][i] * B_s[i][tx];",
    "STORE": "if (row < m && col < n) C[row * n + col] = sum;",
}


def tiled(parts: dict[str, str]) -> str:
    text = TILED
    for name, part in (PARTS | parts).items():
        text = text.replace(name, part)
    return text


NOT_SHARED = {
    "both on a line": {"ARRAYS": "float A_s[T][T], B_s[T][T];" + HERE},
    "in the loop": {"ARRAYS": "__shared__ float B_s[T][T];",
                    "LOADS": "float A_s[T][T];" + HERE + "\n        " + PARTS["LOADS"]},
    "a structure": {"HELPERS": "struct tiles { float a[T][T], b[T][T]; };",
                    "ARRAYS": "tiles tile;" + HERE,
                    **{name: PARTS[name].replace("A_s", "tile.a").replace("B_s", "tile.b")
                       for name in ("LOADS", "ADD")}},
    "a helper": {
        "HELPERS": "__device__ float part(int ty, int tx, float a, float b)\n{\n"
                   "    float A_s[T][T];" + HERE + "\n    __shared__ float B_s[T][T];\n"
                   "    A_s[ty][tx] = a; B_s[ty][tx] = b;\n    __syncthreads();\n"
                   "    float sum = 0.0f;\n"
                   "    for (int i = 0; i < T; i++) sum += A_s[ty][i] * B_s[i][tx];\n"
                   "    __syncthreads();\n    return sum;\n}",
        "ARRAYS": "",
        "LOADS": "sum += part(ty, tx, row < m && p * T + tx < k ? A[row * k + p * T + tx] : 0.0f,"
                 " col < n && p * T + ty < k ? B[(p * T + ty) * n + col] : 0.0f);",
        "ADD": ";"},
}  # fmt: skip

NO_VALUE = {
    "a vector of sums": {"SUM": "float4 sum;" + HERE,
                         "ADD": "(&sum.x)[i & 3] += A_s[ty][i] * B_s[i][tx];",
                         "STORE": PARTS["STORE"].replace("sum;", "sum.x + sum.y + sum.z + sum.w;")},
    "no else": {"LOADS": "float a;" + HERE + "\n        if (row < m && p * T + tx < k)"
                         " a = A[row * k + p * T + tx]; A_s[ty][tx] = a; B_s[ty][tx] ="
                         " B[min(p * T + ty, k - 1) * n + min(col, n - 1)];"},
    "a loop's counter": {"ADD": ";\n        for (int i; i < T; i++)" + HERE
                                + "\n            " + PARTS["ADD"]},
    "a pointer": {"SUM": "float sum = 0.0f; const float *from;" + HERE
                         + "\n    if (ty < T - 1) from = &A[row * k];",
                  "LOADS": PARTS["LOADS"].replace("A[row * k + p * T + tx]", "from[p * T + tx]")},
    "in a helper": {
        "HELPERS": "__device__ __noinline__ float dot(const float *a, const float *b)\n{\n"
                   "    float sum;" + HERE + "\n    for (int i = 0; i < T; i++)"
                   " sum += a[i] * b[i * T];\n    return sum;\n}",
        "ADD": "if (i == 0) sum += dot(&A_s[ty][0], &B_s[0][tx]);"},
}  # fmt: skip


def check(checker: Builder, setup: str, folder: Path, parts: dict[str, str]) -> Checked:
    path = folder / "kernel.cu"
    path.write_text(tiled(parts))
    return run_check(checker(setup, path, with_locals=True), "--json")


CASES = [(cause, name) for cause, kernels in (("not-shared", NOT_SHARED), ("no-value", NO_VALUE))
         for name in kernels]


@pytest.mark.parametrize(("setup", "cause", "name"), slow_but(
    [(setup, *case) for setup in ("gcc -O1", "clang -O1") for case in CASES],
    lambda _, value: value in (("gcc -O1", "not-shared", "both on a line"), ("gcc -O1", "no-value", "no else"))))
def test_the_variable_is_named(checker: Builder, tmp_path: Path, setup: str, cause: str, name: str) -> None:
    parts = (NOT_SHARED | NO_VALUE)[name]
    line, text = next((i, text) for i, text in enumerate(tiled(parts).splitlines(), 1) if text.endswith(HERE))
    run = check(checker, setup, tmp_path, parts)
    assert run.status == 1 and run.finding["cause"], run
    found = run.finding["cause"]
    assert (found["name"], found["line"]) == (cause, line), run
    variable = found["what"].split()[0]
    assert re.search(rf"\b{variable}(\[[^]]*\])*( = {{.*}})?[,;]", text), run
    assert found["file"].endswith("kernel.cu"), run
    if cause == "not-shared":
        assert found["hint"] == f"is {variable} meant to be __shared__?"


# Partly filled; set before it is read; not read; zeros.
RIGHT = {
    "SUM": "float sum, own[T], sums[2][2] = {0.0f}, other[T]; int last, i; sum = 0.0f; i = 0; (void)i;"
           " other[tx] = 1.0f; last = tx; (void)other; (void)last;",
    "ADD": "{ if (i & 1) { own[i] = A_s[ty][i] * B_s[i][tx]; sum += own[i]; }"
           " else sum += A_s[ty][i] * B_s[i][tx]; }",
    "STORE": PARTS["STORE"].replace("sum;", "sum + sums[1][1];"),
}
SOMETHING_ELSE = {
    "the sum does not begin at zero": {"LOADS": "if (p == 0) sum = 1.0f; " + PARTS["LOADS"]},
    "a row too far": {"STORE": "if (row <= m && col < n) C[row * n + col] = sum;"},
    "rows of m": {"LOADS": PARTS["LOADS"].replace("row * k", "row * m")},
}


@pytest.mark.parametrize("setup", EACH_SETUP)
def test_a_right_kernel_has_no_finding(checker: Builder, tmp_path: Path, setup: str) -> None:
    assert check(checker, setup, tmp_path, RIGHT).status == 0


@pytest.mark.parametrize("mistake", sample([*SOMETHING_ELSE], every=3))
def test_another_mistake_is_not_blamed_on_them(checker: Builder, tmp_path: Path, mistake: str) -> None:
    """That there are local variables without a value, and arrays of which threads store different
    parts, is no reason."""
    run = check(checker, "gcc -O1", tmp_path, RIGHT | SOMETHING_ELSE[mistake])
    assert run.status == 1, run
    assert not run.finding["cause"] or run.finding["cause"]["name"] not in ("not-shared", "no-value"), run


def test_the_program_is_made_when_it_is_asked_for(tree: Tree) -> None:
    """`make check` of a kernel without a mistake does not pay for it. A program that was built before
    does not ask the one of another kernel."""
    left = [*UNSPACED, *UNCOMPILED]
    own, other = (tree.path / f"{name}.cu" for name in ("own", "other"))
    own.write_text(tiled({"ARRAYS": PARTS["ARRAYS"].replace("__shared__", "", 1)}))
    other.write_text(own.read_text().replace("A_s", "other"))
    made, before = tree.path / "build/check/locals", tree.path / "sgemm-check-before"
    made.unlink(missing_ok=True)
    tree.make("sgemm-check", "KERNEL=own.cu", "BACKEND=cpu", *left)
    assert not made.exists()
    said = run_check(shutil.copy2(tree.path / "sgemm-check", before), "--json")
    assert said.finding["cause"]["name"] == "not-shared" and made.stat().st_size
    when = made.stat().st_mtime_ns
    assert run_check(before, "--json").finding["cause"] == said.finding["cause"] and made.stat().st_mtime_ns == when
    tree.make("sgemm-check", "KERNEL=other.cu", "BACKEND=cpu", *left)
    assert run_check(tree.path / "sgemm-check", "--json").finding["cause"]["name"] == "not-shared"
    assert run_check(before, "--json").finding["cause"] is None
