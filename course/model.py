"""What the modules of this package hand to each other: students, what they handed in, and where each
of them stands at the end."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from .record import Record

Files = tuple[tuple[str, bytes], ...]
"""By name, with '/'."""


@dataclass(frozen=True)
class Student:
    """One row of the roster, or somebody who handed in and is on none. Texts are as they came:
    nothing in them is safe for a path, a shell, HTML or a spreadsheet."""

    name: str
    """For people: "Ada Lovelace". Empty where a roster has none: see known_as."""
    folder: str
    """Of the results and pages: directory_name() of the login or name; unique in a class."""
    id: str = ""
    """Of the institution: Canvas's SIS User ID, Gradescope's SID, Moodle's ID number."""
    login: str = ""
    """Canvas's SIS Login ID, Moodle's user name."""
    email: str = ""
    section: str = ""
    canvas_id: str = ""
    """Canvas's own number of the user, in its gradebook's column ID and its downloads."""
    moodle_id: str = ""
    """The number in Moodle's "Participant 123", in its worksheet and its downloads."""
    late_days: int | None = None
    """To spend; None: as class.toml says."""
    enrolled: bool = True
    """False: not on the roster."""

    @property
    def known_as(self) -> str:
        """What people read."""
        return self.name or self.login or self.email or self.id or self.folder


@dataclass(frozen=True)
class Claim:
    """What a hand-in says about its author; empty: nothing. Matched with the roster."""

    name: str = ""
    id: str = ""
    login: str = ""
    email: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    word: str = ""
    """A folder's or file's name: any of the above."""


@dataclass(frozen=True)
class HandIn:
    """One attempt as it came."""

    claims: tuple[Claim, ...]
    """Several: a group handed in together."""
    source: str
    """Where it was found, printable: "canvas.zip: ada_123_456_kernel.cu"."""
    files: Files = ()
    """Which of them is the kernel is the grader's to say. Empty where there is a problem."""
    problem: str = ""
    """One line: why it cannot be taken."""
    notes: tuple[str, ...] = ()
    """What was ignored."""
    submitted: datetime | None = None
    """With its time zone; None: unknown."""
    late: bool | None = None
    """What the platform says, where it gives no time."""


@dataclass(frozen=True)
class Attempt:
    """A student's hand-in, and how it was graded."""

    student: Student
    hand_in: HandIn
    number: int
    """From 1, by time."""
    sha256: str
    """Of its files; empty where there is a problem with them."""
    directory: Path | None
    """Of its results; None where there is a problem."""
    record: Record | None = None
    """Complete; None: no grade."""
    seen: Record | None = None
    """What the student may see of it."""
    old: bool = False
    """The record is of an earlier version of the cases, the grader, the compiler, ..."""
    fault: str = ""
    """One line: the machine's fault because of which there is no (new) record."""
    not_taken: str = ""
    """One line: why the grader found no kernel in it."""
    source: bytes = b""
    """Of kernel.cu as it was compiled; empty where it was not."""

    @property
    def problem(self) -> str:
        """Why it is unusable; empty: it is not."""
        return self.hand_in.problem or self.not_taken


@dataclass(frozen=True)
class Override:
    """A row of overrides.csv."""

    student: str
    reason: str
    points: float | None = None
    excused: bool = False
    extension: float = 0.0
    """Days."""
    submitted: datetime | None = None
    """Of the last attempt, where no time is known or another is right."""


State = Literal["graded", "excused", "missing", "unusable", "fault", "waiting"]
"""graded: there are points. missing: nothing handed in. unusable: what was handed in cannot be taken.
fault: the machine's. waiting: its turn has not come."""


@dataclass(frozen=True)
class Standing:
    """Where a student stands: a row of every table."""

    student: Student
    state: State
    attempts: tuple[Attempt, ...] = ()
    """All of them, by time."""
    counted: Attempt | None = None
    """The one whose points count."""
    raw: float | None = None
    """Its points before anything was deducted or changed."""
    points: float | None = None
    """What goes into the gradebook; None: nothing does."""
    possible: float | None = None
    late: str = ""
    """One line, empty where it is in time: "2 days late, 20 % deducted"."""
    deducted: float = 0.0
    late_days_used: int = 0
    override: Override | None = None
    time_unknown: bool = False
    """There is a deadline, and nobody knows when this was handed in: it counts as on time."""
    notes: tuple[str, ...] = field(default=())
    """For staff, a line each: why there are no points, what needs a person."""
    needs_human: bool = False

    @property
    def record(self) -> Record | None:
        """Of the attempt that counts."""
        return self.counted.record if self.counted else None
