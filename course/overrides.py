"""overrides.csv: what an instructor changes by hand, each with a reason. course/README.md.

    student,points,excused,extension,submitted,reason
    ada,38,,,,asked in office hours
    bob,,yes,,,ill
    eve,,,2,,conference

In: the file and the students. Out: an Override for each student named. Raises BadInput, a line for
each mistake.
"""

import math
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path

from .model import Override, Student
from .table import read_table, simple
from .text import nearest, quoted, refuse

COLUMNS = ("student", "points", "excused", "extension", "submitted", "reason")
YES, NO = ("yes", "true", "x", "1"), ("", "no", "false", "0")
MOST_POINTS = 1_000_000
MOST_DAYS = 366


def read_overrides(path: Path, students: Sequence[Student], zone: tzinfo) -> dict[str, Override]:
    """By the students' folders. `zone`: of times without one. Raises BadInput."""
    table = read_table(path)
    columns = [simple(column) for column in table.columns]
    refuse([f"{path}: unknown column {quoted(column)}{nearest(column, list(COLUMNS))}"
            for column in columns if column not in COLUMNS])
    mistakes: list[str] = []
    found: dict[str, Override] = {}
    for line, row in table.rows:
        where = f"{path}:{line}"
        cells = {column: cell.strip() for column, cell in zip(columns, row, strict=True)}
        student = named(cells.get("student", ""), students, where, mistakes)
        override = override_of(cells, zone, where, mistakes)
        if student and student.folder in found:
            mistakes.append(f"{where}: {quoted(cells['student'])} has a row already")
        elif student and override:
            found[student.folder] = override
    refuse(mistakes)
    return found


def named(text: str, students: Sequence[Student], where: str, mistakes: list[str]) -> Student | None:
    """By folder, login, ID, email or name, exactly."""
    found = [each for each in students
             if text and text in (each.folder, each.login, each.id, each.email, each.name)]
    if len(found) == 1:
        return found[0]
    mistakes.append(f"{where}: {quoted(text)} is "
                    + ("the name of several students; write the login" if found else
                       "no student of this class" + nearest(text, [each.folder for each in students])))
    return None


def override_of(cells: dict[str, str], zone: tzinfo, where: str,
                mistakes: list[str]) -> Override | None:
    before = len(mistakes)
    excused = cells.get("excused", "").lower()
    if excused not in (*YES, *NO):
        mistakes.append(f"{where}: excused = {quoted(excused)}: it must be yes, or empty")
    if not cells.get("reason"):
        mistakes.append(f"{where}: reason: missing; someone will want to know later")
    override = Override(
        student=cells.get("student", ""), reason=cells.get("reason", ""), excused=excused in YES,
        points=number(cells, "points", MOST_POINTS, where, mistakes),
        extension=number(cells, "extension", MOST_DAYS, where, mistakes) or 0.0,
        submitted=time(cells, zone, where, mistakes))
    if override.excused and override.points is not None:
        mistakes.append(f"{where}: both excused and with points; choose one")
    return override if len(mistakes) == before else None


def number(cells: dict[str, str], column: str, most: int, where: str,
           mistakes: list[str]) -> float | None:
    text = cells.get(column, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        mistakes.append(f"{where}: {column} = {quoted(text)}: it must be a number from 0 to {most}")
        return None
    return value


def time(cells: dict[str, str], zone: tzinfo, where: str, mistakes: list[str]) -> datetime | None:
    text = cells.get("submitted", "")
    if not text:
        return None
    try:
        value = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        mistakes.append(f"{where}: submitted = {quoted(text)}: it must be a date and time, "
                        "2026-11-20 23:59")
        return None
    return value if value.tzinfo else value.replace(tzinfo=zone)
