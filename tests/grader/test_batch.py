"""A class: python -m grader.batch, with a grader whose outcome is what the submission says."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from grader_fake import BOX, PARTS

from grader import batch, options
from grader.errors import MachineFault
from grader.record import Build, Record, Refusal, Submission, Times, Timing

# Ends as the submission's file says: a status, and the score if there is one.
ACTOR = """
import pathlib, sys
words = dict(word.split("=", 1) for word in sys.argv[1:])
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
print("first line\\ngrade: " + name + ": ended", file=sys.stderr)
sys.exit(int(status))
"""


def record(score: float, **changes: object) -> str:
    values: dict[str, object] = dict(
        complete=True, submission=Submission(name="x", path="x", sha256="", bytes=1, notes=[]),
        suites=["public/basics", "public/speed"], seed=1, score=score, max_score=100, tests=[],
        refusal=None,
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
        monkeypatch.setattr(batch, "trusted_parts", lambda backend: PARTS)
        monkeypatch.setattr(options, "choose_sandbox", lambda *arguments: BOX)

    def add(self, name: str, *outcomes: str) -> None:
        """One line for each time that it is graded."""
        path = self.submissions / name
        if not name.endswith(".cu"):
            path.mkdir()
            path /= "kernel.cu"
        text = "".join(line + "\n" for line in outcomes)
        path.write_text(text.replace('"path":"x"', f'"path":{json.dumps(str(path))}'))

    def grade(self, *words: str, only: str = "") -> int:
        return batch.main(["--submissions", str(self.submissions / only), "--results",
                           str(self.results), *words])

    def result(self, name: str) -> bytes:
        return (self.results / name / "result.json").read_bytes()

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
    assert capsys.readouterr().out.startswith(
        "ignored: README.md\n[1/3] Jörg Ä: 0 of 100 points\n")


@pytest.mark.parametrize("outcomes, status, row", [
    (["2"], 2, ["", "", "adam: ended"]), (["3", "3"], 3, ["", "", "adam: ended"]),
    (["3", f"0 {record(100)}"], 0, ["100", "100", ""]),
])  # fmt: skip
def test_one_submission_does_not_stop_the_others(
    pupils: Class, outcomes: list[str], status: int, row: list[str]
) -> None:
    """A fault of the machine is tried once more, a student's never."""
    pupils.add("adam", *outcomes)
    pupils.add("zoe", f"0 {record(100)}")
    assert pupils.grade() == status
    assert pupils.scores() == {"adam": row, "zoe": ["100", "100", ""]}
    assert pupils.calls("adam") == len(outcomes)


def test_a_fault_keeps_earlier_results(pupils: Class) -> None:
    pupils.add("adam", "3")
    adam = pupils.submissions / "adam" / "kernel.cu"
    earlier = record(7, submission=Submission(name="adam", path=str(adam), sha256="", bytes=1,
                                              notes=[]))
    (pupils.results / "adam").mkdir(parents=True)
    (pupils.results / "adam" / "result.json").write_text(earlier)
    assert pupils.grade() == 3 and pupils.result("adam") == earlier.encode()
    assert pupils.scores()["adam"] == ["7", "100", "points of an earlier run; now: adam: ended"]


def test_a_refusal_is_noted_and_nothing_is_a_formula(pupils: Class) -> None:
    refused = Refusal(tried='=HYPERLINK("x")', file=None, line=0, hint="")
    pupils.add("=SUM(A1)", f"1 {record(0, refusal=refused)}")
    pupils.grade()
    assert pupils.scores() == {"'=SUM(A1)": ["0", "100", 'refused, 0 points: it =HYPERLINK("x")']}


def graded(pupils: Class, *names: str) -> dict[str, list[str]]:
    """Each with points of its own, by its row."""
    for i, name in enumerate(names):
        pupils.add(name, f"1 {record(i)}")
    assert pupils.grade() == 0
    return pupils.scores()


