"""What is wrong in a submission.

In: a record, as its reader may see it. Out: its mistakes; cases that lost points for the same
reason at the same line are one. The reason is a finding, or where that is known, its cause.
"""

import re
from dataclasses import dataclass, replace

from ..record import SOURCE, Case, Finding, Item, Record
from ..record import Mistake as Named


REFUSED = "refused"


@dataclass(frozen=True)
class Mistake:
    kind: str
    """Of a cause or a finding; or REFUSED, "build", a criterion, a state of a timed shape."""
    label: str
    """In words without numbers: the same for all shapes and all students."""
    line: int = 0
    """Of kernel.cu; 0: not known."""
    items: tuple[Item, ...] = ()
    """What lost points for it, in the order of the suites; empty: everything."""

    @property
    def words(self) -> str:
        """Its own, of the first case: for who wrote the line."""
        first = self.items[0] if self.items else None
        finding = first.finding if isinstance(first, Case) else None
        return finding.mistake.what if finding else self.label

    @property
    def symptoms(self) -> set[str]:
        """The kinds of findings in which it showed, if it is the cause of them."""
        return {item.finding.kind for item in self.items
                if isinstance(item, Case) and item.finding and item.finding.cause}


def mistakes_of(record: Record) -> list[Mistake]:
    """In the order in which they were found."""
    if record.refusal:
        refusal = record.refusal
        return [Mistake(REFUSED, f"refused: it {without_numbers(refusal.tried)}",
                        line_of(refusal.file, refusal.line))]
    if not record.build.ok:
        return [Mistake("build", "does not compile", line_of(record.build.file, record.build.line))]
    found: dict[Mistake, list[Item]] = {}
    for item in (*record.tests, *record.performance):  # what a suite lost, its cases say
        if not item.nothing_lost and not item.skipped:
            found.setdefault(mistake_of(item), []).append(item)
    return [replace(each, items=tuple(items)) for each, items in found.items()]


def mistake_of(item: Item) -> Mistake:
    if not isinstance(item, Case):
        return Mistake(item.state, f"speed: {numbers_as_n(item.reason)}")
    if item.finding:
        mistake = item.finding.mistake
        return Mistake(mistake.kind, label_of(mistake), line_of(mistake.file, mistake.line))
    lost = next((each for each in item.criteria if not each.passed), None)
    if lost is None:
        return Mistake("lost", numbers_as_n(item.reason))
    reason = lost.reason or item.reason
    if lost.phrase and re.search(r"\d", reason):
        reason = lost.phrase
    return Mistake(lost.name, f"{lost.name}: {numbers_as_n(reason)}")


def label_of(mistake: Named) -> str:
    """Its own words; where they have numbers in them, those of its kind, or without the numbers."""
    if not re.search(r"\d", mistake.what):
        return mistake.what
    if isinstance(mistake, Finding):
        return mistake.headline
    return numbers_as_n(mistake.what)


def numbers_as_n(text: str) -> str:
    """The same for all shapes."""
    return re.sub(r"\d[\d,.]*\d|\d", "N", text)


def without_numbers(text: str) -> str:
    return re.sub(r" *\([^)]*\d[^)]*\)", "", text)


def line_of(file: str | None, line: int) -> int:
    """0 for a line of another file."""
    return line if file and file.rsplit("/", 1)[-1].lower() == SOURCE else 0
