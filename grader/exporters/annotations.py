"""Annotations of a GitHub workflow: the mistakes beside the lines of kernel.cu that have them.

In: a record as students see it. Out: commands to the runner, `::error
file=...,line=...,title=...::message`, escaped as the runner's own toolkit escapes them.
"""

from __future__ import annotations

from ..record.model import Record, Test
from ..report.lines import lost, name, share, timed, whole
from ..text import one_line, plain

FILE = "kernel.cu"
AT_MOST = 10  # what GitHub shows of one kind and step

Place = tuple[str, int, str]
"""File, line and title."""


def export(record: Record) -> str:
    found = of_cases(record) if record.was_run else of_whole(record)
    lines = [command(place, message) for place, message in found[:AT_MOST]]
    if len(found) > AT_MOST:
        lines.append(f"{len(found) - AT_MOST} more are in the summary")
    return "".join(line + "\n" for line in lines)


def of_whole(record: Record) -> list[tuple[Place, str]]:
    where = record.refusal or record.build
    title = "refused" if record.refusal else "does not build"
    return [((where.file or "", where.line, title), "\n".join(whole(record)))]


def of_cases(record: Record) -> list[tuple[Place, str]]:
    """One annotation a mistake: cases that fail for the same reason at the same line share it."""
    by_mistake: dict[Place, tuple[list[str], list[str]]] = {}
    for item in (*record.tests, *timed(record)):  # what a suite lost, its cases say
        if item.status in ("passed", "skipped"):
            continue
        finding = item.finding.mistake if isinstance(item, Test) and item.finding else None
        place = ((finding.file or "", finding.line, finding.what) if finding
                 else ("", 0, item.reason))
        cases, _ = by_mistake.setdefault(place, ([], lost(item)))
        cases.append(f"{name(item)} ({share(item)})")
    return [(place, "\n".join([*lines, "in: " + ", ".join(cases)]))
            for place, (cases, lines) in by_mistake.items()]


def command(place: Place, message: str) -> str:
    """At a line of kernel.cu, or at the file as a whole."""
    file, line, title = place
    values = {"file": FILE, "title": one_line(title or "points lost", 200)}
    if file.rsplit("/", 1)[-1] == FILE and line > 0:
        values["line"] = str(line)
    properties = ",".join(f"{key}={data(value).replace(':', '%3A').replace(',', '%2C')}"
                          for key, value in values.items())
    return f"::error {properties}::{data(message)}"


def data(text: str) -> str:
    return plain(text, 4_000).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