@pytest.mark.parametrize("names", [
    ("alice", "alice "), ("alice ", "alice  "), ("alice", "alice.cu"), ("al\x01ice", "al\x02ice"),
    ("scores.csv", "scores.csv.new", "Scores.CSV"), ("x" * 255, "x" * 254), ("\x1b[2J", "\u202e"),
    ("-x", "--help", "@pytest.ini"), ("=x", "'=x"), ("a\nb", "a_b"), ("result.json", "a,b\"c"),
    ("é" * 127, "é" * 126), ("x" * 80, "x" * 80 + " "), ("alice", "alice-ffffffff", "alice  "),
])  # fmt: skip
def test_no_name_ends_a_class(pupils: Class, names: tuple[str, ...]) -> None:
    """Nor does one take the row or the place of another."""
    rows = graded(pupils, *names)
    assert sorted(row[0] for row in rows.values()) == [str(i) for i in range(len(names))]
    assert {path.name for path in pupils.results.iterdir()} == {
        batch.name_in(name) for name in rows} | {"scores.csv"}
    assert all(len(name.encode()) <= 81 and name.isprintable() for name in rows)


def test_who_is_called_just_that_keeps_the_name(pupils: Class) -> None:
    rows = graded(pupils, "alice ", "alice")
    assert rows.pop("alice") == ["1", "100", ""]
    [(name, row)] = rows.items()
    assert name.startswith("alice-") and row == ["0", "100", "of alice"]
    assert pupils.grade(only="alice ") == 0
    assert pupils.scores()["alice"] == ["1", "100", ""] and len(pupils.scores()) == 2


def test_a_result_that_cannot_be_read_is_a_row(pupils: Class) -> None:
    pupils.add("adam", "0 nonsense")
    pupils.add("bea", f"1 {record(2)}")
    assert pupils.grade() == 3
    rows = pupils.scores()
    assert "not a result of this grader" in rows["adam"][2] and rows["bea"][0] == "2"


def test_a_note_is_one_short_line(pupils: Class) -> None:
    build = Build(ok=False, message="x\n\0" * 100_000, file=None, line=0, output="")
    for name in ("adam", "bea"):
        pupils.add(name, f"1 {record(0, build=build)}")
    assert pupils.grade() == 0
    assert all(len(row[2]) < 600 for row in pupils.scores().values())


def test_options_are_passed_on(pupils: Class) -> None:
    pupils.add("adam", f"0 {record(100)}")
    (pupils.project / "grader/__main__.py").write_text(
        ACTOR.replace("words =", "open('words', 'w').write(' '.join(sys.argv))\nwords ="))
    pupils.grade("--suite", "public", "--seed", "7", "--jobs", "2", "--protection", "none")
    words = (pupils.project / "words").read_text()
    assert words.endswith("--suite=public --seed=7 --protection=none --backend=cpu --jobs=2")


