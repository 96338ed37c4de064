"""The handouts of labs/ keep their word: each step's commands pass on a kernel that has come so far, and
say what the step says; points are those of the cases; what scan's shows of Hillis and Steele's steps, and
of trees, is what they compute.

`make grade` is not run here."""

import re
from pathlib import Path

import pytest
from conftest import BUILT, REPOSITORY, UNSPACED, Tree, finished, sample
from test_handout import sections, to_tick_off

from grader.build.parts import described
from grader.cases.read import load_suites

LABS = REPOSITORY / "labs"
# The kernel of each step that has commands, in instructor/.
NAIVE, BUFFERS, TREE = (
    "solutions/1_naive.cu", "faulty/styles/two_buffers.cu", "solutions/3_work_efficient.cu")
STUDENTS = {
    "scan": {"1": NAIVE, "2": NAIVE, "3": BUFFERS, "4": BUFFERS, "5": TREE},
    "reduction": {"1": "solutions/1_tree.cu", "2": "solutions/1_tree.cu"},
    "stencil": {"1": NAIVE, "2": NAIVE, "3": "solutions/2_tile.cu"},
}


def text_of(lab: str) -> str:
    return (LABS / lab / "handout.md").read_text(encoding="utf-8")


def steps(lab: str) -> dict[str, str]:
    return {number: text for number, text in sections(text_of(lab)).items() if number.isdigit()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    copy = Tree(tmp_path_factory.mktemp("handouts"), programs, BUILT)
    copy.make_first()
    return copy


@pytest.mark.parametrize(("lab", "number"), sample(
    [(lab, number) for lab, kernels in STUDENTS.items() for number in kernels], every=15, start=9))
def test_a_step(tree: Tree, lab: str, number: str) -> None:
    kernel = (LABS / lab / "instructor" / STUDENTS[lab][number]).read_text()
    (tree.path / "labs" / lab / "kernel.cu").write_text(kernel)
    tree.write("broken.cu", re.sub(r" *__syncthreads\(\);\n", "", kernel, count=1))
    tree.make(f"LAB=labs/{lab}", lab, f"{lab}-check", "BACKEND=cpu", *UNSPACED)  # as the step before leaves them
    for command in to_tick_off(steps(lab)[number]):
        line = re.sub(r"\bmake\b", f"make LAB=labs/{lab}", command.line)
        done = finished(["sh", "-c", line], tree.path, {"BACKEND": "cpu"})
        said = " ".join(done.stdout.split())
        assert command.says and [word for word in command.says if word not in said] == [], done


@pytest.mark.parametrize("lab", STUDENTS)
def test_the_last_step_is_to_grade_and_points_are_those_of_the_cases(lab: str) -> None:
    *others, last = steps(lab)
    assert [*others] == [*STUDENTS[lab]] and int(last) == len(others) + 1
    public, hidden = (sum(suite.worth for suite in load_suites(described(f"labs/{lab}"), which) if suite.hidden == own)
                      for which, own in (("public", False), ("all", True)))
    text = steps(lab)[last]
    assert f"`make grade` says `score: {public:g} of {public:g}`" in text
    assert f"| **sum** | **{public:g}** | **{hidden:g}** |" in text
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
