"""For GitHub: a summary in Markdown, for $GITHUB_STEP_SUMMARY, or an issue, or a mail; and annotations of a
workflow, the mistakes beside the lines of kernel.cu that have them.

In: a record as its reader may see it. What came from a submission is text and nothing else: in a
summary, whatever has a meaning in Markdown, HTML or on GitHub (mentions, references, links, emoji,
commands) is escaped, and only that: kernel.cu:29 stays as it is. Only what a submission printed may
span lines, in a <pre>. Annotations are commands to the runner, `::error file=...,line=...,title=...::message`,
escaped as its own toolkit escapes them.
"""

import re

from ..record.model import Record, Test
from ..report.lines import (Item, beside, fraction, lost, milliseconds, name, not_timed, protection, ratio,
                            shape, share, timed, whole)
from ..text import one_line, plain

ZERO_WIDTH_SPACE = "\u200b"
LARGEST = 900_000  # bytes; GitHub drops a step's summary over 1 MiB
UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")  # within a word it is no emphasis
AUTOLINK = re.compile(r"\b(?:https?|ftp|mailto|xmpp):|\bwww\.", re.IGNORECASE)
EMOJI = re.compile(r":(?=(?:[\w+-]*[a-z_+-][\w+-]*|100|1234):)", re.IGNORECASE | re.ASCII)
AT_THE_BEGINNING = re.compile(r"^(\d*)([-+=.)#])")  # headings, lists, rules
SIGNS = {"passed": "✅", "partial": "🟡", "failed": "❌", "skipped": "⏭️"}


def summary(record: Record, largest: int = LARGEST) -> str:
    """`largest` bytes at most, where the details of the cases are left out first, and then
    everything but the totals."""
    for parts in ([heading, table, speed, details], [heading, table, speed], [heading]):
        text = "\n".join(part(record) for part in parts)
        if len(text.encode()) <= largest:
            break
    return text


def heading(record: Record) -> str:
    lines = [f"## {share(record)}", "",
             f"{markdown(record.submission.name)} on the {record.backend} backend; "
             f"sandbox: {markdown(protection(record))}", ""]
    lines += [f"- {markdown(line)}" for line in whole(record)]
    if not record.build.ok and record.build.output and not record.refusal:
        lines += ["", preformatted(record.build.output)]
    return "\n".join(lines) + "\n"


def table(record: Record) -> str:
    if not record.tests:
        return ""
    lines = ["| | case | shape | points | reason |", "|---|---|---|---:|---|",
             *(row(item, fraction(item)) for item in (*record.tests, *record.marks))]
    return "\n".join(lines) + "\n"


def speed(record: Record) -> str:
    """What was timed as a table; a line for what was not."""
    lines = [row(timing, milliseconds(timing.times), milliseconds(timing.beside_times), ratio(timing), fraction(timing))
             for timing in timed(record)]
    if lines:
        lines = [f"| | speed | shape | time | {markdown(beside(timed(record)))} | ratio | points | reason |",
                 "|---|---|---|---:|---:|---:|---:|---|", *lines, ""]
    if not_timed(record.performance):
        lines.append(markdown(not_timed(record.performance)))
    return "\n".join(lines) + "\n" if lines else ""


def row(item: Item, *cells: str) -> str:
    """Its name in front, why points were lost behind."""
    named = SIGNS[item.status], markdown(name(item)), markdown(shape(item))
    return f"| {' | '.join((*named, *cells, markdown(next(iter(lost(item)), ''))))} |"


def details(record: Record) -> str:
    return "\n".join(detail(test) for test in record.tests if len(lost(test)) > 1 or test.output)


def detail(test: Test) -> str:
    lines = [f"<details><summary>{SIGNS[test.status]} {html(name(test))}</summary>", ""]
    if lost(test):
        lines += [preformatted("\n".join(lost(test)))]
    if test.output:
        lines += ["", "It printed:", "", preformatted(test.output)]
    return "\n".join([*lines, "", "</details>", ""])


def markdown(text: str) -> str:
    """One line of plain text: what Markdown makes of it reads like it, and is nothing else."""
    shown = UNDERSCORE.sub("\\_", re.sub(r"[\\`*\[\]~]", r"\\\g<0>", one_line(text)))
    shown = re.sub(r"[&<>|$]", as_reference, shown)
    shown = AUTOLINK.sub(lambda found: found[0][:-1] + as_reference(found[0][-1]), shown)
    shown = AT_THE_BEGINNING.sub(lambda found: f"{found[1]}\\{found[2]}", shown)
    return without_meaning(EMOJI.sub(f":{ZERO_WIDTH_SPACE}", shown))


def preformatted(text: str) -> str:
    """Lines of plain text. Within <pre> only HTML has a meaning; a bar at the beginning of a line
    is escaped because it would look like a table in the source."""
    return f"<pre>{html(plain(text))}</pre>"


def html(text: str) -> str:
    return without_meaning(re.sub(r"[&<>]|^\|", as_reference, text, flags=re.MULTILINE))


def as_reference(char: str | re.Match[str]) -> str:
    return f"&#{ord(char if isinstance(char, str) else char[0])};"


def without_meaning(text: str) -> str:
    """Disarms what GitHub looks for in any text, references included: mentions and issue numbers;
    and commands to the runner, at the beginning of a line in a log."""
    text = re.sub(r"@|(?<!&)#(?=[\w#\[])|(?<!&)#$", rf"\g<0>{ZERO_WIDTH_SPACE}", text,
                  flags=re.MULTILINE)
    return re.sub(r"^(\s*:)(?=:)", rf"\1{ZERO_WIDTH_SPACE}", text, flags=re.MULTILINE)


# ---- annotations ---------------------------------------------------------------------------------

FILE = "kernel.cu"
AT_MOST = 10  # what GitHub shows of one kind and step

Place = tuple[str, int, str]  # file, line and title


def annotations(record: Record) -> str:
    where, title = record.refusal or record.build, "refused" if record.refusal else "does not build"
    found = of_cases(record) if record.was_run else [((where.file or "", where.line, title), "\n".join(whole(record)))]
    lines = [command(place, message) for place, message in found[:AT_MOST]]
    if len(found) > AT_MOST:
        lines.append(f"{len(found) - AT_MOST} more are in the summary")
    return "".join(line + "\n" for line in lines)


def of_cases(record: Record) -> list[tuple[Place, str]]:
    """One annotation a mistake: cases that fail for the same reason at the same line share it."""
    by_mistake: dict[Place, tuple[list[str], list[str]]] = {}
    for item in (*record.tests, *timed(record)):  # what a suite lost, its cases say
        if item.status in ("passed", "skipped"):
            continue
        finding = item.finding.mistake if isinstance(item, Test) and item.finding else None
        place = ((finding.file or "", finding.line, finding.what) if finding else ("", 0, item.reason))
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
