"""labs/reduction and labs/stencil, written from docs/lab.md alone: their solutions are right and silent,
and mistakes are named at their lines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, RUN_SECONDS, Tree, clean_environment, sample

SOLUTIONS = {"reduction": "1_tree.cu", "stencil": "1_tile.cu"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return Tree(tmp_path_factory.mktemp("small labs"), programs)


def solution(lab: str) -> str:
    return (REPOSITORY / "labs" / lab / "instructor" / "solutions" / SOLUTIONS[lab]).read_text()


def run(tree: Tree, lab: str, text: str, program: str, *words: str) -> tuple[int, Any]:
    """What this program, built of a kernel, says in JSON."""
    tree.write("other.cu", text)
    tree.make(f"LAB=labs/{lab}", "KERNEL=other.cu", program, "BACKEND=cpu")
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


@pytest.mark.parametrize(("lab", "old", "new", "kind", "line"), sample([
    ("reduction", "        __syncthreads();\n", "", "shared-race", "part[t + half]"),
    ("reduction", "i < n ? in[i] : 0.0f", "in[i]", "out-of-bounds", "in[i]"),
    ("reduction", "t < half", "t < half - 1", "wrong-result", None),
    ("stencil", "    __syncthreads();\n", "", "shared-race", "out[row * cols + col] ="),
    ("stencil", "row >= 0 && ", "", "out-of-bounds", "in[row * cols + col]"),
    ("stencil", "(tile[y][x] +", "(tile[y][x] + tile[y][x] +", "wrong-result", None),
], every=4))
def test_a_mistake(tree: Tree, lab: str, old: str, new: str, kind: str, line: str | None) -> None:
    text = solution(lab)
    assert text.count(old) == 1
    status, said = run(tree, lab, text.replace(old, new), f"{lab}-check", "--seed", "1")
    assert (status, said["finding"]["kind"]) == (1, kind), said
    code = text.replace(old, new).splitlines()
    assert line is None or line in code[said["finding"]["line"] - 1], said


def test_rounding_is_no_mistake(tree: Tree) -> None:
    """Another order of additions, and a product for the division."""
    text = solution("stencil")
    assert text.count("(tile[y][x] + ") == text.count(" + tile[y][x + 1]) / 5") == 1
    text = text.replace("(tile[y][x] + ", "(").replace("+ tile[y][x + 1]) / 5",
                                                       "+ tile[y][x + 1] + tile[y][x]) * 0.2f")
    status, said = run(tree, "stencil", text, "stencil", "300", "200")
    assert (status, said["wrong"]) == (0, 0), said
