"""The results of a class as one Markdown table. For TAs: it names students, with their points.

In: the records of a class. Out: Markdown.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ..record import Record
from ..wording import counted, points, timed, whole
from .summary import markdown, row, share


def export(records: Sequence[Record]) -> str:
    if not records:
        return "No results.\n"
    lines = [f"## {counted(len(records), 'submission')}", "", together(records), "",
             "| submission | points | of them for speed | |", "|---|---:|---:|---|"]
    lines += [row(markdown(record.submission.name), share(record), of_speed(record),
                  markdown("; ".join(whole(record))))
              for record in sorted(records, key=lambda record: record.submission.name)]
    return "\n".join(lines) + "\n"


def together(records: Sequence[Record]) -> str:
    if len({(*record.suites, record.backend, record.max_score) for record in records}) > 1:
        return "They were not all graded on the same cases, so these points cannot be compared."
    scores = [record.score for record in records]
    return (f"median {points(median(scores))}, lowest {points(min(scores))}, "
            f"highest {points(max(scores))} of {points(records[0].max_score)} points")


def of_speed(record: Record) -> str:
    """Empty where nothing was timed."""
    found = timed(record)
    return points(sum(each.score for each in found)) if found else ""
