"""./sgemm-check --indices: what each load and store of a kernel computes, in terms of threadIdx,
blockIdx, m, n and k (engine/show/indices.c).

A failure here means that a student who asks is shown another index than the kernel's, or none.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from checked import TILED, Builder, run_check
from conftest import BUILT, REPOSITORY, RUN_SECONDS, UNSPACED, Tree, finished, sample

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


# ---- indices that come from values ---------------------------------------------------------------

# The lab's values are as regular as can be: that an index comes from them shows in nothing else.
PICKS = {
    "lab.c": """#include "engine/lab.h"
const struct lab lab = {
    .name = "picks",
    .title = "out = x", .wrapper = "picks", .version = "1",
    .params = {{"n", "int", 1, 4000, 30, "elements"}},
    .arrays = {{"from", ELEMENT_I32, "int", ROLE_INPUT, 1, {{0, 1}}, -1, {0, -1, -1}},
               {"key", ELEMENT_U8, "unsigned char", ROLE_INPUT, 1, {{0, 0}}, -1, {0, -1, -1}},
               {"x", ELEMENT_F32, "float", ROLE_INPUT, 1, {{0, 0}}, -1, {0, -1, -1}},
               {"out", ELEMENT_F32, "float", ROLE_IN_OUT, 1, {{0, 0}}, -1, {0, -1, -1}}},
    .arguments = {"n", "from", "key", "x", "out"}, .command_line = {"n"}, .usage = {{"N", "of N elements"}},
    .fills = {{"regular", "element i is i"}},
};
static void fill(const struct lab_case *which, void *const arrays[LAB_ARRAYS]) {
    for (int i = 0; i <= which->shape.of[0]; i++) ((int *)arrays[0])[i] = i;
    for (int i = 0; i < which->shape.of[0]; i++) {
        ((unsigned char *)arrays[1])[i] = (unsigned char)i;
        ((float *)arrays[2])[i] = ((float *)arrays[3])[i] = (float)i;
    }
}
static bool verify(const struct lab_case *which, const void *const arrays[LAB_ARRAYS], struct verdict *verdict) {
    (void)which, (void)arrays;
    *verdict = (struct verdict){.passed = true, .array = 3};
    return true;
}
const struct lab_truth lab_truth = {.fill = fill, .verify = verify};
""",
    "call.cu": """#include "engine/lab.h"
void picks(int n, const int *from, const unsigned char *key, const float *x, float *out);
LAB_CALL(picks, (int)p[0], (const int *)a[0], (const unsigned char *)a[1], (const float *)a[2], (float *)a[3])
""",
    "kernel.cu": """__global__ void pick(int n, const int *from, const unsigned char *key, const float *x, float *out) {
    __shared__ float tile[16], sums[16], mine[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t] = i < n ? x[i] : 0;
    sums[t] = i < n ? x[i] + x[0] : 0;
    for (int bin = t; bin < 256; bin += 16) mine[bin] = 0;
    __syncthreads();
    if (i >= n) return;
    float sum = tile[t];
    sum += sums[t];
    LINES
    out[i] = sum;
}
void picks(int n, const int *from, const unsigned char *key, const float *x, float *out) {
    pick<<<(n + 15) / 16, 16>>>(n, from, key, x, out);
}
""",
}
GATHER = """sum += x[from[i]];
    for (int j = from[i]; j < from[i + 1]; ++j)
        sum -= x[j];
    out[from[i]] = sum;
    mine[t] = x[from[i]];
    __syncwarp();
    sum *= mine[t];"""
HISTOGRAM = """atomicAdd(&mine[key[i]], 1.0f);
    int bin = (int)x[i];
    atomicAdd(&mine[bin < 60 ? bin : 60], 1.0f);
    bin = (int)out[i];
    sum += key[bin < n ? bin : 0];"""
I = "16 * blockIdx.x + threadIdx.x"


@pytest.fixture(scope="module")
def picks(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    made = Tree(tmp_path_factory.mktemp("picks"), programs, BUILT)
    for name, text in PICKS.items():
        made.write(f"labs/picks/{name}", text)
    return made


def values_in_place_of(picks: Tree, lines: str) -> dict[str, list[tuple[str | None, str | None]]]:
    """Of each line of this kernel, by its text: elements and sources, where any is said."""
    text = PICKS["kernel.cu"].replace("LINES", lines)
    picks.write("other.cu", text)
    picks.make("LAB=labs/picks", "KERNEL=other.cu", "picks-check", "BACKEND=cpu", *UNSPACED)
    done = finished(["./picks-check", "--indices", "--json"], picks.path, timeout=RUN_SECONDS)
    report = json.loads(done.stdout)["indices"]
    said: dict[str, list[tuple[str | None, str | None]]] = {}
    assert report["ended"], report
    for each in report["accesses"]:
        said.setdefault(text.splitlines()[each["line"] - 1].strip(), []).append((each["element"], each["source"]))
    return said


def test_no_formula_of_an_index_that_was_gathered(picks: Tree) -> None:
    """Nor of what such a load brought into shared memory; of all other accesses there is one."""
    said = values_in_place_of(picks, GATHER)
    assert said["sum += x[from[i]];"] == [(f"from[{I}]", None), (None, None)]
    assert said["sum -= x[j];"] == [(None, None)]
    assert said["out[from[i]] = sum;"][-1] == (None, None)
    assert said["mine[t] = x[from[i]];"][-2:] == [(None, None), ("mine[threadIdx.x]", None)]
    assert said["sum *= mine[t];"] == [("mine[threadIdx.x]", None)]
    assert said["out[i] = sum;"] == [(f"out[{I}]", None)]


def test_no_formula_of_a_bin(picks: Tree) -> None:
    """Be it of bytes, of floats, of an array that is written, too, or cut off at the last one. A sum is no element."""
    said = values_in_place_of(picks, HISTOGRAM)
    assert said["atomicAdd(&mine[key[i]], 1.0f);"] == [(f"key[{I}]", None), (None, None)]
    assert said["atomicAdd(&mine[bin < 60 ? bin : 60], 1.0f);"] == [(None, None)]
    assert said["sum += key[bin < n ? bin : 0];"] == [(None, None)]
    assert said["float sum = tile[t];"] == [("tile[threadIdx.x]", f"x[{I}]")]
    assert said["sum += sums[t];"] == [("sums[threadIdx.x]", None)]
