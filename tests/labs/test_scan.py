"""labs/scan: its solutions are right and silent, and each of its mistakes is named at its line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILT, REPOSITORY, RUN_SECONDS, UNSPACED, Tree, clean_environment, sample

from instructor.faulty.mistakes import Seeded, seeded

LAB = "labs/scan"
FOLDER = REPOSITORY / LAB / "instructor"
RIGHT = sorted([*FOLDER.glob("solutions/*.cu"), *FOLDER.glob("faulty/styles/*.cu")])
SEEDED = list(seeded(FOLDER / "faulty"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return Tree(tmp_path_factory.mktemp("scan"), programs, BUILT)


def run(tree: Tree, kernel: Path, program: str, *words: str) -> tuple[int, Any]:
    """What this program, built of the kernel, says in JSON."""
    tree.make(f"LAB={LAB}", f"KERNEL={kernel}", program, "BACKEND=cpu", *UNSPACED)
    done = subprocess.run([f"./{program}", "--json", *words], cwd=tree.path, env=clean_environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=RUN_SECONDS, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("kernel", sample(RIGHT, every=4, start=3), ids=lambda path: path.stem)
def test_a_solution_is_silent(tree: Tree, kernel: Path) -> None:
    status, said = run(tree, kernel, "scan-check")
    assert (status, said["finding"]) == (0, None), said
    assert len(said["checked"]) > 8


@pytest.mark.parametrize("kernel", sample(RIGHT, every=4, start=3), ids=lambda path: path.stem)
def test_a_solution_is_right(tree: Tree, kernel: Path) -> None:
    """Of more blocks than a block has elements, too, where that ends in time."""
    for n, fill in ((1, "wrap"), (1025, "wrap"), (5000, "cancel"), (5000, "counting"),
                    (70000 if "naive" in kernel.name else 2**20 + 1, "wrap")):
        status, said = run(tree, kernel, "scan", str(n), "--fill", fill)
        assert (status, said["compared"], said["wrong"]) == (0, n, 0), said


@pytest.mark.parametrize("each", sample(SEEDED, every=26, start=9), ids=lambda each: each.name)
def test_a_mistake_is_named_at_its_line(tree: Tree, tmp_path: Path, each: Seeded) -> None:
    status, said = run(tree, each.write(tmp_path), "scan-check", "--seed", "1")
    assert status == 1, f"{each.did}, but\n{said}"
    finding, cause = said["finding"], said["finding"]["cause"]
    lines = {cause["line"]} if cause else {finding["line"], (finding["other"] or finding)["line"]}
    assert (cause["name"] if cause else finding["kind"]) in (each.causes or each.found), finding
    assert not lines.isdisjoint(each.lines), finding


def test_there_are_twenty_mistakes() -> None:
    assert len({each.mistake for each in SEEDED}) >= 20
    assert {each.style for each in SEEDED} == {path.stem for path in RIGHT}


def test_sums_wrap_around(tree: Tree, tmp_path: Path) -> None:
    """Those of 64 bits have the same lower ones."""
    text = (FOLDER / "solutions/1_naive.cu").read_text()
    assert text.count("int sum = 0") == 1
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text.replace("int sum = 0", "long long sum = 0"))
    status, said = run(tree, kernel, "scan", "3000", "--fill", "wrap")
    assert (status, said["wrong"], said["unwritten"]) == (0, 0, 0), said


@pytest.mark.parametrize(("old", "new", "formula"), sample([
    ("j <= i", "j < i", "exclusive"),
    ("sum += in[j]", "sum = in[j]", "copied"),
    ("int j = 0", "int j = i / 64 * 64", "blocks-not-added"),
], every=3))
def test_what_a_wrong_result_is_instead(tree: Tree, tmp_path: Path, old: str, new: str,
                                        formula: str) -> None:
    text = (FOLDER / "solutions/1_naive.cu").read_text()
    assert text.count(old) == 1
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text.replace(old, new))
    status, said = run(tree, kernel, "scan-check", "1000")
    assert (status, said["finding"]["formula"]) == (1, formula), said
    cause = said["finding"]["cause"]["what"]
    text = subprocess.run(["./scan-check", "1000"], cwd=tree.path, env=clean_environment(), capture_output=True,
                          text=True, timeout=RUN_SECONDS, check=False).stdout
    assert " ".join(text.split()).count(cause) == 1, text


def test_a_map_shows_the_worst_of_each_cell(tree: Tree, tmp_path: Path) -> None:
    """Wrong before unwritten before right, in whatever order; of 60 elements a cell."""
    text = (FOLDER / "solutions/1_naive.cu").read_text()
    assert text.count("out[i] = sum;") == 1
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text.replace("out[i] = sum;", """
        const int kind = i / 60 % 6;
        const bool odd = i % 2;
        if (kind == 0) { if (odd) out[i] = sum; }
        else if (kind == 1) { if (odd) out[i] = sum + 1; }
        else if (kind == 2) out[i] = sum + odd;
        else if (kind == 3) out[i] = sum;
        else if (kind == 4) out[i] = sum + 1;"""))
    status, said = run(tree, kernel, "scan", "3600")
    assert (status, said["map"]["rows"]) == (1, ["uxx.XU" * 10]), said


def test_what_is_counted(tree: Tree) -> None:
    """Loads beside the naive kernel's; and no word about additions, of which each kernel has its own
    number."""
    tree.make(f"LAB={LAB}", f"KERNEL={RIGHT[-1]}", "scan-check", "BACKEND=cpu", *UNSPACED)
    said = subprocess.run(["./scan-check", "--counts"], cwd=tree.path, env=clean_environment(),
                          capture_output=True, text=True, timeout=RUN_SECONDS, check=False).stdout
    assert "the naive kernel, n (n + 1) / 2            8,390,656 " in said
    assert "operations" not in said and "float" not in said, said


def test_a_phase_of_one_dimension_has_elements(tree: Tree) -> None:
    tree.make(f"LAB={LAB}", f"KERNEL={RIGHT[-1]}", "scan-check", "BACKEND=cpu", *UNSPACED)
    said = subprocess.run(["./scan-check", "--phases", "2000"], cwd=tree.path, env=clean_environment(),
                          capture_output=True, text=True, timeout=RUN_SECONDS, check=False).stdout
    assert "    in: elements 0-511: 512 loads\n" in said and "out: the block stores elements 0 to 511\n" in said
    assert "rows" not in said and "1 x" not in said, said


def test_the_starter_says_what_to_write(tree: Tree) -> None:
    status, said = run(tree, REPOSITORY / LAB / "kernel.cu", "scan-check")
    assert (status, said["finding"]["kind"]) == (1, "no-launch")
