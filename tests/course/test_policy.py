"""Which attempt counts, what being late costs, and what an instructor changes by hand."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from course import output
from course.gather import gather
from course.model import Attempt, HandIn, Override, Standing, Student
from course.overrides import read_overrides
from course.policy import attempts_to_grade, standing_of
from course.jobs.results import Results
from course.settings import Settings, read_settings
from course.errors import BadInput
from records import make_record

DEADLINE = datetime(2026, 11, 20, 23, 59, tzinfo=timezone.utc)
ADA, BOB = Student("Ada", "ada", login="ada1"), Student("Bob", "bob", email="bob@example.edu")


def settings(tmp_path: Path, text: str = "") -> Settings:
    (tmp_path / "class.toml").write_text(f"deadline = {DEADLINE.isoformat()}\n{text}")
    return read_settings(tmp_path)


def attempts(*made: tuple[float | None, float | None]) -> list[Attempt]:
    """Of each the hours after the deadline (None: not known), and the points (None: broken)."""
    found = []
    for number, (hours, points) in enumerate(made, 1):
        time = None if hours is None else DEADLINE + timedelta(hours=hours)
        found.append(Attempt(ADA, HandIn((), "x", submitted=time, problem="x" * (points is None)), number,
                             "" if points is None else f"sha {number}", None,
                             None if points is None else make_record([], score=points, max_score=40)))
    return found


def graded(tmp_path: Path, text: str, *made: tuple[float | None, float | None],
           override: Override | None = None, student: Student = ADA) -> Standing:
    return standing_of(student, attempts(*made), settings(tmp_path, text), override)


def test_without_a_result(tmp_path: Path) -> None:
    """Nothing was handed in, or it waits, or the machine failed."""
    for rule in ("best", "last", "last-in-time"):
        asked = settings(tmp_path, f'attempts = "{rule}"')
        assert attempts_to_grade([], asked) == []
        assert standing_of(ADA, [], asked, None).state == "missing"
    [attempt] = attempts((-3, 10))
    for fault, state in (("", "waiting"), ("no space left", "fault")):
        assert standing_of(ADA, [replace(attempt, record=None, fault=fault)], asked, None).state == state


def test_points_of_an_earlier_run_are_noted(tmp_path: Path) -> None:
    [attempt] = attempts((-3, 10))
    noted = standing_of(ADA, [replace(attempt, old=True)], settings(tmp_path, ""), None)
    assert noted.notes == ("points from an earlier run",) and noted.needs_human


@pytest.mark.parametrize("rule, made, number", [
    ("best", [(-3, 10), (-2, 30), (-1, 30)], 2), ("best", [(-3, 10), (-2, None)], 1),
    ("best", [(-3, 30), (5, 35)], 1), ("last", [(-3, 30), (5, 10)], 2),
    ("last", [(-3, 30), (-2, None)], 2), ("last-in-time", [(-3, 10), (-2, 5), (1, 40)], 2),
    ("last-in-time", [(1, 20), (2, 40)], 1),
])  # fmt: skip
def test_the_attempt_that_counts(tmp_path: Path, rule: str,
                                 made: list[tuple[float, float | None]], number: int) -> None:
    found = graded(tmp_path, f'attempts = "{rule}"\n[late]\ndeduct = 20', *made)
    assert found.counted and found.counted.number == number
    if made[number - 1][1] is None:
        assert (found.state, found.points, found.needs_human) == ("unusable", None, True)
    to_grade = attempts_to_grade(found.attempts, settings(tmp_path, f'attempts = "{rule}"'))
    assert found.counted in to_grade or not found.counted.sha256


def test_who_was_stopped_at_a_time_limit_needs_a_person(tmp_path: Path) -> None:
    """The kernel may only be slow. Points by hand settle it."""
    asked, by_hand = settings(tmp_path), Override("ada", "seen", points=20)
    for review, override, needed in ((["stopped at a time limit in 1 case"], None, True),
                                     (["stopped at a time limit in 1 case"], by_hand, False), ([], None, False)):
        [attempt] = attempts((-1, 30))
        attempt = replace(attempt, record=attempt.record and attempt.record.model_copy(update={"needs_review": review}))
        assert standing_of(ADA, [attempt], asked, override).needs_human == needed


@pytest.mark.parametrize("late, hours, points", [
    ("", 100, 40), ("deduct = 10", -1, 40), ("deduct = 10", 0, 40), ("deduct = 10", 0.001, 36),
    ("deduct = 10", 24, 36), ("deduct = 10", 24.001, 32), ("deduct = 10\nmost = 50", 1000, 20),
    ("deduct = 10", 1000, 0), ("deduct = 10\ngrace = 15", 0.25, 40),
    ("deduct = 10\ngrace = 15", 0.2503, 36), ("deduct = 1\nper = \"hour\"", 2.5, 38.8),
    ("deduct = 10\ndays = 2", 48, 40), ("deduct = 10\ndays = 2", 73, 32),
])  # fmt: skip
def test_what_being_late_costs(tmp_path: Path, late: str, hours: float, points: float) -> None:
    found = graded(tmp_path, f"[late]\n{late}", (hours, 40))
    assert (found.points, found.raw) == (points, 40)
    assert found.deducted == pytest.approx(40 - points)


def test_late_days(tmp_path: Path) -> None:
    """Each day that has begun uses one; the roster's go first."""
    for hours, used in ((0.001, 1), (24, 1), (24.001, 2), (72, 3), (1000, 3)):
        assert graded(tmp_path, "[late]\ndeduct = 10\ndays = 3", (hours, 40)).late_days_used == used
    rich = Student("Ada", "ada", late_days=3)
    found = graded(tmp_path, "[late]\ndeduct = 10\ndays = 1", (50, 40), student=rich)
    assert (found.points, found.late_days_used, found.late) == (40, 3, "3 days late, 3 late days used")


