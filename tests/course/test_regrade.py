"""What a change of the cases would do is shown before it is taken, and taken as a whole."""

import csv
import errno
import io
import json
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fake_class import Class, interrupt, json_of, make_project, wait_for
from course import __main__ as program
from course import regrade
from course.jobs import results
from course.jobs.results import Results
from course.model import Attempt, HandIn, Standing, Student
from course.settings import read_settings
from course.errors import MachineFault
from course.files import write
from grades import Case, make_test
from records import make_record


class Course(Class):
    """With cases of its own, which change."""

    def cases(self, **points: int) -> None:
        path = self.folder / "own.toml"
        path.write_text(json.dumps(points))
        self.suite = str(path)

    def regrade(self, *words: str) -> Any:
        return self.run(*words, what="regrade")

    def changes(self) -> list[dict[str, str]]:
        with open(self.results / "changes.csv", newline="") as file:
            return list(csv.DictReader(file))

    def records(self, beside: str = "") -> dict[str, bytes]:
        """`beside`: regrade/, for those that are not taken yet."""
        return {path.parts[-3]: path.read_bytes() for path in self.results.glob(f"{beside}records/*/*/result.json")}

    def history(self) -> dict[str, list[bytes]]:
        return {path.name: [each.read_bytes() for each in path.glob("*/history/*.json")]
                for path in (self.results / "records").iterdir()}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """alice has all points, bob loses those of `edge`, eve half of those of `small`."""
    project = make_project(tmp_path_factory.getbasetemp())
    made = Course(project, tmp_path_factory.mktemp("course") / "the class")
    made.cases(small=10, edge=10)
    made.add("alice", "# all")
    made.add("bob", "loses edge 1 the last column is missing")
    made.add("eve", "loses small 0.5 C is transposed")
    assert made.run().returncode == 0
    assert made.points() == {"alice": "20", "bob": "10", "eve": "15"}
    shutil.copytree(made.folder, made.folder.with_name("as it was graded"))
    return made


@pytest.fixture
def course(graded: Course) -> Iterator[Course]:
    """As it was graded, in the same place, and with the same cases."""
    shutil.rmtree(graded.folder)
    shutil.copytree(graded.folder.with_name("as it was graded"), graded.folder)
    with graded:
        yield graded


def state_of(course: Course) -> Any:
    """All that a regrade must leave alone until it is accepted."""
    kept = ("gradebook.csv", "attempts.csv", "class.md", "class.html")
    return course.records(), [(course.results / name).read_bytes() for name in kept]


def test_a_changed_case(course: Course) -> None:
    """Who gains, who loses, on which case and why; then all of it is taken, and the old is kept."""
    before, old = state_of(course), course.records()
    course.cases(small=10, edge=4, large=5)
    course.add("alice late", "loses large 1 it hangs")  # handed in since
    ended = course.regrade()
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("nothing was replaced; `make regrade CLASS=... ACCEPT=1` takes") == 1
    assert "4 students: fewer points for 2, more for 2" in ended.stdout
    assert "alice: 20 -> 19 (-1)" in ended.stdout and "bob: 10 -> 15 (+5)" in ended.stdout
    assert state_of(course) == before
    assert [row for row in course.changes() if row["student"].startswith("alice")] == [
        dict(student="alice", before="20", after="19", change="-1", case="own/edge",
             case_before="10", case_after="4", why="it is worth 4, not 10 points"),
        dict(student="alice", before="20", after="19", change="-1", case="own/large",
             case_before="", case_after="5", why="a new case: kept"),
        dict(student="alice late", before="", after="14", change="14", case="", case_before="",
             case_after="", why="")]
    assert "cases that changed for most students: own/large (3), own/edge (2)" in ended.stdout

    begun = sum(course.counted("begun").values())
    ended = course.regrade("--accept")
    assert ended.returncode == 0, ended.stderr
    assert sum(course.counted("begun").values()) == begun, "what was graded beside is taken"
    assert "nothing was replaced" not in ended.stdout
    assert course.points() == {"alice": "19", "alice late": "14", "bob": "15", "eve": "14"}
    assert course.history() == {name: [each] for name, each in old.items()} | {"alice late": []}
    assert not (course.results / "regrade").exists() and len(course.changes()) > 3
    assert "4 submissions graded already" in course.run().stdout


