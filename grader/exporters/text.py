"""Words for a record, and text that a reader's terminal, browser or runner takes for text only.

What a submission printed, its name, its functions' names in a finding: all of it is the student's,
and ends up in systems that give a meaning to control characters, to Markdown, or to lines that
begin with `::`. Each exporter escapes for its own format; what is common is here.
"""

from __future__ import annotations

from ..feedback import escaped
from ..record import Record, Test, Times, Timing
from ..score import NO_GPU, nothing_lost, status_of_timing

Item = Test | Timing

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


def shape(item: Item) -> str:
    """Empty for a hidden case in a student's view."""
    parts = [f"{name}={value}" for name, value in (("m", item.m), ("k", item.k), ("n", item.n))
             if value is not None]
    if isinstance(item, Test) and item.fill is not None:
        parts.append(item.fill)
    return one_line(" ".join(parts))


def name(item: Item) -> str:
    return one_line(item.name if item.hidden or not item.title else f"{item.name}: {item.title}")


def status(item: Item) -> str:
    return item.status if isinstance(item, Test) else status_of_timing(item)


def placed(file: str | None, line: int, what: str) -> str:
    """With the place in front, unless the words begin with it already."""
    place = one_line(f"{file}:{line}:" if line else f"{file}:") if file else ""
    what = one_line(what)
    return what if not place or what.startswith(place) else f"{place} {what}"


def timed(record: Record) -> list[Timing]:
    """What was not timed for want of a GPU is no part of the grade."""
    return [timing for timing in record.performance if timing.state != "not-timed"]


def graded(record: Record) -> list[Item]:
    """All that earns points, or could have."""
    return [*record.tests, *timed(record)]


def not_timed(record: Record) -> str:
    """One line about the others; empty where there are none."""
    count = len(record.performance) - len(timed(record))
    shapes = "1 shape" if count == 1 else f"{count} shapes"
    return f"Speed: {shapes} {NO_GPU}. This costs no points." if count else ""


def measured(timing: Timing) -> str:
    """The times beside each other; empty where none are told."""
    if not (timing.times and timing.cublas_times and timing.ratio is not None):
        return ""
    limits = "" if timing.none is None or timing.full is None else \
        f"; points from {timing.none:g} to {timing.full:g}"
    return one_line(f"{milliseconds(timing.times)}, cuBLAS {milliseconds(timing.cublas_times)}, ratio "
                    f"{timing.ratio:.3f}{limits}; {timing.samples} calls on {timing.device}")


def milliseconds(times: Times | None) -> str:
    return f"{times.median * 1e3:.3f} ms" if times else ""


def lost(item: Item) -> list[str]:
    """Why points were lost, as lines: the reason, the criteria that failed, the finding, the hint.
    Nothing that the submission printed."""
    return lost_by_speed(item) if isinstance(item, Timing) else lost_by_case(item)


def lost_by_speed(timing: Timing) -> list[str]:
    if nothing_lost(timing):
        return []
    lines = [one_line(timing.reason)] if timing.reason else []
    return lines + ([f"hint: {one_line(timing.hint)}"] if timing.hint else [])


def lost_by_case(test: Test) -> list[str]:
    if test.status == "passed":
        return []
    lines = [one_line(test.reason)] if test.reason else []
    for criterion in test.criteria:
        if not criterion.passed and criterion.reason and criterion.reason != test.reason:
            lines.append(f"{criterion.name}: {one_line(criterion.reason)}")
    hints = [test.hint]
    if test.finding:
        finding = test.finding
        headline = placed(finding.file, finding.line, finding.what)
        if headline not in lines:
            lines.append(headline)
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
        lines.append(f"refused, 0 points: {placed(refusal.file, refusal.line, '')}"
                     f"it {one_line(refusal.tried)}")
        if refusal.hint:
            lines.append(f"hint: {one_line(refusal.hint)}")
    elif not record.build.ok:
        build = record.build
        what = "does not build" if record.submission.bytes else "cannot be graded"
        lines.append(f"{what}: {placed(build.file, build.line, build.message)}")
    lines += [f"note: {one_line(note)}" for note in record.submission.notes]
    return lines


def protection(record: Record) -> str:
    """How the submission was kept from the grader; a TA wants to know when it was not."""
    note = one_line(record.protection_note)
    if note.startswith(record.protection):
        return note
    return f"{record.protection} ({note})" if note else record.protection
