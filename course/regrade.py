"""What another version of the cases, or of the grader, changes: who gains, who loses, on which case
and why. In: two standings of each student. Out: rows, as a table and as CSV. Nothing here raises."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.text import Text

from .console import paragraph
from .gradebook import shown, table
from .model import Standing
from .record import Item, Record
from .text import counted, harmless, one_line, points

COLUMNS = ("student", "before", "after", "change", "case", "case_before", "case_after", "why")
MOST_STUDENTS = 30
MOST_CASES = 4


@dataclass(frozen=True)
class CaseChange:
    name: str
    before: float | None
    """None: there was no such case."""
    after: float | None
    why: str


@dataclass(frozen=True)
class Change:
    name: str
    before: float | None
    after: float | None
    cases: tuple[CaseChange, ...] = ()

    @property
    def gained(self) -> float:
        return (self.after or 0.0) - (self.before or 0.0)


def changes(before: Iterable[Standing], after: Iterable[Standing]) -> list[Change]:
    """Of those whose points or cases are others; most lost first, then most gained."""
    old = {each.student.folder: each for each in before}
    found = [change_of(old[each.student.folder], each) for each in after]
    return sorted((each for each in found if each.before != each.after or each.cases),
                  key=lambda each: (each.gained >= 0, -abs(each.gained), each.name))


def change_of(before: Standing, after: Standing) -> Change:
    found = case_changes(before.record, after.record)
    if before.counted and after.counted and before.counted.number != after.counted.number:
        found.insert(0, CaseChange("", None, None, f"attempt {after.counted.number} counts, not "
                                                   f"{before.counted.number}"))
    return Change(after.student.known_as, before.points, after.points, tuple(found))


def case_changes(before: Record | None, after: Record | None) -> list[CaseChange]:
    if before is None or after is None:
        return []
    old = {item.key: item for item in before.items}
    new = {item.key: item for item in after.items}
    found = []
    for key in {**old, **new}:
        was, now = old.get(key), new.get(key)
        if was is None or now is None or was.score != now.score:
            found.append(CaseChange(key, was.score if was else None, now.score if now else None,
                                    reason(was, now)))
    return found


def reason(was: Item | None, now: Item | None) -> str:
    if now is None:
        return "the case is gone"
    if was is None:
        return one_line(f"a new case: {now.reason or 'kept'}", 120)
    if was.max_score != now.max_score:
        return f"it is worth {points(now.max_score)}, not {points(was.max_score)} points"
    return one_line(now.reason or f"no longer: {was.reason}", 120)


def as_csv(found: Sequence[Change]) -> str:
    rows = []
    for each in found:
        student = [each.name, shown(each.before), shown(each.after), points(each.gained)]
        cases = each.cases or (CaseChange("", None, None, ""),)
        rows += [[*student, case.name, shown(case.before), shown(case.after), case.why]
                 for case in cases]
    return table(COLUMNS, rows)


def show(found: Sequence[Change], total: int, console: Console) -> RenderableType:
    """At most so many students as can be read; the rest is in the CSV file."""
    gain = sum(each.gained > 0 for each in found)
    lose = sum(each.gained < 0 for each in found)
    lines = [Text(f"{counted(total, 'student')}: fewer points for {lose}, more for {gain}", "bold")]
    for each in found[:MOST_STUDENTS]:
        lines.append(paragraph(
            f"{harmless(one_line(each.name, 60))}: {shown(each.before) or 'no points'} -> "
            f"{shown(each.after) or 'no points'} ({each.gained:+g})", console,
            style="red" if each.gained < 0 else "green" if each.gained > 0 else ""))
        for case in each.cases[:MOST_CASES]:
            got = f"{case.name}: {shown(case.before) or '-'} -> {shown(case.after) or '-'}: "
            lines.append(paragraph(harmless((got if case.name else "") + case.why), console, 4))
        if len(each.cases) > MOST_CASES:
            lines.append(Text(f"    and {counted(len(each.cases) - MOST_CASES, 'case')} more"))
    if len(found) > MOST_STUDENTS:
        lines.append(Text(f"and {counted(len(found) - MOST_STUDENTS, 'student')} more"))
    by_case = Counter(case.name for each in found for case in each.cases if case.name)
    if by_case:
        most = ", ".join(f"{harmless(name)} ({count})" for name, count in by_case.most_common(5))
        lines.append(paragraph(f"cases that changed for most students: {most}", console))
    return Group(*lines)
