"""labs/scan/handout.md keeps its word: each step's commands pass on a kernel that has come so far, and say
what the step says; what it shows of Hillis and Steele's steps, and of the tree, is what they compute.

`make grade` is not run here."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import BUILD_SECONDS, REPOSITORY, Tree, clean_environment, sample

LAB = "labs/scan"
FOLDER = REPOSITORY / LAB
TEXT = (FOLDER / "handout.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"(make|\./scan|\./scan-check)( |$)")
NAIVE, BUFFERS, TREE = (FOLDER / "instructor" / name for name in (
    "solutions/1_naive.cu", "faulty/styles/two_buffers.cu", "solutions/3_work_efficient.cu"))
STUDENTS = {"1": NAIVE, "2": NAIVE, "3": BUFFERS, "4": BUFFERS, "5": TREE}


def steps() -> dict[str, str]:
    parts = re.split(r"^## (?:Step (\d)[^\n]*|[^\n]*)\n", TEXT, flags=re.MULTILINE)[1:]
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
    return Tree(tmp_path_factory.mktemp("handout of scan"), programs)


@pytest.mark.parametrize("number", sample([*STUDENTS], every=9))
def test_a_step(tree: Tree, number: str) -> None:
    commands = [*to_tick_off(steps()[number])]
    assert commands
    (tree.path / LAB / "kernel.cu").write_text(STUDENTS[number].read_text())
    for command, words in commands:
        line = re.sub(r"\bmake\b", f"make LAB={LAB}", command)
        done = subprocess.run(["sh", "-c", line], cwd=tree.path, text=True, capture_output=True,
                              env=clean_environment({"BACKEND": "cpu"}), timeout=BUILD_SECONDS,
                              stdin=subprocess.DEVNULL, check=False)
        said = " ".join(done.stdout.split())
        for word in words:
            assert word in said, f"{command}: {word!r} is not in\n{done.stdout}{done.stderr}"


def test_every_step_has_boxes() -> None:
    assert [*steps()] == ["1", "2", "3", "4", "5", "6"]


def rows(step: str) -> list[list[int]]:
    table = re.search(r"```\n(elements.*?)```", steps()[step], re.DOTALL)
    assert table
    return [[int(number) for number in re.sub(r"stride \d", "", line).split() if number.isdigit()]
            for line in table[1].splitlines()]


def test_the_steps_that_are_shown() -> None:
    sums = rows("3")[0]
    for shown, stride in zip(rows("3")[1:], (1, 2, 4), strict=True):
        sums = [each + (sums[i - stride] if i >= stride else 0) for i, each in enumerate(sums)]
        assert shown == sums


def test_the_tree_that_is_shown() -> None:
    tree, shown = rows("5")[0], iter(rows("5")[1:])
    for stride in (1, 2, 4):
        for i in range(2 * stride - 1, 8, 2 * stride):
            tree[i] += tree[i - stride]
        assert next(shown) == tree
    for stride in (2, 1):
        for i in range(2 * stride - 1, 8 - stride, 2 * stride):
            tree[i + stride] += tree[i]
        assert tree == next(shown)
    assert next(shown, None) is None
