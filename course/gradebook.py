"""Tables of a class: gradebook.csv, a row a student; attempts.csv, a row a hand-in; class.md, for the
summary of a workflow. For staff: they name students, with their points.

In: standings. Out: text. Nothing here raises. What a spreadsheet would compute is defused.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from statistics import median

from .markdown import markdown, row
from .model import Attempt, Standing
from .record import RESULT, Record
from .table import written
from .text import counted, defused, one_line, points

GRADEBOOK = ("student", "login", "id", "email", "section", "state", "points", "possible", "raw",
             "deducted", "speed", "late", "late_days_used", "attempts", "counted", "submitted",
             "look_at", "note")
ATTEMPTS = ("student", "attempt", "submitted", "points", "possible", "sha256", "source", "result",
            "note")


def gradebook(standings: Sequence[Standing]) -> str:
    return table(GRADEBOOK, [cells_of(each) for each in standings])


def cells_of(each: Standing) -> list[str]:
    student, chosen = each.student, each.counted
    record = each.record if each.state == "graded" else None
    return [student.known_as, student.login, student.id, student.email, student.section, each.state,
            shown(each.points), shown(each.possible), shown(each.raw), shown(each.deducted or None),
            speed(record) if record else "", each.late,
            str(each.late_days_used) if each.late_days_used else "", str(len(each.attempts)),
            str(chosen.number) if chosen else "", when(chosen.hand_in.submitted) if chosen else "",
            "yes" if each.needs_human else "", note(each)]


def note(each: Standing) -> str:
    """Of the standing, then of the record that counts."""
    said = [*each.notes, *(about(each.record) if each.record else [])]
    return "; ".join(one_line(line) for line in said if line)


def about(record: Record) -> list[str]:
    return [*record.whole, *record.needs_review]


def attempts(standings: Sequence[Standing]) -> str:
    return table(ATTEMPTS, [cells_of_attempt(attempt) for each in standings
                            for attempt in each.attempts])


def cells_of_attempt(attempt: Attempt) -> list[str]:
    record, hand_in = attempt.record, attempt.hand_in
    said = [attempt.problem, attempt.fault, *hand_in.notes, *(about(record) if record else [])]
    if attempt.old:
        said.insert(0, "the result is from an earlier run")
    return [attempt.student.known_as, str(attempt.number), when(hand_in.submitted),
            shown(record.score if record else None), shown(record.max_score if record else None),
            attempt.sha256, hand_in.source,
            str(attempt.directory / RESULT) if record and attempt.directory else "",
            "; ".join(one_line(line) for line in said if line)]


def summary(standings: Sequence[Standing], assignment: str) -> str:
    """Markdown."""
    unknown = of_unknown_time(standings)
    lines = [f"## {markdown(assignment)}: {counted(len(standings), 'student')}", "",
             markdown(together(standings)), "", *([markdown(unknown), ""] if unknown else []),
             "| student | points | of them for speed | late | |", "|---|---:|---:|---|---|"]
    lines += [row(markdown(each.student.known_as), share(each), speed_of(each), markdown(each.late),
                  markdown(note(each) or ("" if each.state == "graded" else each.state)))
              for each in standings]
    return "\n".join(lines) + "\n"


def together(standings: Sequence[Standing]) -> str:
    """One line: how many in which state, and the points."""
    states = Counter(each.state for each in standings)
    parts = [f"{count} {state}" for state, count in states.most_common()]
    got = [each.points for each in standings if each.points is not None]
    if got:
        parts.append(f"median {points(median(got))}, lowest {points(min(got))}, "
                     f"highest {points(max(got))} points")
    return "; ".join(parts)


def of_unknown_time(standings: Sequence[Standing]) -> str:
    """One line, once for all of them; empty where the time of each is known."""
    graded = [each for each in standings if each.state == "graded"]
    unknown = sum(each.time_unknown for each in graded)
    if not unknown:
        return ""
    who = "all" if unknown == len(graded) else f"{unknown} of {len(graded)}"
    return f"{who} submissions count as on time, because nothing says when they were handed in"


def share(each: Standing) -> str:
    return "/".join(filter(None, [shown(each.points), shown(each.possible)]))


def speed_of(each: Standing) -> str:
    return speed(each.record) if each.record else ""


def speed(record: Record) -> str:
    """Empty where nothing was timed."""
    found = record.timed
    return points(sum(each.score for each in found)) if found else ""


def shown(value: float | None) -> str:
    return "" if value is None else points(value)


def when(time: datetime | None) -> str:
    return time.isoformat(sep=" ", timespec="seconds") if time else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """CSV (RFC 4180) with a header; no cell is a formula."""
    return written([head, *([defused(one_line(cell)) for cell in cells] for cells in rows)]).decode()
