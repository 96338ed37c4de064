"""A record in words, shared by the report on the terminal and the exporters.

In: a record, or one item of it, as its reader may see it (record/student.py). Out: lines of plain text,
each visible characters only; every format escapes them further for itself. Nothing here raises.
"""

from collections.abc import Iterable, Sequence

from ..record.model import AnyResult as Item
from ..record.model import Mark, Record, Test, Times, Timing
from ..text import one_line


def points(value: float) -> str:
    """4, 4.5, 33.33."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def share(item: Item | Record) -> str:
    return f"{points(item.score)} more points" if of_repair(item) else parts(item.score, item.max_score)


def parts(score: float, most: float) -> str:
    return f"{points(score)} of {points(most)} points"


def fraction(item: Item) -> str:
    """The same in short: 3.5/4."""
    return f"+{points(item.score)}" if of_repair(item) else f"{points(item.score)}/{points(item.max_score)}"


def of_repair(item: object) -> bool:
    return isinstance(item, Mark) and item.criterion == "repair"


def number(value: float) -> int | float:
    """For JSON: a whole number where it is one, without the rounding errors of sums."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def shape(item: Item) -> str:
    """Empty for a hidden case in a student's view."""
    parts = [f"{name}={value}" for name, value in (item.params or {}).items()]
    if isinstance(item, Test) and item.fill is not None:
        parts.append(item.fill)
    return one_line(" ".join(parts))


def name(item: Item) -> str:
    if isinstance(item, Mark):
        return one_line(f"{item.title} ({item.suite})")
    return one_line(item.name if item.hidden or not item.title else f"{item.name}: {item.title}")


def placed(file: str | None, line: int, what: str) -> str:
    """With the place in front, unless the words begin with it already."""
    place = one_line(f"{file}:{line}:" if line else f"{file}:") if file else ""
    what = one_line(what)
    return what if not place or what.startswith(place) else f"{place} {what}"


# ---- speed ---------------------------------------------------------------------------------------


def timed(record: Record) -> list[Timing]:
    """What was not timed because there is no GPU is no part of the grade."""
    return [timing for timing in record.performance if timing.state != "not-timed"]


def graded(record: Record) -> list[Item]:
    """All that earns points, or could have."""
    return [*record.tests, *record.marks, *timed(record)]


def not_timed(timings: Iterable[Timing]) -> str:
    """One line about those that were not; empty where all were."""
    untimed = any(timing.state == "not-timed" for timing in timings)
    return "Speed was not timed (no GPU); this costs no points." if untimed else ""


def beside(timings: Sequence[Timing]) -> str:
    """What all of them are timed beside."""
    return timings[0].beside if timings else ""


def measured(timing: Timing) -> str:
    """Both times and their ratio; empty where they are not known, or not shown."""
    if not (timing.times and timing.beside_times and timing.ratio is not None):
        return ""
    limits = "" if timing.none is None or timing.full is None else \
        f"; points from {timing.none:g} to {timing.full:g}"
    return one_line(f"{milliseconds(timing.times)}, {timing.beside} {milliseconds(timing.beside_times)}, "
                    f"ratio {ratio(timing)}{limits}; {timing.samples} calls on {timing.device}")


def milliseconds(times: Times | None) -> str:
    return f"{times.median * 1e3:.3f} ms" if times else ""


def ratio(timing: Timing) -> str:
    return f"{timing.ratio:.3f}" if timing.ratio is not None else ""


# ---- why -----------------------------------------------------------------------------------------


def reason(item: Item) -> str:
    """With the cases in which a whole suite's points were lost."""
    if isinstance(item, Mark) and item.lost_in:
        more = f" and {len(item.lost_in) - 2} more" if len(item.lost_in) > 2 else ""
        return one_line(f"{item.reason}; in {', '.join(item.lost_in[:2])}{more}")
    return one_line(item.reason)


def lost(item: Item) -> list[str]:
    """Why points were lost, as lines: the reason, the criteria that failed, the finding, the hint.
    Nothing that the submission printed."""
    if item.nothing_lost:
        return [one_line(item.reason)] if of_repair(item) else []
    lines, hints = [reason(item)] if item.reason else [], [item.hint]
    if isinstance(item, Test):
        lines += [f"{criterion.name}: {one_line(criterion.reason)}" for criterion in item.criteria
                  if not criterion.passed and criterion.reason not in ("", item.reason)]
        if item.finding:
            finding, mistake = item.finding, item.finding.mistake
            headline = placed(mistake.file, mistake.line, mistake.what)
            lines += [] if any(headline in line for line in lines) else [headline]
            lines += ["    " + one_line(line) for line in finding.below]
            hints.append(mistake.hint or "")
    return lines + [f"hint: {one_line(hint)}" for hint in dict.fromkeys(hints) if hint]


def whole(record: Record) -> list[str]:
    """What holds for the submission as a whole: it was refused, or does not compile; and what was
    changed before compiling."""
    lines, refusal, build = [], record.refusal, record.build
    if refusal:
        lines.append(f"refused, 0 points: {placed(refusal.file, refusal.line, '')}it {one_line(refusal.tried)}")
        if refusal.hint:
            lines.append(f"hint: {one_line(refusal.hint)}")
    elif not build.ok:
        what = "does not build" if record.submission.bytes else "unusable"
        lines.append(f"{what}: {placed(build.file, build.line, build.message)}")
    return lines + [f"note: {one_line(note)}" for note in record.submission.notes]


def protection(record: Record) -> str:
    """The sandbox; a TA should see when there was none."""
    note = one_line(record.protection_note)
    if note.startswith(record.protection):
        return note
    return f"{record.protection} ({note})" if note else record.protection
