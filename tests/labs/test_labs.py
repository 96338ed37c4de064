"""The labs of labs/: their solutions are right and silent, and each of their mistakes is named at its line.
(reduction and stencil were written from docs/lab.md alone.)"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILT, REPOSITORY, RUN_SECONDS, UNSPACED, Tree, finished, sample

from instructor.faulty.mistakes import Seeded, replaced, seeded


def instructors(lab: str) -> Path:
    return REPOSITORY / "labs" / lab / "instructor"


SCANS = sorted([*instructors("scan").glob("solutions/*.cu"), *instructors("scan").glob("faulty/styles/*.cu")])
NAIVE = instructors("scan") / "solutions/1_naive.cu"
TREE = instructors("reduction") / "solutions/1_tree.cu"
TILE = instructors("stencil") / "solutions/2_tile.cu"
SEEDED = {lab: list(seeded(instructors(lab) / "faulty")) for lab in ("scan", "reduction", "stencil")}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return Tree(tmp_path_factory.mktemp("labs"), programs, BUILT)


def run_text(tree: Tree, lab: str, text: str, program: str, *words: str) -> tuple[int, str]:
    """What this program, built of a kernel, says."""
    tree.write("other.cu", text)
    tree.make(f"LAB=labs/{lab}", "KERNEL=other.cu", program, "BACKEND=cpu", *UNSPACED)
    done = finished([f"./{program}", *words], tree.path, timeout=RUN_SECONDS)
    return done.returncode, done.stdout


def run(tree: Tree, lab: str, text: str, program: str, *words: str) -> tuple[int, Any]:
    """In JSON."""
    status, said = run_text(tree, lab, text, program, "--json", *words)
    return status, json.loads(said)


@pytest.mark.parametrize(("lab", "path"), [
    *sample([("scan", path) for path in SCANS], every=4, start=3),
    *sample([("reduction", TREE), ("stencil", TILE)], every=2, start=1),
], ids=lambda value: value if isinstance(value, str) else value.stem)  # fmt: skip
def test_a_solution(tree: Tree, lab: str, path: Path) -> None:
    """Of more blocks than a block has elements, too, where that ends in time."""
    text = path.read_text()
    status, said = run(tree, lab, text, f"{lab}-check")
    assert (status, said["finding"]) == (0, None), said
    assert lab != "scan" or len(said["checked"]) > 8
    most = 70000 if "naive" in path.name else 2**20 + 1
    for elements, words in {
        "scan": [(1, "1 --fill wrap"), (1025, "1025 --fill wrap"), (5000, "5000 --fill cancel"),
                 (5000, "5000 --fill counting"), (most, f"{most} --fill wrap")],
        "reduction": [(1, "3000")],
        "stencil": [(35 * 70, "35 70")],
    }[lab]:  # fmt: skip
        status, said = run(tree, lab, text, lab, *words.split())
        assert (status, said["compared"], said["wrong"]) == (0, elements, 0), said


@pytest.mark.parametrize(("lab", "each"), [
    *sample([("scan", each) for each in SEEDED["scan"]], every=26, start=9),
    *sample([(lab, each) for lab in ("reduction", "stencil") for each in SEEDED[lab]], every=100),
], ids=lambda value: value if isinstance(value, str) else value.name)  # fmt: skip
def test_a_mistake_is_named_at_its_line(tree: Tree, lab: str, each: Seeded) -> None:
    status, said = run(tree, lab, each.text, f"{lab}-check", "--seed", "1")
    assert status == 1, f"{each.did}, but\n{said}"
    finding, cause = said["finding"], said["finding"]["cause"]
    lines = {cause["line"]} if cause else {finding["line"], (finding["other"] or finding)["line"]}
    assert (cause["name"] if cause else finding["kind"]) in (each.causes or each.found), finding
    no_causes = lab != "scan"  # a wrong result has no line
    assert not lines.isdisjoint(each.lines) or no_causes and each.found == ["wrong-result"], finding


def test_an_array_without_axes_has_no_edge(tree: Tree) -> None:
    """Which of its elements a thread has, its place in the grid does not say."""
    text = replaced(TREE.read_text(), ["if (t == 0)", "if (t == 9) sum[1] = 0;\n    if (t == 0)"], "two sums")
    status, said = run(tree, "reduction", text, "reduction-check", "100")
    assert (status, said["finding"]["kind"], said["finding"]["element"]) == (1, "out-of-bounds", "sum[1]"), said
    assert "edge" not in said["finding"]["hint"], said


# ---- what a lab's truth.c and formulas say -------------------------------------------------------


RIGHT = {
    # name: kernel, edits; words
    # Sums of 64 bits have the same lower ones.
    "sums wrap around": ("scan", NAIVE, ["int sum = 0", "long long sum = 0"], "3000 --fill wrap"),
    # Another order of additions, and a product for the division.
    "rounding is no mistake": ("stencil", TILE, [
        "float sum = tile[y][x];\n", "float sum = 0;\n", "sum / 5", "sum * 0.2f",
        "sum += tile[y][x + 1];\n", "sum += tile[y][x + 1];\n    sum += tile[y][x];\n"], "300 200"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_too(tree: Tree, name: str) -> None:
    lab, path, edits, words = RIGHT[name]
    status, said = run(tree, lab, replaced(path.read_text(), edits, name), lab, *words.split())
    assert (status, said["wrong"], said["unwritten"]) == (0, 0, 0), said


@pytest.mark.parametrize(("old", "new", "formula"), sample([
    ("int j = 0", "int j = i / 64 * 64", "blocks-not-added"),
    ("j <= i", "j < i", "exclusive"),
    ("sum += in[j]", "sum = in[j]", "copied"),
], every=3))
def test_what_a_wrong_result_is_instead(tree: Tree, old: str, new: str, formula: str) -> None:
    text = replaced(NAIVE.read_text(), [old, new], formula)
    status, said = run(tree, "scan", text, "scan-check", "1000")
    assert (status, said["finding"]["formula"]) == (1, formula), said
    shown = run_text(tree, "scan", text, "scan-check", "1000")[1]
    assert " ".join(shown.split()).count(said["finding"]["cause"]["what"]) == 1, shown
    plain = " ".join(run_text(tree, "scan", text, "scan", "1000")[1].split())
    assert ("in blocks of 64 elements" in plain) == (formula == "blocks-not-added"), plain


def test_what_fits_the_first_element_alone_is_no_explanation(tree: Tree) -> None:
    text = replaced(NAIVE.read_text(), ["out[i] = sum;", "out[i] = i ? sum + 1 : 0;"], "exclusive")
    status, said = run(tree, "scan", text, "scan-check", "1000")
    assert (status, said["finding"]["kind"], said["finding"]["formula"]) == (1, "wrong-result", None), said


def test_a_launch_that_was_stopped_stored_nothing_for_the_last_time(tree: Tree) -> None:
    """In the run that shows the line of such a result: on sizes that are prime. No line, then."""
    said = {}
    for where in "false", "n % 2 && i == 5":
        text = replaced(NAIVE.read_text(), ["j <= i", "j < i", "void prefixSum", f"""
