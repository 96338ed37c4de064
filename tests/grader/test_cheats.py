"""instructor/cheats: every known way to cheat, graded as a teaching assistant would, gets no point
and is named for what it tried. One that earns some points honestly has the criterion that it does
not get behind `loses:`. Those whose heads say `fails: speed` are right, and only pretend to
be fast: they keep what they earn on the CPU, and get no point for speed on a GPU."""

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY, RUN_SECONDS, Tree, clean_environment, first_of_each, missing

from grader import options
from grader.build.parts import Parts, trusted_parts
from grader.errors import MachineFault
from grader.grade import Grading
from grader.intake.submission import read_submission
from grader.record.model import Record

CHEATS = sorted((REPOSITORY / "instructor" / "cheats").glob("*.cu"))
"""21 to 29 cheat a clock. Submissions that are no plain text are in test_intake.py."""


def head(path: Path) -> dict[str, str]:
    """named:, fails: and loses: of the comment at its top."""
    comment = path.read_text(encoding="utf-8").split("*/")[0]
    found = re.findall(r"\* (named|fails|loses): +((?:[^\n]|\n \* {10})*)", comment)
    return {key: " ".join(value.replace("\n *", " ").split()) for key, value in found}


def fails_speed(path: Path) -> bool:
    return head(path).get("fails") == "speed"


def gets_nothing(path: Path) -> bool:
    return "loses" not in head(path)


def marked_line(path: Path) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((i for i, line in enumerate(lines, 1) if "<- here" in line), 0)


@pytest.fixture
def parts() -> Parts:
    return trusted_parts()


def grade(path: Path, parts: Parts, results: Path, suite: str) -> Record:
    """As `python -m grader` does it, in this process; or the test is skipped."""
    asked = options.check({"suite": suite, "results": str(results)})
    try:
        box = asked.sandbox(parts.jail)
    except MachineFault as fault:  # uids alone do not protect this checkout, which others can read
        missing("a sandbox", str(fault))
    record = Grading(read_submission(path), asked.suites, secrets.randbits(options.SEED_BITS),
                     box, parts, asked.jobs).run()
    assert record.complete
    return record


# No other test is about stores to what a function returns with.
ALSO_BY_DAY = ("42_return_address",)


def one_of_each_way(chosen: Callable[[Path], bool],
                    way: Callable[[Path], str] = lambda path: path.stem[:2]) -> pytest.MarkDecorator:
    """The chosen ones: all in `make test-all` and in `make cases`; in `make test` the first of every second
    number, or, of more than ten numbers, of every fourth; and ALSO_BY_DAY."""
    all_of_them = [path for path in CHEATS if chosen(path)]
    paths = first_of_each(all_of_them, way, 4 if len({*map(way, all_of_them)}) > 10 else 2)
    paths = [pytest.param(*each.values) if each.values[0].stem in ALSO_BY_DAY else each for each in paths]
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


@one_of_each_way(gets_nothing)
def test_cheats_get_nothing_and_are_named(path: Path, parts: Parts, tmp_path: Path,
                                          pytestconfig: pytest.Config) -> None:
    """In `make test` on the public cases, in `make test-all` on all."""
    suite, points = ("public", 40) if pytestconfig.option.markexpr == "not slow" else ("all", 100)
    gets_nothing_and_is_named(path, grade(path, parts, tmp_path, suite), points)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs under other uids")
@pytest.mark.parametrize("path", [path for path in CHEATS
                                  if path.stem[:2] in ("17", "33", "36", "37", "38", "39", "40", "41")],
                         ids=lambda path: path.stem)
def test_without_namespaces_they_get_no_more(path: Path, tree: Tree, tmp_path: Path) -> None:
    """In a checkout whose private folders only their owner may read: uids alone protect no others."""
    for private in ("testcases/hidden", "instructor", "labs"):
        subprocess.run(["chmod", "-R", "go=", tree.path / private], check=True)
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "grader", "--submission", path, "--results", tmp_path,
         "--name", "cheat", "--suite", "all", "--protection", "uid"],
        cwd=tree.path, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", timeout=3 * RUN_SECONDS, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    written = (tmp_path / "cheat" / "result.json").read_bytes()
    record = Record.model_validate_json(written)
    if gets_nothing(path):
        gets_nothing_and_is_named(path, record, 100)
    else:
        loses_what_it_did_not_earn(path, record)


def gets_nothing_and_is_named(path: Path, record: Record, points: float) -> None:
    assert record.score == 0 and record.max_score == points
    assert all(test.score == 0 for test in record.tests)

    tried, line = (record.refusal.tried, record.refusal.line) if record.refusal else ("", 0)
    said = " / ".join([tried, record.build.message, *(test.reason for test in record.tests[:1])])
    assert any(words.strip() in said for words in head(path)["named"].split("|")), said
    if line and marked_line(path) and "into C" not in said:
        assert abs(line - marked_line(path)) <= 1, record.refusal


@one_of_each_way(lambda path: not gets_nothing(path) and not fails_speed(path))
def test_cheats_lose_what_they_did_not_earn(path: Path, parts: Parts, tmp_path: Path) -> None:
    loses_what_it_did_not_earn(path, grade(path, parts, tmp_path, "public"))


def loses_what_it_did_not_earn(path: Path, record: Record) -> None:
    """In every case."""
    criteria = [each for test in record.tests for each in test.criteria if each.name == head(path)["loses"]]
    assert len(criteria) > 1 and not any(each.passed for each in criteria)
    assert not any(mark.score for mark in record.marks if mark.criterion == head(path)["loses"])
    assert all(head(path)["named"] in each.reason for each in criteria)


@one_of_each_way(fails_speed, lambda path: head(path)["loses"])
def test_cheats_of_the_clock_get_nothing_more_without_one(path: Path, parts: Parts, tmp_path: Path) -> None:
    """What they earn honestly is theirs; and where no GPU is, nobody gets points for speed."""
    record = grade(path, parts, tmp_path, "public")
    assert record.refusal is None and record.max_score == 40 and record.score < 40
    lost = {each.name for test in record.tests for each in test.criteria if not each.passed}
    assert lost == {head(path)["loses"]}
    assert {timing.state for timing in record.performance} == {"not-timed"}
    assert sum(timing.max_score for timing in record.performance) == 0


ONE_SHAPE = """title = "One of those that are shipped, with points for whatever is fast"
[[performance]]
name = "fast"
m = 1024
k = 1024
n = 1024
points = 4
none = 0.3
full = 0.9
"""


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("path", [path for path in CHEATS if 21 <= int(path.stem[:2]) <= 29],
                         ids=lambda path: path.stem)
def test_cheats_of_the_clock_get_nothing_for_speed(path: Path, tmp_path: Path) -> None:
    suite = tmp_path / "speed.toml"
    suite.write_text(ONE_SHAPE)
    record = grade(path, trusted_parts("cuda"), tmp_path, str(suite))
    timings = record.performance
    assert timings and all(timing.score == 0 for timing in timings), timings
    assert sum(timing.max_score for timing in timings) > 0
    if not fails_speed(path):
        assert record.score == 0
    tried = record.refusal.tried if record.refusal else ""
    said = " / ".join([tried, *(timing.reason for timing in timings)])
    assert any(words.strip() in said for words in head(path)["named"].split("|")), said
