"""The handouts of labs/ keep their word: each step's commands pass on a kernel that has come so far, and
say what the step says; points are those of the cases; what scan's shows of Hillis and Steele's steps, and
of trees, is what they compute.

`make grade` is not run here."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import BUILD_SECONDS, BUILT, REPOSITORY, Tree, clean_environment, sample

from grader.build.parts import described
from grader.cases.read import load_suites

LABS = REPOSITORY / "labs"
COMMAND = re.compile(r"(make|\./\w+(?:-check)?)( |$)")
# The kernel of each step that has commands, in instructor/.
NAIVE, BUFFERS, TREE = (
    "solutions/1_naive.cu", "faulty/styles/two_buffers.cu", "solutions/3_work_efficient.cu")
STUDENTS = {
    "scan": {"1": NAIVE, "2": NAIVE, "3": BUFFERS, "4": BUFFERS, "5": TREE},
    "reduction": {"1": "solutions/1_tree.cu", "2": "solutions/1_tree.cu"},
    "stencil": {"1": NAIVE, "2": NAIVE, "3": "solutions/2_tile.cu"},
}
GRADE = "`make grade` says `score: "


def text_of(lab: str) -> str:
    return (LABS / lab / "handout.md").read_text(encoding="utf-8")


def steps(lab: str) -> dict[str, str]:
    parts = re.split(r"^## (?:Step (\d)[^\n]*|[^\n]*)\n", text_of(lab), flags=re.MULTILINE)[1:]
    return {number: text for number, text in zip(parts[::2], parts[1::2], strict=True) if number}


def to_tick_off(text: str) -> Iterator[tuple[str, list[str]]]:
    """- [ ] `command` says `words`, and `command` says `words`."""
    for item in re.findall(r"^- \[ \] .*\n(?:  .*\n)*", text, re.MULTILINE):
        spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", item)]
        commands = [i for i, span in enumerate(spans) if COMMAND.match(span)]
        assert commands[0] == 0, item
        for begin, end in zip(commands, [*commands[1:], len(spans)], strict=True):
            assert end > begin + 1, f"{spans[begin]} says nothing"
            yield spans[begin], spans[begin + 1:end]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    copy = Tree(tmp_path_factory.mktemp("handouts"), programs, BUILT)
    copy.make_first()
    return copy


@pytest.mark.parametrize(("lab", "number"), sample(
    [(lab, number) for lab, kernels in STUDENTS.items() for number in kernels], every=15, start=9))
def test_a_step(tree: Tree, lab: str, number: str) -> None:
    commands = [*to_tick_off(steps(lab)[number])]
    assert commands
    kernel = (LABS / lab / "instructor" / STUDENTS[lab][number]).read_text()
    (tree.path / "labs" / lab / "kernel.cu").write_text(kernel)
    tree.write("broken.cu", re.sub(r" *__syncthreads\(\);\n", "", kernel, count=1))
    for command, words in commands:
        line = re.sub(r"\bmake\b", f"make LAB=labs/{lab}", command)
        done = subprocess.run(["sh", "-c", line], cwd=tree.path, text=True, capture_output=True,
                              env=clean_environment({"BACKEND": "cpu"}), timeout=BUILD_SECONDS,
                              stdin=subprocess.DEVNULL, check=False)
        said = " ".join(done.stdout.split())
        for word in words:
            assert word in said, f"{command}: {word!r} is not in\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("lab", STUDENTS)
def test_the_last_step_is_to_grade_and_points_are_those_of_the_cases(lab: str) -> None:
    *others, last = steps(lab)
    assert [*others] == [*STUDENTS[lab]] and int(last) == len(others) + 1
    public, hidden = (sum(suite.worth for suite in load_suites(described(f"labs/{lab}"), which) if suite.hidden == own)
                      for which, own in (("public", False), ("all", True)))
    text = steps(lab)[last]
    assert f"{GRADE}{public:g} of {public:g}`" in text and f"| **sum** | **{public:g}** | **{hidden:g}** |" in text
    for column, whole in ((0, public), (1, hidden)):
        rows = re.findall(r"^\| [^*|]+ \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
        assert sum(int(row[column]) for row in rows) == whole


def rows(lab: str, step: str) -> list[list[int]]:
    table = re.search(r"```\n(elements.*?)```", steps(lab)[step], re.DOTALL)
    assert table
    return [[int(number) for number in re.sub(r"stride \d", "", line).split() if number.isdigit()]
            for line in table[1].splitlines()]


def test_the_steps_that_are_shown() -> None:
    sums = rows("scan", "3")[0]
    for shown, stride in zip(rows("scan", "3")[1:], (1, 2, 4), strict=True):
        sums = [each + (sums[i - stride] if i >= stride else 0) for i, each in enumerate(sums)]
        assert shown == sums


def test_the_tree_that_is_shown() -> None:
    tree, shown = rows("scan", "5")[0], iter(rows("scan", "5")[1:])
    for stride in (1, 2, 4):
        for i in range(2 * stride - 1, 8, 2 * stride):
            tree[i] += tree[i - stride]
        assert next(shown) == tree
    for stride in (2, 1):
        for i in range(2 * stride - 1, 8 - stride, 2 * stride):
            tree[i + stride] += tree[i]
        assert tree == next(shown)
    assert next(shown, None) is None


def test_the_reduction_that_is_shown() -> None:
    table = re.search(r"```\n(elements.*?)```", text_of("reduction"), re.DOTALL)
    assert table
    lines = [[*map(int, re.sub(r"^\w+( threads?)?", "", line).split())] for line in table[1].splitlines()]
    for before, after in zip(lines, lines[1:]):
        assert after == [one + other for one, other in zip(before, before[len(after):])]
    assert [*map(len, lines)] == [8, 4, 2, 1]