KEPT, LOST = make_test("edge", 10, 10), make_test("edge", 0, 10)


def standing(case: Case | None, attempt: int = 1) -> Standing:
    record = make_record([case] if case else [])
    counted = Attempt(Student("Zoe", "zoe"), HandIn((), "x"), attempt, "", None, record)
    return Standing(counted.student, "graded", (counted,), counted, points=record.score)


@pytest.mark.parametrize("before, after, why", [
    (standing(KEPT), standing(KEPT), []),
    (standing(KEPT), standing(None), ["the case is gone"]),
    (standing(None), standing(LOST), ["a new case: race on shared memory"]),
    (standing(None), standing(KEPT), ["a new case: kept"]),
    (standing(KEPT), standing(make_test("edge", 4, 4)), ["it is worth 4, not 10 points"]),
    (standing(KEPT), standing(LOST), ["race on shared memory"]),
    (standing(LOST), standing(KEPT), ["no longer: race on shared memory"]),
    (standing(KEPT), standing(KEPT, attempt=2), ["attempt 2 counts, not 1"]),
])
def test_why_points_are_others(before: Standing, after: Standing, why: list[str]) -> None:
    found = regrade.changes([before], [after])
    assert [case.why for each in found for case in each.cases] == why
    console = Console(width=80, file=io.StringIO())
    with console.capture() as shown:
        console.print(regrade.show(found, 1, console))
    assert all(f"{line}\n" in shown.get() for line in why)


def test_nothing_changed(course: Course) -> None:
    """Nothing is graded, and ACCEPT=1 leaves all as it is."""
    before, begun = state_of(course), course.counted("begun")
    for words in ((), ("--accept",)):
        ended = course.regrade(*words)
        assert ended.returncode == 0, ended.stderr
        assert "3 students: fewer points for 0, more for 0" in ended.stdout
        assert course.changes() == [] and course.counted("begun") == begun
        assert state_of(course) == before and not any(course.history().values())


def test_another_seed_changes_what_it_changes(course: Course) -> None:
    """A part of each result's key, and so graded again, although no points change."""
    ended = course.regrade("--seed", "5", "--accept")
    assert ended.returncode == 0 and "fewer points for 0, more for 0" in ended.stdout
    assert {json_of(path)["seed"] for path in course.results.glob("records/*/*/result.json")} == {5}
    assert all(map(len, course.history().values()))


def test_what_is_refused_before_the_first_grade(course: Course, tmp_path: Path) -> None:
    """Nothing to compare with; a mistake in a gradebook."""
    begun = course.counted("begun")
    course.cases(small=10, edge=4)
    ended = course.regrade("--accept", f"--results={tmp_path}/new")
    assert ended.returncode == 2 and ended.stderr == (
        f"grade-class: {tmp_path}/new: nothing is graded yet; `make grade-class` does that\n")
    course.settings('canvas = "own.toml"\n')
    ended = course.regrade("--accept")
    assert ended.returncode == 2 and "own.toml, line 1" in ended.stderr
    assert course.counted("begun") == begun


def test_a_fault_of_the_machine(course: Course) -> None:
    """Whoever has no new result keeps the old one, and so does everybody: half a regrade is none."""
    course.add("mia", "fault 0")
    assert course.run().returncode == 0
    before = state_of(course)
    course.cases(small=10, edge=4)
    course.add("mia", "fault 7")
    for accept in ((), ("--accept",)):
        ended = course.regrade(*accept)
        assert ended.returncode == 3
        assert "no grade: mia: the machine's fault: no sandbox works here" in ended.stderr
        assert "1 student without a grade" in ended.stderr
        assert "3 students: fewer points for 2, more for 0" in ended.stdout
        assert "nothing was replaced\n" in ended.stdout and "ACCEPT=1" not in ended.stdout
        assert state_of(course) == before
    assert course.regrade("--accept").returncode == 0
    assert course.points() == {"alice": "14", "bob": "10", "eve": "9", "mia": "14"}


