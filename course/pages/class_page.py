"""A class on one page, for staff. It names students, points and hidden cases; it ranks nobody.

In: where everybody stands. Out: Class, which the template shows. Rows lead to the pages of students
and to the records.
"""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, quantiles, stdev
from urllib.parse import quote

from ..gradebook import of_unknown_time
from ..model import Standing, State
from ..record import RESULT, Record
from ..text import points
from .mistakes import REFUSED, Mistake, mistakes_of
from .source import lines_of

STATES: dict[State, str] = {
    "graded": "graded", "missing": "missing", "unusable": "unusable", "excused": "excused",
    "fault": "not graded: the machine failed", "waiting": "waiting",
}  # fmt: skip
BINS, DAYS = 10, 21
MOST_MISTAKES, MOST_EXAMPLES = 25, 3


@dataclass(frozen=True)
class Row:
    """A student."""

    anchor: str
    name: str
    section: str
    state: str
    total: str
    late: str
    attempts: int
    page: str
    record: str
    """Links, relative to the page; empty: there is no record."""
    first: str
    """Their first mistake, or what is wrong with the whole."""
    notes: tuple[str, ...]
    reasons: tuple[str, ...]
    """Why a person should look at it; empty: nobody has to."""


@dataclass(frozen=True)
class Bin:
    what: str
    count: int
    part: float
    """Of the fullest bin: 0 to 1."""


@dataclass
class CaseRow:
    name: str
    hidden: bool
    shape: str
    students: int = 0
    full: int = 0
    some: int = 0
    skipped: int = 0
    lost: list[float] = field(default_factory=list)

    @property
    def none(self) -> int:
        return self.students - self.full - self.some - self.skipped

    @property
    def mean_lost(self) -> float:
        return mean(self.lost)


@dataclass
class MistakeRow:
    """One that several students may have made, each of them counted once."""

    kind: str
    labels: dict[str, list[Row]] = field(default_factory=dict)
    """Its words, and to whom they were said: of a cause they may name one array or another."""
    rows: list[Row] = field(default_factory=list)
    symptoms: dict[str, list[Row]] = field(default_factory=dict)
    """Of a cause: the kinds of findings in which it showed, and to whom."""
    cases: Counter[str] = field(default_factory=Counter)
    code: dict[str, list[Row]] = field(default_factory=dict)
    """The lines that have it, without blanks around them, and who wrote them."""

    @property
    def label(self) -> str:
        return most_often(self.labels)[0][0]

    @property
    def other_labels(self) -> list[tuple[str, list[Row]]]:
        return most_often(self.labels)[1:]

    @property
    def seen_as(self) -> list[tuple[str, int]]:
        """Its findings, the commonest first."""
        return sorted(((kind, len(rows)) for kind, rows in self.symptoms.items()),
                      key=lambda each: (-each[1], each[0]))

    @property
    def examples(self) -> list[tuple[str, list[Row]]]:
        """The commonest lines."""
        return most_often(self.code)[:MOST_EXAMPLES]


def most_often(said: dict[str, list[Row]]) -> list[tuple[str, list[Row]]]:
    return sorted(said.items(), key=lambda each: -len(each[1]))


@dataclass(frozen=True)
class SectionRow:
    name: str
    students: int
    graded: int
    mean: str
    median: str
    """Empty where nobody was graded."""


@dataclass(frozen=True)
class Class:
    assignment: str
    states: list[tuple[str, int]]
    unknown_time: str
    """One line on those of whom no time is known, though there is a deadline; empty: there are none."""
    summary: str
    """Mean, median and quartiles; empty where nobody was graded."""
    bins: list[Bin]
    sections: list[SectionRow]
    """Empty where there are fewer than two."""
    days: list[Bin]
    """How much was handed in on each day on which anything was; empty where no times are known."""
    more_days: int
    """Before the first of them."""
    cases: list[CaseRow]
    mistakes: list[MistakeRow]
    left_out: int
    """Of the mistakes, the rarest."""
    people: list[Row]
    late: list[Row]
    missing: list[Row]
    rows: list[Row]


def class_of(standings: Sequence[Standing], assignment: str, folder: Path) -> Class:
    """`folder`: of the page, to which links are relative."""
    standings = sorted(standings, key=by_name)
    found = [mistakes_of(each.record) if each.record else [] for each in standings]
    rows = [row_of(number, standing, mistakes, folder)
            for number, (standing, mistakes) in enumerate(zip(standings, found, strict=True), 1)]
    mistakes = frequent(zip(standings, rows, found, strict=True))
    got = [each for each in standings if each.state == "graded" and each.points is not None]
    days = days_of(standings)
    return Class(
        assignment, states_of(standings), of_unknown_time(standings), summary_of(got), bins_of(got),
        sections_of(standings), days[-DAYS:], len(days[:-DAYS]),
        cases_of(each.record for each in standings if each.record),
        mistakes[:MOST_MISTAKES], len(mistakes[MOST_MISTAKES:]),
        people=[row for row in rows if row.reasons],
        late=[row for row in rows if row.late],
        missing=[row for row, each in zip(rows, standings, strict=True) if each.state == "missing"],
        rows=rows)


def by_name(standing: Standing) -> tuple[str, str]:
    return standing.student.known_as.casefold(), standing.student.folder


# ---- students ------------------------------------------------------------------------------------


