"""Everything that is written of a class when it was graded: tables, what gradebooks import, pages.

    RESULTS/gradebook.csv attempts.csv class.md     for staff
    RESULTS/class.html                              for staff, with links to the records
    RESULTS/feedback/NAME.html NAME.md              for each student
    RESULTS/canvas.csv moodle.csv gradescope.csv    to import
    RESULTS/anonymous/                              the same without names, beside
    RESULTS/names.csv                               who is who there

In: standings. Raises MachineFault where something cannot be written; each file is whole or as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..record.store import faults_of, write
from ..text import counted
from . import canvas, gradescope, moodle
from .fill import Filled
from .gradebook import attempts, gradebook, summary, table, together
from .model import Attempt, Standing, Student
from .nameless import record_without_names, scrub_for, without_names_in
from .pages import write_class_page, write_feedback
from .results import Results
from .settings import Settings

ANONYMOUS, NAMES, FEEDBACK = "anonymous", "names.csv", "feedback"


def write_all(settings: Settings, standings: Sequence[Standing], folder: Path,
              anonymous: bool) -> list[str]:
    """Whose points are in no gradebook, and why."""
    if anonymous:
        nameless, names = without_names(standings, folder)
        write_text(folder / NAMES, names)
        write_tables(settings, nameless, folder / ANONYMOUS)
        return []
    write_tables(settings, standings, folder)
    write_text(folder / "gradescope.csv", gradescope.scores(standings))
    filled = gradebooks(settings, standings)
    for name, each in filled.items():
        write_text(folder / name, each.content)
    return [f"{name}: {note}" for name, each in filled.items() for note in each.notes]


def gradebooks(settings: Settings, standings: Sequence[Standing]) -> dict[str, Filled]:
    """What Canvas and Moodle import; without standings, a check of the files. Raises BadInput."""
    filled = {}
    if settings.canvas:
        filled["canvas.csv"] = canvas.fill(settings.canvas, standings, settings.assignment)
    if settings.moodle:
        filled["moodle.csv"] = moodle.fill(settings.moodle, standings)
    return filled


def write_tables(settings: Settings, standings: Sequence[Standing], folder: Path) -> None:
    with faults_of(folder):
        (folder / FEEDBACK).mkdir(parents=True, exist_ok=True)
    write_text(folder / "gradebook.csv", gradebook(standings))
    write_text(folder / "attempts.csv", attempts(standings))
    write_text(folder / "class.md", summary(standings, settings.assignment))
    with faults_of(folder):
        write_class_page(standings, settings.assignment, folder / "class.html")
        for each in standings:
            write_feedback(each, settings.assignment, folder / FEEDBACK)


def write_text(path: Path, text: str | bytes) -> None:
    with faults_of(path):
        write(path, text if isinstance(text, bytes) else text.encode())


def places(settings: Settings, anonymous: bool) -> list[Path]:
    """What to open first."""
    folder = settings.results / ANONYMOUS if anonymous else settings.results
    filled = [name for name, given in (("canvas.csv", settings.canvas),
                                       ("moodle.csv", settings.moodle)) if given]
    names = ["class.html", "gradebook.csv", FEEDBACK, *([] if anonymous else filled)]
    return [folder / name for name in names]


def about(standings: Sequence[Standing]) -> list[str]:
    """In a line or two, how it ended."""
    human = sum(each.needs_human for each in standings)
    lines = [f"{counted(len(standings), 'student')}: {together(standings)}"]
    if human:
        lines.append(f"{counted(human, 'student')} to review: see class.html")
    return lines


# ---- without names -------------------------------------------------------------------------------


def without_names(standings: Sequence[Standing], folder: Path) -> tuple[list[Standing], str]:
    """The standings of "Student 001" and so on, in an order that says nothing about names and is the
    same each time; and the table that maps them. Raises BadInput and MachineFault."""
    secret = Results(folder).seed(None)  # not class.toml's, with which anybody could compute the order

    def order(each: Standing) -> str:
        return hashlib.sha256(f"{secret} {each.student.folder}".encode()).hexdigest()

    found, rows = [], []
    for number, each in enumerate(sorted(standings, key=order), 1):
        student = Student(name=f"Student {number:03}", folder=f"student-{number:03}")
        rows.append([student.name, each.student.known_as, each.student.login, each.student.id])
        found.append(nameless(each, student))
    return found, table(["anonymous", "student", "login", "id"], rows)


def nameless(standing: Standing, student: Student) -> Standing:
    """What people or file names say is left out: it may hold a name."""
    tried = [nameless_attempt(attempt, student) for attempt in standing.attempts]
    chosen = standing.counted
    return replace(
        standing, student=student, attempts=tuple(tried),
        counted=tried[chosen.number - 1] if chosen else None,
        override=replace(standing.override, student="", reason="") if standing.override else None,
        notes=("see the table with names",) if standing.notes else ())


def nameless_attempt(attempt: Attempt, student: Student) -> Attempt:
    scrub = scrub_for(attempt.student, attempt.hand_in)
    hand_in = replace(attempt.hand_in, claims=(), source="", notes=(),
                      content=without_names_in(attempt.hand_in.content, scrub),
                      problem="cannot be taken" if attempt.hand_in.problem else "")
    record = attempt.record
    if record:
        record = record_without_names(record, scrub)
        about_it = record.submission.model_copy(update={"name": student.folder, "path": "kernel.cu"})
        record = record.model_copy(update={"submission": about_it})
    return replace(attempt, student=student, hand_in=hand_in, directory=None, record=record,
                   fault="the machine's fault" if attempt.fault else "")
