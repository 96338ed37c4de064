"""What a change of the cases would do is shown before it is taken, and taken as a whole."""

from __future__ import annotations

import csv
import errno
import json
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import sample
from fake_class import Class, interrupt, json_of, make_project, wait_for
from course import __main__ as program
from course.jobs import results
from course.jobs.results import Results
from course.settings import read_settings
from course.errors import MachineFault
from course.files import write

@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("project") / "a project")


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

    def records(self) -> dict[str, bytes]:
        return {path.parts[-3]: path.read_bytes()
                for path in self.results.glob("records/*/*/result.json")}

    def history(self) -> dict[str, list[bytes]]:
        return {path.name: [each.read_bytes() for each in path.glob("*/history/*.json")]
                for path in (self.results / "records").iterdir()}


@pytest.fixture(scope="module")
def graded(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """alice has all points, bob loses those of `edge`, eve half of those of `small`."""
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
    yield graded
    assert not list(graded.temporary.iterdir()), "temporary files are left"


def state_of(course: Course) -> Any:
    """All that a regrade must leave alone until it is accepted."""
    kept = ("gradebook.csv", "attempts.csv", "class.md", "class.html")
    return course.records(), [(course.results / name).read_bytes() for name in kept]


def test_a_changed_case(course: Course) -> None:
    """Who gains, who loses, on which case and why; then all of it is taken, and the old is kept."""
    before, old = state_of(course), course.records()
    course.cases(small=10, edge=4, large=5)
    for name in ("alice", "eve"):
        course.add(f"{name} late", "loses large 1 it hangs")  # handed in since
    ended = course.regrade()
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("nothing was replaced; `make regrade CLASS=... ACCEPT=1` takes") == 1
    assert "5 students: fewer points for 2, more for 3" in ended.stdout
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
    assert course.points() == {"alice": "19", "alice late": "14", "bob": "15", "eve": "14",
                               "eve late": "14"}
    assert course.history() == {name: [old[name]] if name in old else []
                                for name in course.records()}
    assert not (course.results / "regrade").exists() and len(course.changes()) > 3
    assert "5 submissions graded already" in course.run().stdout


def test_a_reason_that_changes_with_the_points(course: Course) -> None:
    """A case that is gone; and one that is as it was, where the submission does something else."""
    course.cases(small=10)
    assert course.regrade().returncode == 0
    assert [(row["student"], row["case"], row["why"]) for row in course.changes()] == [
        ("alice", "own/edge", "the case is gone"), ("eve", "own/edge", "the case is gone"),
        ("bob", "own/edge", "the case is gone")]


def test_another_attempt_counts(course: Course) -> None:
    for day, loses in ("01", "small"), ("02", "edge"):
        place = course.folder / f"submissions/zoe/2026-11-{day}_10-00-00"
        place.mkdir(parents=True)
        (place / "kernel.cu").write_text(f"loses {loses} 1 because\n")
    assert course.run().returncode == 0
    course.cases(small=8, edge=10)
    ended = course.regrade()
    assert "attempt 1 counts, not" not in ended.stdout
    course.cases(small=10, edge=8)
    ended = course.regrade()
    assert "zoe: 10 -> 10 (+0)" in ended.stdout and "attempt 2 counts, not 1" in ended.stdout
    assert "cases that changed for most students: own/edge" in ended.stdout


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


@pytest.mark.parametrize("accept", [(), ("--accept",)])
def test_a_class_that_was_never_graded(course: Course, accept: tuple[str, ...], tmp_path: Path) -> None:
    ended = course.regrade("--results", str(tmp_path / "new"), *accept)
    assert ended.returncode == 2, ended.stdout
    assert ended.stderr == (f"grade-class: {tmp_path}/new: nothing is graded yet; `make grade-class` "
                            "does that\n")


def test_a_mistake_in_a_gradebook_shows_first(course: Course) -> None:
    (course.folder / "class.toml").write_text('canvas = "own.toml"\n')
    begun = course.counted("begun")
    course.cases(small=10, edge=4)
    ended = course.regrade("--accept")
    assert ended.returncode == 2 and "own.toml, line 1" in ended.stderr
    assert course.counted("begun") == begun


@pytest.mark.parametrize("accept", [(), ("--accept",)])
def test_a_fault_of_the_machine(course: Course, accept: tuple[str, ...]) -> None:
    """Whoever has no new result keeps the old one, and so does everybody: half a regrade is none."""
    course.add("mia", "fault 0")
    assert course.run().returncode == 0
    before = state_of(course)
    course.cases(small=10, edge=4)
    path = course.folder / "submissions/mia/kernel.cu"
    path.write_text("fault 4\n")
    ended = course.regrade(*accept)
    assert ended.returncode == 3
    assert "no grade: mia: the machine's fault: no sandbox works here" in ended.stderr
    assert "1 student without a grade" in ended.stderr
    assert "3 students: fewer points for 2, more for 0" in ended.stdout
    assert "nothing was replaced\n" in ended.stdout and "ACCEPT=1" not in ended.stdout
    assert state_of(course) == before
    assert course.regrade("--accept").returncode == 0
    assert course.points() == {"alice": "14", "bob": "10", "eve": "9", "mia": "14"}


# ---- interrupts ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("error, raised", [
    (OSError(errno.ENOSPC, "No space left on device"), MachineFault),
    (KeyboardInterrupt(), KeyboardInterrupt)])
