"""Markdown: for $GITHUB_STEP_SUMMARY, or an issue, or a mail.

What came from a submission is text and nothing else: every character that Markdown, HTML or GitHub
(mentions, references, commands) gives a meaning to is written as a character reference, which
Markdown shows and never reads as structure. Only what a submission printed may span lines, in a
<pre>.
"""

from __future__ import annotations

from ..record import Record, Test, Timing
from .text import (ZERO_WIDTH_SPACE, Item, lost, milliseconds, name, not_timed, one_line, plain,
                   points, protection, shape, status, timed, whole)

LARGEST = 900_000  # bytes; GitHub drops a step's summary over 1 MiB
HARMLESS = " ,;()/=+%'"
SIGNS = {"passed": "✅", "partial": "🟡", "failed": "❌", "skipped": "⏭️"}


def export(record: Record, largest: int = LARGEST) -> str:
    """`largest` bytes at most, where the details of the cases are left out first, and then
    everything but the totals."""
    for parts in ([heading, table, speed, details], [heading, table, speed], [heading]):
        text = "\n".join(part(record) for part in parts)
        if len(text.encode()) <= largest:
            break
    return text


def heading(record: Record) -> str:
    lines = [f"## {points(record.score)} of {points(record.max_score)} points", "",
             f"{markdown(record.submission.name)} on the {record.backend} backend; "
             f"sandbox: {markdown(protection(record))}", ""]
    lines += [f"- {markdown(line)}" for line in whole(record)]
    if not record.complete:
        lines.append("- the run has not ended: these are the cases so far")
    if not record.build.ok and record.build.output and not record.refusal:
        lines += ["", preformatted(record.build.output)]
    return "\n".join(lines) + "\n"


def table(record: Record) -> str:
    if not record.tests:
        return ""
    lines = ["| | case | shape | points | reason |", "|---|---|---|---:|---|"]
    lines += [f"| {SIGNS[test.status]} | {markdown(name(test))} | {markdown(shape(test))} "
              f"| {points(test.score)}/{points(test.max_score)} "
              f"| {markdown(reason(test))} |" for test in record.tests]
    return "\n".join(lines) + "\n"


def speed(record: Record) -> str:
    """What was timed as a table; a line for what was not."""
    lines = [f"{markdown(not_timed(record))}"] if not_timed(record) else []
    if timed(record):
        lines = ["| | speed | shape | time | cuBLAS | ratio | points | reason |",
                 "|---|---|---|---:|---:|---:|---:|---|",
                 *map(row_of_speed, timed(record)), "", *lines]
    return "\n".join(lines) + "\n" if lines else ""


def row_of_speed(timing: Timing) -> str:
    ratio = f"{timing.ratio:.3f}" if timing.ratio is not None else ""
    return (f"| {SIGNS[status(timing)]} | {markdown(name(timing))} | {markdown(shape(timing))} "
            f"| {milliseconds(timing.times)} | {milliseconds(timing.cublas_times)} | {ratio} "
            f"| {points(timing.score)}/{points(timing.max_score)} | {markdown(reason(timing))} |")


def reason(test: Item) -> str:
    said = lost(test)
    return said[0] if said else ""


def details(record: Record) -> str:
    return "\n".join(detail(test) for test in record.tests if len(lost(test)) > 1 or test.output)


def detail(test: Test) -> str:
    lines = [f"<details><summary>{SIGNS[test.status]} {markdown(name(test))}</summary>", ""]
    if lost(test):
        lines += [preformatted("\n".join(lost(test)))]
    if test.output:
        lines += ["", "It printed:", "", preformatted(test.output)]
    return "\n".join([*lines, "", "</details>", ""])


def markdown(text: str) -> str:
    """One line of plain text."""
    return "".join(map(reference, one_line(text)))


def preformatted(text: str) -> str:
    """Lines of plain text. An empty line would end the block of HTML, so line ends are written as
    references, too."""
    return f"<pre>{''.join(map(reference, plain(text)))}</pre>"


def reference(char: str) -> str:
    if char.isalnum() or char in HARMLESS or not char.isascii():
        return char
    # GitHub looks for mentions and for numbers of issues in what the references have become, too.
    stop = ZERO_WIDTH_SPACE if char in "@#" else ""
    return f"&#{ord(char)};{stop}"
