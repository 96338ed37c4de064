"""Fills a platform's own table: which row is whose, and what was left out.

In: the table that the platform exported, and where the students stand. Each row is matched with one
student by what it says of them, and stays as it was if it could be more than one.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .model import Standing
from .roster import Columns, Roster, claim_of, columns_of, rows_of
from .table import Table
from .text import one_line, points


class Filled(NamedTuple):
    content: bytes
    """CSV, for the platform to import."""
    notes: list[str]
    """For staff: whose points are not in it, and why."""


class Filling:
    """The rows of a table, and the standings that go into them."""

    def __init__(self, table: Table, columns: Columns, standings: Sequence[Standing]):
        self.standings = standings
        self.remarks: list[str] = []
        of_student = {standing.student: standing for standing in standings}
        roster = Roster(of_student)
        found = {}
        for line, student in rows_of(table, columns):
            claim = claim_of(student)
            if match := roster.match(claim):
                found[line] = match
            elif roster.candidates(claim):
                self.remarks.append(f"line {line}, {one_line(student.known_as)}: "
                                    f"{roster.reason(claim)}; left as it was")
        count = Counter(found.values())
        self.rows = {line: of_student[student] for line, student in found.items()
                     if count[student] == 1}
        self.twice = {student for student in count if count[student] > 1}

    def standing(self, line: int) -> Standing | None:
        """Of the student whose row this is; None: the row matches no student of ours."""
        return self.rows.get(line)

    def left_out(self, standing: Standing, why: str) -> None:
        """Only of interest where there is something to leave out."""
        if standing.state == "excused" or standing.points is not None:
            what = "excused" if standing.state == "excused" or standing.points is None else (
                f"{points(standing.points)} points")
            student = standing.student
            self.remarks.append(f"{one_line(student.known_as)} ({one_line(student.folder)}), {what}: {why}")

    def compare_possible(self, cell: str, column: str) -> None:
        """A note if the platform's maximum differs from ours."""
        ours = {points(each.possible) for each in self.standings if each.possible is not None}
        theirs = number(cell)
        if theirs is not None and ours and ours != {points(theirs)}:
            self.remarks.append(f"{column} is {points(theirs)}, and here it is "
                                f"{' or '.join(sorted(ours))}")

    def notes(self) -> list[str]:
        placed = {standing.student for standing in self.rows.values()}
        for standing in self.standings:
            if standing.student in self.twice:
                self.left_out(standing, "more than one row could be theirs")
            elif standing.student not in placed:
                self.left_out(standing, "no row matches")
        return list(dict.fromkeys(self.remarks))


def refuse_missing(table: Table, kind: Columns, column: str, how: str) -> int:
    """The place of this column in such a table. Raises BadInput if it is another table."""
    place = table.column(column)
    if columns_of(table) is not kind or place is None:
        raise table.refuse(1, f"not the expected table, or it has no column {column}; "
                           f"{how}")
    return place


def number(cell: str) -> float | None:
    """100, 100.00 or 100,00."""
    try:
        return float(cell.strip().replace(",", "."))
    except ValueError:
        return None
