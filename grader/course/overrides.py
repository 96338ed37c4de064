"""overrides.csv: what an instructor changes by hand, each with a reason. docs/class.md.

    student,points,excused,extension,submitted,reason
    ada,38,,,,asked in office hours
    bob,,yes,,,ill
    eve,,,2,,conference

In: the file and the students. Out: an Override for each student named. Raises BadInput, a line for
each mistake.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path

from ..cases import nearest, quoted, refuse
from ..errors import BadInput
from .model import Override, Student

COLUMNS = ("student", "points", "excused", "extension", "submitted", "reason")
YES, NO = ("yes", "true", "x", "1"), ("", "no", "false", "0")
MOST_POINTS = 1_000_000
MOST_DAYS = 366


def read_overrides(path: Path, students: Sequence[Student], zone: tzinfo) -> dict[str, Override]:
    """By the students' folders. `zone`: of times without one."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, ValueError, csv.Error) as error:
        raise BadInput(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    mistakes: list[str] = []
    found: dict[str, Override] = {}
    for number, row in enumerate(rows, 2):
        where = f"{path}:{number}"
        cells = {str(key).strip().lower(): (value or "").strip() if isinstance(value, str) else ""
                 for key, value in row.items()}
        unknown = [key for key in cells if key not in COLUMNS]
        if unknown:
            refuse([f"{path}: unknown column {quoted(key)}{nearest(key, list(COLUMNS))}"
                    for key in unknown])
        if not any(cells.values()):
            continue
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
        mistakes.append(f"{where}: reason: is missing; whoever asks later wants to know")
    override = Override(
        student=cells.get("student", ""), reason=cells.get("reason", ""), excused=excused in YES,
        points=number(cells, "points", MOST_POINTS, where, mistakes),
        extension=number(cells, "extension", MOST_DAYS, where, mistakes) or 0.0,
        submitted=time(cells, zone, where, mistakes))
    if override.excused and override.points is not None:
        mistakes.append(f"{where}: excused, and with points: which of them?")
    return override if len(mistakes) == before else None


def number(cells: dict[str, str], column: str, most: float, where: str,
           mistakes: list[str]) -> float | None:
    text = cells.get(column, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        mistakes.append(f"{where}: {column} = {quoted(text)}: it must be a number from 0 to {most:g}")
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
