"""What is wrong in a submission.

In: a record, as its reader may see it. Out: its mistakes; cases that lost points for the same
reason at the same line are one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...feedback import LOST, SPEED
from ...findings import KINDS
from ...outcome import Finding
from ...record import Record, Test
from ...wording import Item

KERNEL = "kernel.cu"


@dataclass(frozen=True)
class Mistake:
    kind: str
    """Of a finding; or "refused", "build", a criterion, a state of a timed shape."""
    label: str
    """In words without numbers: the same for all shapes and all students."""
    line: int = 0
    """Of kernel.cu; 0: not known."""
    items: tuple[Item, ...] = ()
    """What lost points for it, in the order of the suites; empty: everything."""


def mistakes_of(record: Record) -> list[Mistake]:
    """In the order in which they were found."""
    if record.refusal:
        refusal = record.refusal
        return [Mistake("refused", f"refused: it {without_numbers(refusal.tried)}",
                        line_of(refusal.file, refusal.line))]
    if not record.build.ok:
        return [Mistake("build", "does not compile", line_of(record.build.file, record.build.line))]
    found: dict[Mistake, list[Item]] = {}
    for item in record.items:
        if not item.nothing_lost and item.status != "skipped":
            found.setdefault(mistake_of(item), []).append(item)
    return [replace(each, items=tuple(items)) for each, items in found.items()]


def mistake_of(item: Item) -> Mistake:
    if not isinstance(item, Test):
        return Mistake(item.state, f"speed: {SPEED[item.state]}")
    if item.finding:
        finding = item.finding
        return Mistake(finding.kind, label_of(finding), line_of(finding.file, finding.line))
    lost = next(each.name for each in item.criteria if not each.passed)
    return Mistake(lost, LOST[lost])


def label_of(finding: Finding) -> str:
    """The finding's own words; or its kind's, where these have numbers or places in them."""
    kind = KINDS.get(finding.kind)  # none in a record of another version
    return kind.headline if kind and re.search(r"\d", finding.what) else finding.what


def without_numbers(text: str) -> str:
    return re.sub(r" *\([^)]*\d[^)]*\)", "", text)


def line_of(file: str | None, line: int) -> int:
    """0 for a line of another file."""
    return line if file and file.rsplit("/", 1)[-1].lower() == KERNEL else 0