@pytest.mark.parametrize("words", [
    ["--seed", "x"], ["--jobs", "banana"], ["--jobs", "0"], ["--protection", "bogus"],
    ["--backend", "gpu"], ["--suite", "none.toml"], ["--results", ""], ["--submissions", ""],
    ["--protection", "bogus", "--jobs", "banana", "--seed", "-1"], ["--seed", ""],
])  # fmt: skip
def test_options_are_looked_at_before_the_first_student(
    pupils: Class, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every mistake has a line."""
    pupils.add("adam", f"0 {record(100)}")
    assert pupils.grade(*words) == 2
    said = capsys.readouterr()
    assert said.out == "" and not pupils.results.exists()
    assert len(said.err.splitlines()) == len(words) / 2
    assert all(word in said.err for word in words[::2] if word != "--suite")
    assert not (pupils.project / "calls").exists()


def test_the_machine_is_looked_at_before_the_first_student(
    pupils: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_sandbox(*arguments: object) -> None:
        raise MachineFault("no sandbox works here")

    pupils.add("adam", f"0 {record(100)}")
    monkeypatch.setattr(options, "choose_sandbox", no_sandbox)
    assert pupils.grade() == 3
    assert capsys.readouterr().err == "no sandbox works here\n"
    assert not (pupils.project / "calls").exists()


# ---- nothing that was graded before is lost, or mixed --------------------------------------------


def test_one_student_alone_changes_nobody_elses_row(pupils: Class) -> None:
    pupils.add("adam", f"0 {record(100)}", f"1 {record(50)}")
    pupils.add("=zoe", "2")
    pupils.grade()
    zoe = pupils.scores()["'=zoe"]
    pupils.grade(only="adam")
    assert pupils.scores() == {"adam": ["50", "100", ""], "'=zoe": zoe}


def test_a_second_part_of_the_class_is_added(pupils: Class) -> None:
    pupils.add("adam.cu", f"0 {record(100)}")
    pupils.grade()
    (pupils.submissions / "adam.cu").unlink()
    pupils.add("bert", f"1 {record(7)}")
    pupils.grade()
    assert pupils.scores() == {"adam": ["100", "100", ""], "bert": ["7", "100", ""]}


@pytest.mark.parametrize("earlier, says", [
    (record(100, suites=["public/basics", "hidden/shapes"]), "graded on public/basics, hidden/sh"),
    (record(100, backend="cuda"), "(cuda), not on public/basics, public/speed (cpu)"),
    (record(100).replace('"path":"x"', '"path":"/other/class/adam/kernel.cu"'),
     "the result of another submission, /other/class/adam/kernel.cu"),
    ("{", "not a result of this grader"),
])  # fmt: skip
@pytest.mark.parametrize("whose", ["adam", "bert"])
def test_other_results_are_neither_replaced_nor_mixed_with(
    pupils: Class, earlier: str, says: str, whose: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bert is graded no more, but is in scores.csv."""
    if whose == "bert" and "another submission" in says:
        return
    pupils.add("adam", f"0 {record(100)}")
    if whose == "bert":
        pupils.add("bert", f"1 {record(7)}")
    pupils.grade()
    before = (pupils.results / "scores.csv").read_bytes()
    (pupils.results / whose / "result.json").write_text(earlier)
    assert pupils.grade(only="adam") == 2
    assert says in capsys.readouterr().err
    assert pupils.result(whose) == earlier.encode()
    assert (pupils.results / "scores.csv").read_bytes() == before
    assert pupils.calls("adam") == 1


def test_a_single_grade_of_other_cases_is_kept(pupils: Class) -> None:
    """`make grade SUBMISSION=adam SUITE=all`, and then the class on the public cases."""
    pupils.add("adam", f"0 {record(100)}")
    (pupils.results / "adam").mkdir(parents=True)
    (pupils.results / "adam" / "result.json").write_text(record(1, suites=["hidden/shapes"]))
    (pupils.results / "kernel").mkdir()
    (pupils.results / "kernel" / "result.json").write_text(record(1, suites=["hidden/shapes"]))
    assert pupils.grade() == 2
    assert not (pupils.results / "scores.csv").exists()
    (pupils.results / "adam" / "result.json").unlink()
    assert pupils.grade() == 0, "nobody of this class is called kernel"


@pytest.mark.parametrize("text", ["name,points\nadam,3\n", "\0", "\xff", "submission,score\n"])
def test_a_table_that_was_changed_is_not_replaced(
    pupils: Class, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pupils.add("adam", f"0 {record(100)}")
    pupils.results.mkdir()
    (pupils.results / "scores.csv").write_bytes(text.encode("latin-1"))
    assert pupils.grade() == 2
    assert "was changed, or not made here" in capsys.readouterr().err
    assert (pupils.results / "scores.csv").read_bytes() == text.encode("latin-1")


def test_an_interrupt_keeps_every_row(
    pupils: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of those whose turn did not come are the ones of before."""
    pupils.add("adam", f"0 {record(100)}", f"0 {record(90)}")
    pupils.add("bert", f"0 {record(80)}", f"0 {record(70)}")
    pupils.grade()
    real = batch.grade

    def interrupted_at_bert(name: str, *arguments: Any) -> tuple[int, batch.Row]:
        if name == "bert":
            raise KeyboardInterrupt
        return real(name, *arguments)

    monkeypatch.setattr(batch, "grade", interrupted_at_bert)
    assert pupils.grade() == 130
    assert capsys.readouterr().err == (
        f"interrupted; what was graded so far is in {pupils.results}/scores.csv\n")
    assert pupils.scores() == {"adam": ["90", "100", ""], "bert": ["80", "100", ""]}
