"""Annotations of a GitHub workflow: the mistakes beside the lines of kernel.cu that have them.

Each is a command to the runner on standard output, `::error file=...,line=...,title=...::message`;
what stands in it is escaped as the runner's own toolkit does it.
"""

from __future__ import annotations

from ..feedback import student_view
from ..record import Record, Test
from .text import lost, name, one_line, plain, points, status, timed, whole

FILE = "kernel.cu"
AT_MOST = 10  # what GitHub shows of one kind and step


def export(record: Record) -> str:
    record = student_view(record)
    found = of_whole(record) if record.refusal or not record.build.ok else of_cases(record)
    kept, dropped = found[:AT_MOST], len(found) - AT_MOST
    lines = [f"::error {properties(place)}::{data(message)}" for place, message in kept]
    if dropped > 0:
        lines.append(f"{dropped} more are in the summary")
    return "".join(line + "\n" for line in lines)


Found = list[tuple[dict[str, str], str]]


def of_whole(record: Record) -> Found:
    where = record.refusal or record.build
    return [(at(where.file, where.line, "refused" if record.refusal else "does not build"),
             "\n".join(whole(record)))]


def of_cases(record: Record) -> Found:
    """One annotation a mistake: cases that fail for the same reason at the same line share it."""
    by_mistake: dict[tuple[str, int, str], tuple[list[str], list[str]]] = {}
    for test in [*record.tests, *timed(record)]:
        if status(test) in ("passed", "skipped"):
            continue
        finding = test.finding if isinstance(test, Test) else None
        key = ((finding.file or "", finding.line, finding.what) if finding
               else ("", 0, test.reason))
        cases, lines = by_mistake.setdefault(key, ([], lost(test)))
        cases.append(f"{name(test)} ({points(test.score)} of {points(test.max_score)} points)")
    return [
        (at(file, line, what or "points lost"), "\n".join([*lines, "in: " + ", ".join(cases)]))
        for (file, line, what), (cases, lines) in by_mistake.items()
    ]


def at(file: str | None, line: int, title: str) -> dict[str, str]:
    """A place in kernel.cu, or the file as a whole."""
    found = {"file": FILE, "title": one_line(title, 200)}
    if is_kernel(file) and line > 0:
        found["line"] = str(line)
    return found


def is_kernel(file: str | None) -> bool:
    return file is not None and file.rsplit("/", 1)[-1] == FILE


def properties(values: dict[str, str]) -> str:
    return ",".join(f"{key}={data(value).replace(':', '%3A').replace(',', '%2C')}"
                    for key, value in values.items())


def data(text: str) -> str:
    return (plain(text, 4_000).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