__global__ void clear(int n, int *out)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ({where}) __trap();
    if (i < n) out[i] = 0;
}}

void prefixSum""", "    scanBlock<<<", """
    clear<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, out);
    scanBlock<<<"""], where)
        status, said[where] = run(tree, "scan", text, "scan-check", "1000")
        assert (status, said[where]["finding"]["formula"]) == (1, "exclusive"), said
    ended, stopped = said.values()
    assert "launch 2 of 2 is the last one" in " ".join(ended["finding"]["cause"]["detail"]), said
    assert stopped["finding"]["cause"] is None, said


def test_an_element_that_is_wrong(tree: Tree) -> None:
    """Says in which row and column it is, and what is there."""
    text = TILE.read_text()
    (store,) = (line for line in text.splitlines() if "sum / 5" in line)
    text = replaced(text, [store, f"{store}\n    if (row == 7 && col == 3) out[row * cols + col] = 9;"], "9")
    status, said = run(tree, "stencil", text, "stencil", "20", "30")
    assert (status, said["wrong"]) == (1, 1), said
    (wrong,) = said["first_wrong"]
    assert (wrong["row"], wrong["column"], wrong["got"]) == (7, 3, 9), said


def test_a_map_shows_the_worst_of_each_cell(tree: Tree) -> None:
    """Wrong before unwritten before right, in whatever order; of 60 elements a cell. No element may be off."""
    text = replaced(NAIVE.read_text(), ["out[i] = sum;", """
        const int kind = i / 60 % 6;
        const bool odd = i % 2;
        if (kind == 0) { if (odd) out[i] = sum; }
        else if (kind == 1) { if (odd) out[i] = sum + 1; }
        else if (kind == 2) out[i] = sum + odd;
        else if (kind == 3) out[i] = sum;
        else if (kind == 4) out[i] = sum + 1;"""], "map")
    status, said = run_text(tree, "scan", text, "scan", "3600")
    assert status == 1 and f"|{'uxx.XU' * 10}|" in said and "0 (exact)" in said, said


def test_counts_and_phases_in_the_words_of_the_lab(tree: Tree) -> None:
    """Loads beside the naive kernel's; and no word about additions, of which each kernel has its own number."""
    text = SCANS[-1].read_text()
    said = run_text(tree, "scan", text, "scan-check", "--counts")[1]
    assert "the naive kernel, n (n + 1) / 2            8,390,656 " in said
    assert "operations" not in said and "float" not in said, said
    said = run_text(tree, "scan", text, "scan-check", "--phases", "2000")[1]
    assert "    in: elements 0-511: 512 loads\n" in said and "out: the block stores elements 0 to 511\n" in said
    assert "rows" not in said and "1 x" not in said, said


