"""A class: python -m grader.batch, with a grader that only acts as it is told."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY))  # grader is a package of the project, nowhere installed

from grader import batch  # noqa: E402
from grader.record import Build, Record, Refusal, Submission, Times, Timing  # noqa: E402

# Ends as the submission's file says: a status, and the score if there is one.
ACTOR = """
import pathlib, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
path, name = pathlib.Path(words["--submission"]), words["--name"]
kernel = path / "kernel.cu" if path.is_dir() else path
counter = pathlib.Path("calls") / name
counter.parent.mkdir(exist_ok=True)
calls = len(counter.read_text()) if counter.exists() else 0
counter.write_text("x" * (calls + 1))
outcomes = kernel.read_text().splitlines()
status, _, record = outcomes[min(calls, len(outcomes) - 1)].partition(" ")
if record:
    (pathlib.Path(words["--results"]) / name).mkdir(exist_ok=True)
    (pathlib.Path(words["--results"]) / name / "result.json").write_text(record)
print("first line\\n" + name + ": ended", file=sys.stderr)
sys.exit(int(status))
"""


def record(score: float, **changes: object) -> str:
    values: dict[str, object] = dict(
        complete=True, submission=Submission(name="x", path="x", sha256="", bytes=1, notes=[]),
        suites=[], seed=1, score=score, max_score=100, refusal=None, tests=[],
        build=Build(ok=True, message="", file=None, line=0, output=""), protection="none",
        protection_note="", backend="cpu", compiler="", started="2026-11-21T06:00:00Z", seconds=1)
    return Record(**(values | changes)).model_dump_json()  # type: ignore[arg-type]


class Class:
    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch):
        self.submissions, self.results = path / "the class", path / "results"
        self.submissions.mkdir()
        self.project = path / "project"
        (self.project / "grader").mkdir(parents=True)
        (self.project / "grader/__main__.py").write_text(ACTOR)
        monkeypatch.setattr(batch, "PROJECT", self.project)

    def add(self, name: str, *outcomes: str) -> None:
        """One line for each time that it is graded."""
        path = self.submissions / name
        if not name.endswith(".cu"):
            path.mkdir()
            path /= "kernel.cu"
        path.write_text("".join(line + "\n" for line in outcomes))

    def grade(self, *words: str) -> int:
        return batch.main(["--submissions", str(self.submissions), "--results", str(self.results),
                           *words])

    def scores(self) -> dict[str, list[str]]:
        with open(self.results / "scores.csv", newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == ["submission", "score", "max_score", "speed", "max_speed", "note"]
        self.speed = {row[0]: row[3:5] for row in rows[1:]}
        return {row[0]: [*row[1:3], row[5]] for row in rows[1:]}

    def calls(self, name: str) -> int:
        return len((self.project / "calls" / name).read_text())


def timing(state: str, score: float) -> Timing:
    times = Times(median=1e-4, minimum=1e-4, quartile_1=1e-4, quartile_3=1e-4)
    return Timing(name="s", suite="public/speed", hidden=False, title="", m=1024, k=1024, n=1024,
                  none=0.3, full=0.9, points=4, score=score, state=state, reason="", hint="",
                  max_score=0 if state == "not-timed" else 4, device="G", ratio=0.5, samples=11,
                  times=times, cublas_times=times, seconds=1)


def test_points_for_speed_have_columns_of_their_own(pupils: Class) -> None:
    """Empty where nothing was timed."""
    pupils.add("alice", f"1 {record(42.5, performance=[timing('timed', 2.5), timing('wrong', 0)])}")
    pupils.add("bob", f"1 {record(40, performance=[timing('not-timed', 0)])}")
    pupils.grade()
    assert pupils.scores() == {"alice": ["42.5", "100", ""], "bob": ["40", "100", ""]}
    assert pupils.speed == {"alice": ["2.5", "8"], "bob": ["", ""]}


@pytest.fixture
def pupils(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Class:
    return Class(tmp_path, monkeypatch)


def test_everybody_is_graded_in_order(pupils: Class, capsys: pytest.CaptureFixture[str]) -> None:
    pupils.add("zoe", f"0 {record(100)}")
    pupils.add("adam.cu", f"1 {record(33.333333)}")
    pupils.add("Jörg Ä", f"1 {record(0)}")
    (pupils.submissions / ".git").mkdir()
    (pupils.submissions / "README.md").touch()
    assert pupils.grade() == 0
    assert pupils.scores() == {"Jörg Ä": ["0", "100", ""], "adam": ["33.33", "100", ""],
                               "zoe": ["100", "100", ""]}
    assert capsys.readouterr().out.startswith("[1/3] Jörg Ä: 0 of 100 points\n")


def test_one_that_cannot_be_read_stops_nobody(pupils: Class) -> None:
    pupils.add("adam", "2")
    pupils.add("zoe", f"0 {record(100)}")
    assert pupils.grade() == 2
    assert pupils.scores() == {"adam": ["", "", "adam: ended"], "zoe": ["100", "100", ""]}
    assert pupils.calls("adam") == 1


def test_a_fault_of_the_machine_is_tried_once_more(pupils: Class) -> None:
    pupils.add("adam", "3", f"0 {record(100)}")
    assert pupils.grade() == 0
    assert pupils.scores() == {"adam": ["100", "100", ""]} and pupils.calls("adam") == 2


def test_a_fault_that_stays_is_told_and_keeps_earlier_results(pupils: Class) -> None:
    pupils.add("adam", "3", "3")
    pupils.add("bert", "2")
    earlier = pupils.results / "adam"
    earlier.mkdir(parents=True)
    (earlier / "result.json").write_text("earlier")
    assert pupils.grade() == 3
    assert pupils.calls("adam") == 2 and (earlier / "result.json").read_text() == "earlier"
    assert pupils.scores()["adam"] == ["", "", "adam: ended"]


def test_a_refusal_is_noted_and_nothing_is_a_formula(pupils: Class) -> None:
    refused = Refusal(tried='=HYPERLINK("x")', file=None, line=0, hint="")
    pupils.add("=SUM(A1)", f"1 {record(0, refusal=refused)}")
    pupils.grade()
    assert pupils.scores() == {"'=SUM(A1)": ["0", "100", 'refused, 0 points: it =HYPERLINK("x")']}


def test_options_are_passed_on(pupils: Class) -> None:
    pupils.add("adam", f"0 {record(100)}")
    (pupils.project / "grader/__main__.py").write_text(
        ACTOR.replace("words =", "open('words', 'w').write(' '.join(sys.argv))\nwords ="))
    pupils.grade("--suite", "all", "--seed", "7")
    assert (pupils.project / "words").read_text().endswith("--suite all --seed 7")


@pytest.mark.parametrize("names, says", [
    ([], "holds no submissions"), (["a.cu", "a"], "two submissions are called a"),
])  # fmt: skip
def test_a_directory_that_is_no_class_is_refused(
    pupils: Class, names: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in names:
        pupils.add(name, f"0 {record(100)}")
    assert pupils.grade() == 2
    assert says in capsys.readouterr().err


def test_a_directory_that_is_not_there_is_refused(
    pupils: Class, capsys: pytest.CaptureFixture[str]
) -> None:
    pupils.submissions.rmdir()
    assert pupils.grade() == 2
    assert "No such file" in capsys.readouterr().err