def row_of(number: int, standing: Standing, mistakes: list[Mistake], folder: Path) -> Row:
    student, attempt = standing.student, standing.counted
    record = ""
    if attempt and attempt.record and attempt.directory:
        record = quote(os.path.relpath(attempt.directory / RESULT, folder))
    total = "" if standing.points is None else points(standing.points)
    return Row(f"s{number}", student.known_as, student.section, STATES[standing.state], total,
               standing.late, len(standing.attempts), quote(f"feedback/{student.folder}.html"),
               record, first_of(mistakes), standing.notes,
               tuple(dict.fromkeys(reasons(standing))))


def first_of(mistakes: list[Mistake]) -> str:
    if not mistakes:
        return ""
    return "refused: see Needs review" if mistakes[0].kind == REFUSED else mistakes[0].label


def reasons(standing: Standing) -> Iterable[str]:
    """Why a person should look at it, a line each; none where one has decided."""
    record = standing.record
    if standing.needs_human:
        of_record = [record.whole[0]] if record and record.refusal else []
        of_record += record.needs_review if record else []
        yield from [*standing.notes, *of_record] or [STATES[standing.state]]


# ---- points --------------------------------------------------------------------------------------


def states_of(standings: Sequence[Standing]) -> list[tuple[str, int]]:
    count = Counter(each.state for each in standings)
    refused = sum(1 for each in standings
                  if each.state == "graded" and each.record and each.record.refusal)
    words = STATES | ({"graded": f"graded ({refused} of them refused)"} if refused else {})
    return [(words[state], count[state]) for state in STATES if count[state]]


def summary_of(got: Sequence[Standing]) -> str:
    values = [each.points for each in got if each.points is not None]
    if not values:
        return ""
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    among = ""
    if len({each.possible for each in got if each.record}) > 1:
        among = " They were not all graded on the same cases, so these points cannot be compared."
    spread = f", standard deviation {points(stdev(values))}" if len(values) > 1 else ""
    return (f"Mean {points(mean(values))}{spread}; median {points(median(values))}, quartiles {points(low)} and {points(high)}, "
            f"lowest {points(min(values))}, highest {points(max(values))}, "
            f"of {points(most(got))} points.{among}")


def most(got: Sequence[Standing]) -> float:
    """Possible points."""
    return max((each.possible or 0.0 for each in got), default=0.0)


def bins_of(got: Sequence[Standing]) -> list[Bin]:
    """From 0 to what is possible; full points, and more, on their own."""
    top = most(got)
    if not top:
        return []
    edges = [top * number / BINS for number in range(BINS + 1)]
    counts = [0] * (BINS + 1)
    for each in got:
        value = min(max(each.points or 0.0, 0.0), top)
        counts[sum(value >= edge for edge in edges) - 1] += 1
    words = [f"{points(low)} to below {points(high)}" for low, high in zip(edges, edges[1:])]
    return [Bin(what, count, count / max(counts))
            for what, count in zip([*words, f"{points(top)}: all"], counts, strict=True)]


def sections_of(standings: Sequence[Standing]) -> list[SectionRow]:
    """By name; those who are in none come last."""
    names = sorted({each.student.section for each in standings}, key=lambda name: (not name, name.casefold()))
    rows = []
    for name in names if len(names) > 1 else []:
        here = [each for each in standings if each.student.section == name]
        got = [each.points for each in here if each.state == "graded" and each.points is not None]
        rows.append(SectionRow(name or "none", len(here), len(got), points(mean(got)) if got else "",
                               points(median(got)) if got else ""))
    return rows


def days_of(standings: Sequence[Standing]) -> list[Bin]:
    """In the time zones of the times themselves."""
    days = Counter(time.date() for each in standings for attempt in each.attempts
                   if (time := attempt.hand_in.submitted))
    most_on_a_day = max(days.values(), default=0)
    return [Bin(f"{day:%a %Y-%m-%d}", count, count / most_on_a_day) for day, count in sorted(days.items())]


# ---- cases ---------------------------------------------------------------------------------------


def cases_of(records: Iterable[Record]) -> list[CaseRow]:
    """In the order of the suites."""
    rows: dict[str, CaseRow] = {}
    for record in records:
        for item in record.graded:
            row = rows.setdefault(item.key, CaseRow(item.key, item.hidden, item.shape))
            row.students += 1
            row.full += item.score >= item.max_score
            row.some += 0 < item.score < item.max_score
            row.skipped += item.skipped
            row.lost.append(item.max_score - item.score)
    return list(rows.values())


# ---- mistakes ------------------------------------------------------------------------------------


def frequent(found: Iterable[tuple[Standing, Row, list[Mistake]]]) -> list[MistakeRow]:
    """The most frequent first."""
    rows: dict[tuple[str, str], MistakeRow] = {}
    for standing, student, mistakes in found:
        lines = lines_of(standing.counted.source) if standing.counted and mistakes else []
        for each in mistakes:
            if each.kind == REFUSED:
                continue  # a person decides what it is
            words = "" if each.symptoms else each.label  # a cause has its name
            row = rows.setdefault((each.kind, words), MistakeRow(each.kind))
            for to in (row.rows, row.labels.setdefault(each.label, [])):
                if student not in to:
                    to.append(student)
            for kind in each.symptoms:
                if student not in row.symptoms.setdefault(kind, []):
                    row.symptoms[kind].append(student)
            row.cases.update(item.key for item in each.items)
            text = lines[each.line - 1].strip() if 0 < each.line <= len(lines) else ""
            if text and student not in row.code.setdefault(text, []):
                row.code[text].append(student)
    return sorted(rows.values(), key=lambda row: -len(row.rows))
