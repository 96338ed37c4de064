"""labs/reduction and labs/stencil, written from docs/lab.md alone: their solutions are right and silent,
and mistakes are named at their lines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILT, REPOSITORY, RUN_SECONDS, UNSPACED, Tree, clean_environment, sample

from instructor.faulty.mistakes import Seeded, seeded

SOLUTIONS = {"reduction": "1_tree.cu", "stencil": "2_tile.cu"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return Tree(tmp_path_factory.mktemp("small labs"), programs, BUILT)


def solution(lab: str) -> str:
    return (REPOSITORY / "labs" / lab / "instructor" / "solutions" / SOLUTIONS[lab]).read_text()


def run(tree: Tree, lab: str, text: str, program: str, *words: str) -> tuple[int, Any]:
    """What this program, built of a kernel, says in JSON."""
    tree.write("other.cu", text)
    tree.make(f"LAB=labs/{lab}", "KERNEL=other.cu", program, "BACKEND=cpu", *UNSPACED)
    done = subprocess.run([f"./{program}", "--json", *words], cwd=tree.path, env=clean_environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=RUN_SECONDS, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(("lab", "sizes", "elements"), sample([
    ("reduction", ["3000"], 1), ("stencil", ["35", "70"], 35 * 70)], every=2, start=1))
def test_the_solution(tree: Tree, lab: str, sizes: list[str], elements: int) -> None:
    status, said = run(tree, lab, solution(lab), f"{lab}-check")
    assert (status, said["finding"]) == (0, None), said
    status, said = run(tree, lab, solution(lab), lab, *sizes)
    assert (status, said["compared"], said["wrong"]) == (0, elements, 0), said


@pytest.mark.parametrize(("lab", "each"), sample(
    [(lab, each) for lab in SOLUTIONS for each in seeded(REPOSITORY / "labs" / lab / "instructor" / "faulty")],
    every=100), ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_mistake(tree: Tree, lab: str, each: Seeded) -> None:
    status, said = run(tree, lab, each.text, f"{lab}-check", "--seed", "1")
    finding = said["finding"]
    assert (status, [finding["kind"]]) == (1, each.found), said
    assert finding["line"] in each.lines or each.found == ["wrong-result"], said


def test_rounding_is_no_mistake(tree: Tree) -> None:
    """Another order of additions, and a product for the division."""
    text = solution("stencil")
    first, last = "float sum = tile[y][x];\n", "sum += tile[y][x + 1];\n"
    assert text.count(first) == text.count(last) == text.count("sum / 5") == 1
    text = text.replace(first, "float sum = 0;\n").replace(last, f"{last}    sum += tile[y][x];\n").replace(
        "sum / 5", "sum * 0.2f")
    status, said = run(tree, "stencil", text, "stencil", "300", "200")
    assert (status, said["wrong"]) == (0, 0), said


def test_an_element_that_is_wrong(tree: Tree) -> None:
    """Says in which row and column it is, and what is there."""
    text = solution("stencil")
    assert text.count("sum / 5") == 1 and "<<<" in text
    store = next(line for line in text.splitlines() if "sum / 5" in line)
    status, said = run(tree, "stencil", text.replace(store, f"{store}\n    if (row == 7 && col == 3) out[row * cols + col] = 9;"),
                       "stencil", "20", "30")
    assert (status, said["wrong"]) == (1, 1), said
    [wrong] = said["first_wrong"]
    assert (wrong["row"], wrong["column"], wrong["got"]) == (7, 3, 9), said