@pytest.mark.parametrize("number, accept", [
    (signal.SIGINT, ("--accept",)), (signal.SIGKILL, ("--accept",)),
    pytest.param(signal.SIGTERM, ("--accept",), marks=pytest.mark.slow),
    pytest.param(signal.SIGINT, (), marks=pytest.mark.slow)])
def test_interrupted(course: Course, number: signal.Signals, accept: tuple[str, ...]) -> None:
    """Nothing is replaced; the same command goes on where it was."""
    for name in "xyz":
        course.add(name, "sleep 0.5", f"# of {name}")
    assert course.run().returncode == 0
    before, begun = state_of(course), sum(course.counted("graded").values())
    course.cases(small=10, edge=4)
    with course.start("--jobs", "1", *accept, what="regrade") as process:
        wait_for(lambda: course.counted("begun").get("x") == 2)
        status = interrupt(process, number)
    assert status == (-number if number == signal.SIGKILL else 130)
    assert state_of(course) == before
    if number == signal.SIGKILL:  # what it had begun goes on without it, and counts
        wait_for(lambda: course.counted("graded").get("x") == 2)
    else:
        wait_for(lambda: not list(course.temporary.glob("*/run-*/*")))
    graded = course.counted("graded")
    ended = course.regrade("--accept")
    assert ended.returncode == 0, ended.stderr
    again = course.counted("graded")
    assert {name: again[name] - graded[name] for name in "yz"} == {"y": 1, "z": 1}
    assert sum(again.values()) == begun + 6, "each was graded again, once"
    assert course.points()["x"] == "14"


Write = Callable[[Path, bytes], None]


def stopping(write: Write, after: int, error: BaseException) -> Write:
    """As `write`, and fails at the one after so many."""
    left = [after]

    def stop(path: Path, content: bytes) -> None:
        if left[0] == 0:
            raise error
        left[0] -= 1
        write(path, content)

    return stop


def test_stopped_while_results_are_replaced(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each write, and at the end: every result is whole, the old one or the new one; and the next run does
    what is missing, once."""
    old = course.records()
    course.cases(small=10, edge=4)
    assert course.regrade().returncode == 0
    settings = read_settings(course.folder)
    present = program.gather(settings, Results(settings.results))
    again = program.replace(present, results=Results(settings.results / program.REGRADE))
    new = course.records("regrade/")
    assert old.keys() == new.keys() and not set(old.values()) & set(new.values())
    errors = (OSError(errno.ENOSPC, "No space left on device"), MachineFault), (KeyboardInterrupt(), KeyboardInterrupt)
    stops, removing = 0, list[object]()

    def remove(*words: object, **options: object) -> None:
        removing.append(words)
        raise KeyboardInterrupt

    while not removing:
        error, raised = errors[stops % 2]
        stops += 1
        with monkeypatch.context() as broken:
            stop = stopping(write, 1, error)
            for module in (program, results):
                broken.setattr(module, "write", stop)
            broken.setattr(program.shutil, "rmtree", remove)
            with pytest.raises((raised, KeyboardInterrupt)):
                program.accept(present, again)
        assert all(each in (old[name], new[name]) for name, each in course.records().items())
    assert stops > 2 * len(old), "an old one goes to history/, then a new one in its place"
    ended = course.regrade("--accept")
    assert ended.returncode == 0, ended.stderr
    assert course.records() == new and set(course.counted("begun").values()) == {2}
    assert course.history() == {name: [each] for name, each in old.items()}
