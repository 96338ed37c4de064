"""Records as course/ reads them, of those that the grader writes for staff and for students."""

from typing import Any

import grades
from course.record import Record
from grader.record.student import student_view


def read(record: grades.Record) -> Record:
    return Record.model_validate_json(record.model_dump_json())


def seen_of(record: grades.Record) -> Record:
    """What a student sees of it."""
    return read(student_view(record))


def make_record(tests: list[grades.Case], /, **changes: Any) -> Record:
    return read(grades.make_record(tests, **changes))