def test_the_starter_says_what_to_write(tree: Tree) -> None:
    status, said = run(tree, "scan", (REPOSITORY / "labs/scan/kernel.cu").read_text(), "scan-check")
    assert (status, said["finding"]["kind"]) == (1, "no-launch")


def test_a_wrapper_that_calls_itself_without_end(tree: Tree) -> None:
    """Its stack overflows, soon; unless a launch has gone wrong before."""
    large = ["    float *sums = sum;", "    float *sums = sum;\n    volatile char frame[1 << 19];\n    frame[n] = 0;"]
    for edits, kind, what in (
        (["    if (blocks > 1) {", "    {"], "host-fault", "the stack of host code is full"),
        (["sumAll(blocks, sums, sum)", "sumAll(n, sums, sum)"], "out-of-bounds", "outside every allocation"),
    ):
        text = replaced(TREE.read_text(), [*large, *edits], "the tree")
        _, said = run(tree, "reduction", text, "reduction-check", "1000")
        assert said["finding"]["kind"] == kind and what in said["finding"]["what"], said


@pytest.mark.parametrize("n", [100_000, 1_300_007, pytest.param(2**24, marks=pytest.mark.slow)])
def test_a_wrong_sum_is_wrong_however_many_elements_there_are(tree: Tree, n: int) -> None:
    text = replaced(TREE.read_text(), ["in[i] : 0.0f", "in[i] + (i == 7) : 0.0f"], "the tree")
    for kernel, status in ((TREE.read_text(), 0), (text, 1)):
        assert run(tree, "reduction", kernel, "reduction", str(n))[0] == status


def test_one_element_is_its_own_sum(tree: Tree) -> None:
    """With this seed it is so small that it is 0: not -0, to which nothing is added in this kernel."""
    copies = """__global__ void sumBlock(const float *in, float *sum) { *sum = *in; }
    void sumAll(int n, const float *in, float *sum) { sumBlock<<<n, 1>>>(in, sum); }"""
    assert run(tree, "reduction", copies, "reduction", "1", "--seed", "31848")[0] == 0
