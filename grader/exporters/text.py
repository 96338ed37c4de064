"""Words for a record, and text that a reader's terminal, browser or runner takes for text only.

What a submission printed, its name, its functions' names in a finding: all of it is the student's,
and ends up in systems that give a meaning to control characters, to Markdown, or to lines that
begin with `::`. Each exporter escapes for its own format; what is common is here.
"""

from __future__ import annotations

from ..feedback import escaped
from ..record import Record, Test

ZERO_WIDTH_SPACE = "\u200b"


def plain(text: str, limit: int = 20_000) -> str:
    """Lines of visible characters, `limit` at most: everything else is shown as an escape."""
    text = text.replace("\r\n", "\n")
    if len(text) > limit:
        text = text[:limit] + "\n[cut off here]"
    return "".join(char if char.isprintable() or char in "\n\t" else escaped(char)
                   for char in text)


def one_line(text: str, limit: int = 500) -> str:
    return plain(" ".join(text.split()), limit).replace("\n", " ")


def without_commands(text: str) -> str:
    """For what others print into the log of a GitHub workflow: there, `::` at the beginning of a
    line and `##[` anywhere in it begin a command to the runner."""
    return text.replace("::", f":{ZERO_WIDTH_SPACE}:").replace("##[", f"#{ZERO_WIDTH_SPACE}#[")


def points(value: float) -> str:
    """4, 4.5, 33.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def number(value: float) -> int | float:
    """The same for JSON, without the dust of sums."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def shape(test: Test) -> str:
    """Empty for a hidden case in a student's view."""
    parts = [f"{name}={value}" for name, value in (("m", test.m), ("k", test.k), ("n", test.n))
             if value is not None]
    if test.fill is not None:
        parts.append(test.fill)
    return one_line(" ".join(parts))


def name(test: Test) -> str:
    return one_line(test.name if test.hidden or not test.title else f"{test.name}: {test.title}")


def place(file: str | None, line: int) -> str:
    if not file:
        return ""
    return one_line(f"{file}:{line}: " if line else f"{file}: ") + " "


def lost(test: Test) -> list[str]:
    """Why points were lost, as lines: the reason, the criteria that failed, the finding, the hint.
    Nothing that the submission printed."""
    if test.status == "passed":
        return []
    lines = [one_line(test.reason)] if test.reason else []
    for criterion in test.criteria:
        if not criterion.passed and criterion.reason and criterion.reason != test.reason:
            lines.append(f"{criterion.name}: {one_line(criterion.reason)}")
    hints = [test.hint]
    if test.finding:
        finding = test.finding
        headline = place(finding.file, finding.line) + one_line(finding.what)
        if headline.strip() not in lines:
            lines.append(headline.strip())
        lines += ["    " + one_line(line) for line in finding.detail]
        hints.append(finding.hint or "")
    lines += [f"hint: {one_line(hint)}" for hint in dict.fromkeys(hints) if hint]
    return lines


def whole(record: Record) -> list[str]:
    """What holds for the submission as a whole: it was refused, or does not compile; and what was
    changed before compiling."""
    lines = []
    if record.refusal:
        refusal = record.refusal
        lines.append(f"refused, 0 points: {place(refusal.file, refusal.line)}"
                     f"it {one_line(refusal.tried)}")
        if refusal.hint:
            lines.append(f"hint: {one_line(refusal.hint)}")
    elif not record.build.ok:
        build = record.build
        what = "does not build" if record.submission.bytes else "cannot be graded"
        lines.append(f"{what}: {place(build.file, build.line)}{one_line(build.message)}")
    lines += [f"note: {one_line(note)}" for note in record.submission.notes]
    return lines


def protection(record: Record) -> str:
    """How the submission was kept from the grader; a TA wants to know when it was not."""
    note = one_line(record.protection_note)
    if note.startswith(record.protection):
        return note
    return f"{record.protection} ({note})" if note else record.protection
