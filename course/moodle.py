"""Moodle: the download of an assignment's submissions, and its grading worksheet.

The download is a zip with a folder for each student, "Full Name_123_assignsubmission_file" (until
about 2022 with another '_' behind it), or, if "Download submissions in folders" is off, files
"Full Name_123_assignsubmission_file_kernel.cu"; "_" in names is a blank. 123 is the number in the
worksheet's "Participant 123". Where marking is blind the name is "Participant"; where groups hand in,
it is the group's, and the number is the group's too. What was typed into Moodle is in
..._assignsubmission_onlinetext. There are no times.
    github.com/moodle/moodle/blob/main/mod/assign/classes/downloader.php (get_student_prefix,
    load_submissionplugin_filelist)

The worksheet (a setting of the assignment: Feedback types > Offline grading worksheet) has the columns
Identifier, Full name, (ID number, Email address, ...,) Status, Grade, Maximum grade, Grade can be
changed, Last modified (submission), Last modified (grade), Feedback comments. Moodle finds a row by
Identifier; it needs that, Grade and Last modified (grade), skips a grade that is empty, above the
maximum, or newer in Moodle, and replaces the feedback by what the file says, as HTML.
    github.com/moodle/moodle/blob/main/mod/assign/feedback/offline/importgradeslib.php and locallib.php,
    mod/assign/gradingtable.php
    docs.moodle.org: "Using Assignment", "Offline marking"
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from html import escape
from pathlib import Path

from .archive import Archive
from .fill import Filled, Filling, number, refuse_missing
from .model import Claim, HandIn, Standing, Student
from .roster import MOODLE, rows_of
from .table import read_table, simple, written
from .text import defused, listed, points

FILE = re.compile(r"(?P<name>[^/]+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)"
                  r"(?:_?/|_)(?P<own>.+)", re.ASCII | re.DOTALL)
BLIND = "Participant"
HOW = "download the grading worksheet in Moodle, in English"
TIMES = ("%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M", "%B %d, %Y, %I:%M %p", "%d/%m/%Y, %H:%M",
         "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")  # behind the day of the week


# ---- the download --------------------------------------------------------------------------------


def recognizes(archive: Archive) -> bool:
    names = archive.hand_in_names()
    return bool(names) and all(FILE.fullmatch(name) for name in names)


def hand_ins(archive: Archive) -> list[HandIn]:
    """One for each student or group of the download."""
    students: dict[tuple[str, str], list[re.Match[str]]] = defaultdict(list)
    for name in archive.names + archive.hidden:
        if found := FILE.fullmatch(name):
            students[found["name"], found["id"]].append(found)
    return [of_student(archive, name, number, files)
            for (name, number), files in students.items()]


def of_student(archive: Archive, name: str, number: str, files: list[re.Match[str]]) -> HandIn:
    claim = Claim(name="" if name == BLIND else name, moodle_id=number)
    other = {file["kind"] for file in files} - {"file"}
    notes = [f"ignored: {listed(sorted(other))}, typed into Moodle"] if other else []
    own = {file[0]: file["own"] for file in files if file["kind"] == "file"}
    return archive.hand_in([claim], f"{name}_{number}", own, notes)


# ---- the worksheet -------------------------------------------------------------------------------


def times(worksheet: Path, zone: tzinfo) -> dict[Student, datetime | None]:
    """When each participant handed in last; `zone`: the one that Moodle showed times
    in to whoever downloaded the worksheet. None: nothing, or not a date in English. To the minute,
    which Moodle cuts off. Raises BadInput."""
    table = read_table(worksheet)
    place = refuse_missing(table, MOODLE, "Last modified (submission)", HOW)
    cells = dict(table.rows)
    return {student: time_of(cells[line][place], zone) for line, student in rows_of(table, MOODLE)}


def time_of(text: str, zone: tzinfo) -> datetime | None:
    """Friday, 20 November 2026, 11:10 PM; Friday, November 20, 2026, 11:10 PM."""
    date = re.sub(r"^[A-Za-z]+day,\s*", "", " ".join(text.split()))
    for form in TIMES:
        try:
            return datetime.strptime(date, form).replace(tzinfo=zone)
        except ValueError:
            continue
    return None


def fill(worksheet: Path, standings: Sequence[Standing],
         feedback: Callable[[Standing], str] = lambda standing: standing.late) -> Filled:
    """The worksheet with grades and feedback (plain text; empty: what is there stays). Rows whose
    grade can't be changed, and of which we know nothing, stay as they were. Raises BadInput."""
    table = read_table(worksheet)
    grade = refuse_missing(table, MOODLE, "Grade", HOW)
    if table.column("Scale") is not None:
        raise table.refuse(1, "Moodle grades this assignment by a scale; set its type to Point")
    comments = table.column("Feedback comments")
    rows = [table.columns]
    filling = Filling(table, MOODLE, standings)
    changeable, maximum = table.column("Grade can be changed"), table.column("Maximum grade")
    for line, cells in table.rows:
        rows.append(cells)
        standing = filling.standing(line)
        if not standing:
            continue
        if why := locked(standing, None if changeable is None else cells[changeable],
                         "" if maximum is None else cells[maximum]):
            filling.left_out(standing, why)
            continue
        if maximum is not None:
            filling.compare_possible(cells[maximum], "Moodle's maximum grade")
        if standing.points is not None:
            cells[grade] = points(standing.points)
        if comments is not None and (said := feedback(standing)):
            cells[comments] = defused(escape(said, quote=False).replace("\n", "<br />"))
    return Filled(written(rows), filling.notes())


def locked(standing: Standing, changeable: str | None, maximum: str) -> str:
    """Why a row stays as it was; empty: it doesn't."""
    if changeable is not None and simple(changeable) == "no":
        return "Moodle says that the grade cannot be changed"
    if standing.state == "excused":
        return "a worksheet cannot excuse; do it in Moodle"
    most = number(maximum)
    if standing.points is not None and most is not None and standing.points > most:
        return f"above Moodle's maximum grade {points(most)}, which Moodle would skip"
    return ""