def test_stopped_while_results_are_replaced(course: Course, monkeypatch: pytest.MonkeyPatch,
                                            error: BaseException, raised: type[BaseException]) -> None:
    """At each write: every result is whole, the old one or the new one, and the next run does what is
    missing, once."""
    old = course.records()
    course.cases(small=10, edge=4)
    assert course.regrade().returncode == 0
    settings = read_settings(course.folder)
    present = program.gather(settings, Results(settings.results))
    again = program.replace(present, results=Results(settings.results / program.REGRADE))
    new = {path.parts[-3]: path.read_bytes()
           for path in course.results.glob("regrade/records/*/*/result.json")}
    assert old.keys() == new.keys() and not set(old.values()) & set(new.values())
    for _ in range(2 * len(old) - 1):  # an old one to history/, then a new one in its place
        with monkeypatch.context() as broken:
            stop = stopping(write, 1, error)
            for module in (program, results):
                broken.setattr(module, "write", stop)
            with pytest.raises(raised):
                program.accept(present, again)
        assert all(each in (old[name], new[name]) for name, each in course.records().items())
    ended = course.regrade("--accept")
    assert ended.returncode == 0, ended.stderr
    assert course.records() == new and set(course.counted("begun").values()) == {2}
    assert course.history() == {name: [each] for name, each in old.items()}


@pytest.mark.parametrize("students", sample([16, 40], every=2))
def test_killed_while_results_are_replaced(course: Course, students: int) -> None:
    """At random moments, and started again."""
    draw = random.Random(16)
    for number in range(students):
        course.add(f"s{number}", f"# {number}")
    assert course.run().returncode == 0
    old = course.records()
    course.cases(small=10, edge=4)
    assert course.regrade().returncode == 0
    new = {path.parts[-3]: path.read_bytes()
           for path in course.results.glob("regrade/records/*/*/result.json")}
    for _ in range(3):
        taken = sum(each == new[name] for name, each in course.records().items())
        with course.start("--accept", what="regrade") as process:
            wait_for(lambda: process.poll() is not None or
                     sum(each == new[name] for name, each in course.records().items())
                     >= taken + draw.randint(1, 3 * students // 10))
            interrupt(process, signal.SIGKILL)
        assert all(each in (old[name], new[name]) for name, each in course.records().items())
    assert course.regrade("--accept").returncode == 0
    assert course.records() == new
    assert course.history() == {name: [each] for name, each in old.items()}
