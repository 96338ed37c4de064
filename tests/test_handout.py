"""handout.md keeps its word: each step's commands pass on a kernel that has come so far, and say what
the step says; the trace it shows is a run's; its points are those of the test cases.

`make grade` is not run here: `make release` grades a solution, and refuses less than all points."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from conftest import REPOSITORY, UNSPACED, Tree, finished

from grader.build.parts import described
from grader.cases.read import load_suites
from grader.errors import BadInput
from instructor.release import tile

TEXT = (REPOSITORY / "handout.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"(make|\./\w+(?:-check)?|sed)( |$)")


# ---- what the handout says -----------------------------------------------------------------------


@dataclass
class Command:
    line: str
    says: list[str] = field(default_factory=list)


def sections(text: str = TEXT) -> dict[str, str]:
    """By the number of the step, or by the title."""
    parts = re.split(r"^## (?:Step (\d)[^\n]*|([^\n]*))\n", text, flags=re.MULTILINE)[1:]
    return {parts[i] or parts[i + 1]: parts[i + 2] for i in range(0, len(parts), 3)}


def to_tick_off(section: str) -> Iterator[Command]:
    """- [ ] `command` says `words`, and `words`; `command` says `words`."""
    for item in re.findall(r"^- \[ \] .*\n(?:  .*\n)*", section, re.MULTILINE):
        command = None
        for span in re.findall(r"`([^`]+)`", item):
            span = " ".join(span.split())
            if not COMMAND.match(span):
                assert command, item
                command.says.append(span)
                continue
            if command:
                yield command
            command = Command(span)
        assert command, item
        yield command


def steps(handout: str) -> dict[str, list[Command]]:
    return {number: [c for c in to_tick_off(text) if not c.line.startswith("make grade")]
            for number, text in sections(handout).items() if number.isdigit()}


# ---- kernels that have come so far ---------------------------------------------------------------


def without(text: str, *patterns: str) -> str:
    for pattern in patterns:
        text, found = re.subn(pattern, "", text)
        assert found == 1, pattern
    return text


NAIVE, TILED, REGISTERS = ((REPOSITORY / "instructor" / name).read_text(encoding="utf-8") for name in (
    "solutions/1_naive.cu", "solutions/2_tiled.cu", "faulty/styles/register_tile.cu"))
UNGUARDED = without(TILED, r"row < m && a_col < k \? (?=A)", r"(?<=a_col\]) : 0\.0f",
                    r"b_row < k && col < n \? (?=B)", r"(?<=\+ col\]) : 0\.0f",
                    r"if \(row < m && col < n\)(?=\s+C)")
BROKEN = without(TILED, r"__syncthreads\(\);(?= /\* both)")

# The kernel, the steps that it passes, and one that it does not.
STUDENTS = {
    "naive": (NAIVE, "12", "3"),
    "tiles": (UNGUARDED, "3", "4"),
    "guards": (TILED, "45", ""),
    "registers": (REGISTERS, "7", ""),
}


# ---- the tests -----------------------------------------------------------------------------------


@pytest.fixture
def copy(tree: Tree) -> Iterator[Tree]:
    """With the starter as kernel.cu again afterwards."""
    starter = (tree.path / "kernel.cu").read_text()
    tree.write("broken.cu", BROKEN)
    yield tree
    tree.write("kernel.cu", starter)
    for name in ("two.cu", "broken.cu"):
        (tree.path / name).unlink(missing_ok=True)


def run(tree: Tree, command: Command) -> str:
    """What is wrong with what it did, or nothing; its status is 1 where it is to name a mistake."""
    done = finished(["bash", "-c", command.line], tree.path, {"BACKEND": "cpu"}, stderr=subprocess.STDOUT)
    output = " ".join(done.stdout.split())
    missing = [words for words in command.says if words not in output]
    finds = any(words.startswith("race") for words in command.says)
    return "" if not missing and (done.returncode != 0) == finds else (
        f"{command.line}: exit {done.returncode}, does not say {missing}\n{done.stdout}")


@pytest.mark.parametrize(("kernel", "passes", "fails", "size"), [
    pytest.param(*student, size, id=f"{name}, tiles of {size}", marks=[pytest.mark.slow] if slow else [])
    for name, student in STUDENTS.items()
    for size, slow in ((16, name != "naive"), (8, True), (32, True))
    if size == 16 or name in ("tiles", "guards")])
def test_the_steps(copy: Tree, kernel: str, passes: str, fails: str, size: int) -> None:
    """Also those of `make release TILE=32`."""
    copy.write("kernel.cu", tile.starter_for(kernel, size) if size != 16 else kernel)
    steps_of = steps(tile.handout_for(TEXT, size))
    for step in passes:
        assert steps_of[step]
        assert [wrong for command in steps_of[step] if (wrong := run(copy, command))] == []
    assert not fails or any(run(copy, command) for command in steps_of[fails])


def test_what_follows_from_the_tile() -> None:
    """Each number stands where it is looked for, and no other one is about a tile of 16."""
    assert tile.handout_for(TEXT, 16) == TEXT
    for pattern, number in tile.IN_HANDOUT:
        assert {*re.findall(pattern, TEXT)} == {str(number(16))}
    other = tile.handout_for(TEXT, 32)
    rest = other.replace("16,384   32 times fewer", "").replace("case, 16 × 16 × 16, is correct", "")
    assert len(rest) < len(other) - 45 and not re.search(r"(?i).*(?:\b16\b|sixteen).*", rest)
    assert "`make && ./sgemm 66` says `TEST PASSED 4356`" in other and "warps* of 32" in other
    starter = (REPOSITORY / "kernel.cu").read_text()
    assert tile.starter_for(starter, 32).count("TILE_SIZE 32") == starter.count("TILE_SIZE 16") == 1
    for word in ("", "0", "64", "16 ", "x"):
        with pytest.raises(BadInput, match="8, 16, 32"):
            tile.tile_in(word)


def test_the_trace_and_the_counts_are_those_of_a_run(copy: Tree) -> None:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    counts, trace = (text for language, text in fenced if not language)
    for kernel, option, shown in ((TILED.replace("TILE_SIZE 16", "TILE_SIZE 2"), "--phases", trace),
                                  (NAIVE, "--counts", counts)):
        copy.write("kernel.cu", kernel)
        copy.make("sgemm-check", *UNSPACED)
        printed = finished([copy.path / "sgemm-check", option]).stdout
        assert printed.count(shown) == 1


def test_every_command_exists(tree: Tree) -> None:
    """Also those outside of the steps: targets and variables of make, options of both programs."""
    spans = {" ".join(span.split()) for span in re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", TEXT)}
    words = [part.split() for span in spans if COMMAND.match(span) for part in span.split(" && ")]
    helps = {"./sgemm": (REPOSITORY / "engine/host/driver/options.c").read_text(),
             "./sgemm-check": (REPOSITORY / "engine/host/check/check_options.c").read_text()}
    for program, *arguments in words:
        if program == "make":
            planned = tree.make("-n", *arguments, check=False, env={"BACKEND": "cpu"})
            assert "No rule to make" not in planned.stderr, arguments
            assert "takes no" not in planned.stderr, arguments
        for option in (word for word in arguments if word.startswith("--")):
            assert f'"{option}", ' in helps[program], (program, option)


def test_points() -> None:
    """By criterion, of the public and of the hidden cases; then their sum, and those for speed."""
    table = re.findall(r"^\|[^|]+\| \**(\d+)\** \| \**(\d*)\** ?\|$", sections()["6"], re.MULTILINE)
    suites = load_suites(described(), "all")
    by_criterion = [[sum(suite.points.get(name, 0) if name != "correct" else
                         sum(case.points for case in suite.cases)
                         for suite in suites if suite.hidden == hidden) for hidden in (False, True)]
                    for name in ("correct", "memory", "tiled")]
    public, hidden = (sum(column) for column in zip(*by_criterion, strict=True))
    speed = sum(each.points for suite in suites for each in suite.performance)
    assert [[int(cell or 0) for cell in row] for row in table] == [
        *by_criterion, [public, hidden], [speed, 0]]
    assert f"score: {public:g} of {public:g}" in TEXT
    naive = public + hidden - sum(by_criterion[2])
    assert f"keeps {naive:g} of the {public + hidden:g}" in TEXT
    assert {(each.none, each.full) for suite in suites for each in suite.performance} == {(0.3, 0.9)}
    assert "none up to 0.3" in TEXT and "from 0.9 on" in TEXT
