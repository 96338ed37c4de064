"""labs/scan is graded: what its solutions, mistakes and cheats get, on the public cases."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, RUN_SECONDS, Tree, finished, sample, slow_but

from instructor.faulty.mistakes import Seeded, seeded

FOLDER = REPOSITORY / "labs" / "scan" / "instructor"
CHEATS = sorted(FOLDER.glob("cheats/*.cu"))
SEEDED = list(seeded(FOLDER / "faulty"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return Tree(tmp_path_factory.mktemp("scan, graded"), programs)


def grade(tree: Tree, text: str, suite: str = "public", points: int = 40) -> Any:
    """The record."""
    tree.write("my.cu", text)
    ran = finished([sys.executable, "-B", "-m", "grader", "--lab", "labs/scan", "--submission", "my.cu", "--seed", "1",
                    "--suite", suite, "--protection", "none"], tree.path, timeout=5 * RUN_SECONDS)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    record = json.loads((tree.path / "results/my/result.json").read_text())
    assert record["max_score"] == points
    return record


def head(text: str, key: str) -> str:
    found = re.search(rf"^ \* {key}: +(.*?)(?: \*/)?$", text, re.MULTILINE)
    return found[1] if found else ""


def lost(record: Any) -> set[str]:
    return {mark["criterion"] for mark in record["marks"] if mark["score"] < mark["max_score"]}


@pytest.mark.parametrize("kernel", sample(sorted(FOLDER.glob("solutions/*.cu")), every=3, start=2),
                         ids=lambda path: path.stem)
def test_a_solution(tree: Tree, kernel: Path) -> None:
    """All are right on public cases; those that load too often keep the rest."""
    text = kernel.read_text()
    record = grade(tree, text)
    efficient = head(text, "loses") == "nothing"
    assert (record["score"], lost(record)) == ((40, set()) if efficient else (31, {"work"}))
    if kernel.stem == "1_naive":
        (case,) = (test for test in record["tests"] if test["params"]["n"] == 5000)
        assert case["loads"]["accesses"] == 5000 * 5001 // 2 + 5000


@pytest.mark.parametrize("cheat", sample(CHEATS, every=8, start=5), ids=lambda path: path.stem)
def test_a_cheat(tree: Tree, cheat: Path) -> None:
    text = cheat.read_text()
    record, loses = grade(tree, text), head(text, "loses")
    said = json.dumps([record["refusal"], record["build"], record["marks"], record["tests"][0]])
    assert head(text, "named") in said
    assert (record["score"], lost(record)) == (31, {"work"}) if loses else record["score"] == 0


@pytest.mark.parametrize(("most", "kept"), sample([(6, True), (4, False)], every=2, start=1))
def test_a_suite_may_allow_less(tree: Tree, most: int, kept: bool) -> None:
    """Of two passes over global memory, whose blocks' threads each load the sum before theirs."""
    text = (REPOSITORY / "labs/scan/testcases/public/basics.toml").read_text()
    first = text[text.index("[[case]]"):text.index("[[case]]", text.index("[[case]]") + 1)]
    suite = tree.write("one.toml", f'title = "One"\n[points]\nwork = 1\n[limits]\naccesses = {most}\n'
                       + first.replace("100", "5000") + 'criteria = ["work"]\n')
    record = grade(tree, (FOLDER / "faulty/styles/two_buffers.cu").read_text(), str(suite), 4)
    assert lost(record) == (set() if kept else {"work"})


@pytest.mark.slow
def test_launches_that_end_may_take_longer_together(tree: Tree) -> None:
    """The limit is a block's; of the host's code between them, too, half a second more."""
    suite = tree.write("short.toml", '''
title = "Short"
[[case]]
name = "100"
n = 100
fill = "random"
points = 3
time_limit = 0.1
''')
    text = (FOLDER / "solutions/1_naive.cu").read_text()
    launch = re.search(r"^ *scanBlock<<<.*\n", text, re.MULTILINE)
    assert launch
    often = f"""    for (unsigned i = 0, x = n; i < 20; i++) {{
    {launch[0]}        for (unsigned j = 0; j < 30000000; j++) x = x * 1664525 + 1013904223;
        if (x == 1) cudaMemset(out, 0, 4);
    }}
"""
    record = grade(tree, text.replace(launch[0], often), str(suite), 3)
    assert record["score"] == 3, record["tests"]
    assert record["tests"][0]["seconds"] > 0.7
    spins = text.replace(launch[0], launch[0] + "    for (volatile unsigned j = 1; j; j += 2);\n")
    first = grade(tree, spins, str(suite), 3)["tests"][0]
    assert "was still running at its time limit" in first["reason"] and "never becomes false" not in first["hint"]
    before = text.replace(launch[0], "    for (volatile unsigned j = 1; j; j += 2);\n" + launch[0])
    first = grade(tree, before, str(suite), 3)["tests"][0]
    assert first["hint"] == "which loop of prefixSum has a condition that never becomes false?"


@pytest.mark.slow
def test_the_size_of_a_shared_array_comes_through(tree: Tree) -> None:
    """The compiler's name of its type, from the submission's process."""
    (each,) = (each for each in SEEDED if each.mistake == "shared-too-small")
    first = grade(tree, each.text)["tests"][0]
    assert first["finding"]["what"] == "index 256 into a shared array whose indices are 0 to 255"


@pytest.mark.parametrize("each", slow_but(SEEDED, lambda *_: False), ids=lambda each: each.name)
def test_a_mistake_costs_points(tree: Tree, each: Seeded) -> None:
    """At least those for memory, whose share one repair does not give back. By day test_publish.py has those of
    SGEMM."""
    record = grade(tree, each.text)
    assert record["score"] <= 40 - 11 and "memory" in lost(record), each.did