def test_what_is_changed_by_hand(tmp_path: Path) -> None:
    late = "[late]\ndeduct = 10"
    more = Override("ada", "a conference", extension=1)
    assert graded(tmp_path, late, (20, 40), override=more).points == 40
    fewer = graded(tmp_path, late, (20, 40), override=Override("ada", "copied", points=3))
    assert (fewer.points, fewer.raw) == (3, 40) and "3 points by hand (was 36): copied" in fewer.notes
    above = graded(tmp_path, late, (20, 40), override=Override("ada", "bonus", points=400))
    assert above.notes[-1] == "400 points by hand (was 36), more than the 40 of the cases: bonus"
    excused = graded(tmp_path, late, (20, 40), override=Override("ada", "ill", excused=True))
    assert (excused.state, excused.points) == ("excused", None)


def test_an_unknown_time_is_in_time_and_said(tmp_path: Path) -> None:
    """Some platforms, such as Canvas, know only who is late; a hand-in on time needs no note."""
    found = graded(tmp_path, "[late]\ndeduct = 10", (None, 40))
    assert found.points == 40 and found.time_unknown and not found.notes
    lines = output.about([found, found])
    assert lines[-1].startswith("all submissions count as on time, because nothing says when")
    assert not graded(tmp_path, "[late]\ndeduct = 10", (-1, 40)).time_unknown
    [attempt] = attempts((None, 40))
    for late, said in ((False, ""), (True, "late")):
        known = replace(attempt, hand_in=replace(attempt.hand_in, late=late))
        found = standing_of(ADA, [known], settings(tmp_path), None)
        assert (found.late, len(found.notes), found.needs_human) == (said, int(late), late)
    (tmp_path / "class.toml").write_text("")
    found = standing_of(ADA, [known], read_settings(tmp_path), None)
    assert found.late == "late" and found.needs_human and "no deadline" in found.notes[0]
    assert standing_of(ADA, attempts((5, 40)), read_settings(tmp_path), None).late == ""


@pytest.mark.parametrize("rule, made, unclear", [
    ("last", [(None, 10), (None, 30), (None, 20)], True), ("last", [(None, 10), (-1, 30)], True),
    ("last", [(-1, 10), (-1, 30)], True), ("last-in-time", [(None, 10), (None, None)], True),
    ("last", [(None, 10)], False), ("last", [(-2, 10), (-1, 30)], False), ("best", [(None, 10), (None, 30)], False),
])  # fmt: skip
def test_which_is_the_last_is_asked_where_times_do_not_say(tmp_path: Path, rule: str, made: list[Any],
                                                           unclear: bool) -> None:
    found = graded(tmp_path, f'attempts = "{rule}"', *made)
    assert any("which is the last?" in note for note in found.notes) == unclear
    assert found.needs_human or not unclear


def test_a_time_by_hand_is_that_of_the_last_attempt(tmp_path: Path) -> None:
    """In every table and page."""
    for time in ("2026-11-20_10-00", "2026-11-22_10-00"):
        (tmp_path / "ada" / time).mkdir(parents=True)
        (tmp_path / "ada" / time / "kernel.cu").write_text("int x;")
    (tmp_path / "overrides.csv").write_text("student,submitted,reason\nada,2026-11-20 23:00,by mail\n")
    [found] = gather(settings(tmp_path), Results(tmp_path / "results")).standings(None)
    assert [f"{each.hand_in.submitted:%d %H}" for each in found.attempts] == ["20 10", "20 23"]


def test_overrides_as_spreadsheets_write_them(tmp_path: Path) -> None:
    path = tmp_path / "overrides.csv"
    rows = "Student,Points,Excused,Extension,Submitted,Reason\nada1,38,,,,asked\nbob@example.edu,,yes,,,ill"
    for encoding, separator in (("utf-8", ","), ("utf-8-sig", ";"), ("utf-16", "\t")):
        path.write_text(rows.replace(",", separator), encoding=encoding)
        found = read_overrides(path, [ADA, BOB], timezone.utc)
        assert found["ada"].points == 38 and found["bob"].excused


@pytest.mark.parametrize("row, says", [
    ("eve,1,,,,x", "is no student of this class"), ("ada,x,,,,x", "must be a number from 0 to"),
    ("ada,nan,,,,x", "must be a number from 0 to 1000000"), ("ada,1,,,,", "reason: missing"),
    ("ada,1,yes,,,x", "both excused and with points"), ("ada,,maybe,,,x", "must be yes, or empty"),
    ("ada,,,,yesterday,x", "must be a date and time"), ("ada,1,,,,x\nada1,2,,,,x", "a row already"),
])  # fmt: skip
def test_a_mistake_in_overrides_is_named_with_its_line(tmp_path: Path, row: str, says: str) -> None:
    path = tmp_path / "overrides.csv"
    path.write_text(f"student,points,excused,extension,submitted,reason\n{row}\n")
    with pytest.raises(BadInput, match=says) as refused:
        read_overrides(path, [ADA, BOB], timezone.utc)
    assert f"{path}:{2 + row.count(chr(10))}: " in str(refused.value)
