"""Which attempt counts, what being late costs, and changes by hand: from attempts to standings.

Raw points are those of the record, and are kept beside whatever is made of them. All of it is
arithmetic on what class.toml, the roster and overrides.csv say; course/README.md says the same to
instructors. Nothing here raises.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from .text import counted, points
from .model import Attempt, Override, Standing, Student
from .settings import Settings, late_units

ROUNDING = 2
"""Decimals of points after a deduction."""


@dataclass(frozen=True)
class Lateness:
    after: timedelta = timedelta()
    """After the deadline, with extension; 0 or less, or within the grace: in time."""
    percent: float = 0.0
    days_used: int = 0
    unknown: bool = False
    """Late, by an unknown time."""

    @property
    def late(self) -> bool:
        return self.unknown or self.after > timedelta()


def attempts_to_grade(attempts: Sequence[Attempt], settings: Settings,
                      override: Override | None = None) -> list[Attempt]:
    """Those that can count: all of them, or one where time alone decides."""
    if settings.attempts == "best":
        return [each for each in attempts if each.sha256]
    if not attempts:
        return []
    chosen = by_time(Standing(attempts[0].student, "waiting", tuple(attempts), override=override),
                     settings)
    return [chosen] if chosen.sha256 else []


def standing_of(student: Student, attempts: Sequence[Attempt], settings: Settings,
                override: Override | None) -> Standing:
    """`attempts`: by time, with what is known of their results."""
    standing = Standing(student, "missing", tuple(attempts), override=override)
    if attempts:
        standing = with_points(standing, settings)
    if not student.enrolled:
        standing = with_note(standing, "not on the roster", human=True)
    return changed_by_hand(standing)


def with_points(standing: Standing, settings: Settings) -> Standing:
    counted_one = (best if settings.attempts == "best" else by_time)(standing, settings)
    standing = replace(standing, counted=counted_one)
    times = {each.hand_in.submitted for each in standing.attempts} - {None}
    if settings.attempts != "best" and len(times) < len(standing.attempts) > 1:
        standing = with_note(standing, f"{len(standing.attempts)} hand-ins, not each with a time of its own: "
                                       "which is the last?", True)
    if counted_one.problem:
        return with_note(replace(standing, state="unusable"), counted_one.problem, True)
    can_count = attempts_to_grade(standing.attempts, settings, standing.override)
    faults = list(dict.fromkeys(each.fault for each in can_count if each.fault))
    for fault in faults:
        standing = with_note(standing, f"the machine's fault: {fault}", True)
    record = counted_one.record
    if record is None:
        return replace(standing, state="fault" if faults else "waiting")
    late = lateness(counted_one, standing, settings)
    deducted = round(record.score * late.percent / 100, ROUNDING)
    standing = replace(
        standing, state="graded", raw=record.score, points=round(record.score - deducted, ROUNDING),
        possible=record.max_score, deducted=deducted, late=in_words(late, deducted),
        late_days_used=late.days_used)
    if faults or counted_one.old:
        standing = with_note(standing, "points from an earlier run", True)
    if late.unknown:
        what = "give the time in overrides.csv" if settings.deadline else "class.toml has no deadline"
        standing = with_note(standing, f"late, but not known by how much: {what}", True)
    elif settings.deadline and counted_one.hand_in.submitted is None and counted_one.hand_in.late is None:
        standing = replace(standing, time_unknown=True)
    if record.refusal or record.needs_review:
        standing = replace(standing, needs_human=True)
    return standing


# ---- which one -----------------------------------------------------------------------------------


def by_time(standing: Standing, settings: Settings) -> Attempt:
    """The last one; or the last in time, and where none is, the first. There is at least one."""
    attempts = standing.attempts
    if settings.attempts == "last-in-time" and settings.deadline:
        in_time = [each for each in attempts if not lateness(each, standing, settings).late]
        return in_time[-1] if in_time else attempts[0]
    return attempts[-1]


def best(standing: Standing, settings: Settings) -> Attempt:
    """The one with most points after what lateness costs; of equal ones the first. Before those that
    have no points, and among these the last that can be graded. There is at least one."""

    def worth(each: Attempt) -> tuple[bool, bool, float, int]:
        got = 0.0
        if each.record:
            percent = lateness(each, standing, settings).percent
            got = round(each.record.score * (100 - percent) / 100, ROUNDING)
        number = -each.number if each.record else each.number
        return each.record is not None, not each.problem, got, number

    return max(standing.attempts, key=worth)


# ---- late ----------------------------------------------------------------------------------------


def lateness(attempt: Attempt, standing: Standing, settings: Settings) -> Lateness:
    """Extensions move the deadline; the grace does not, it only forgives a little; late days come
    off before anything is deducted."""
    override, rule, submitted = standing.override, settings.late, attempt.hand_in.submitted
    if submitted is None:
        return Lateness(unknown=bool(attempt.hand_in.late))
    if settings.deadline is None:
        return Lateness()
    extension = timedelta(days=override.extension if override else 0)
    after = submitted - (settings.deadline + extension)
    if after <= timedelta(minutes=rule.grace):
        return Lateness()
    days = standing.student.late_days if standing.student.late_days is not None else rule.days
    used = min(days, late_units(after, timedelta(days=1)))
    rest = after - timedelta(days=used)
    units = late_units(rest, rule.unit) if rest > timedelta() else 0
    return Lateness(after, min(units * rule.deduct, rule.most), used)


def in_words(late: Lateness, deducted: float) -> str:
    if late.unknown:
        return "late"
    if not late.late:
        return ""
    parts = [f"{lasting(late.after)} late"]
    if late.days_used:
        parts.append(f"{counted(late.days_used, 'late day')} used")
    if late.percent:
        parts.append(f"{late.percent:g} % deducted ({counted_points(deducted)})")
    return ", ".join(parts)


def lasting(time: timedelta) -> str:
    """In the largest unit that shows it: "3 hours", "2 days"; what has begun counts."""
    for unit, name in ((timedelta(days=1), "day"), (timedelta(hours=1), "hour")):
        if time > unit:
            return counted(late_units(time, unit), name)
    return counted(late_units(time, timedelta(minutes=1)), "minute")


def counted_points(value: float) -> str:
    return f"{points(value)} point" + ("" if value == 1 else "s")


# ---- by hand -------------------------------------------------------------------------------------


def changed_by_hand(standing: Standing) -> Standing:
    override = standing.override
    if override is None:
        return standing
    if override.excused:
        return with_note(replace(standing, state="excused", points=None, needs_human=False),
                         f"excused: {override.reason}")
    if override.points is not None:
        was = f" (was {points(standing.points)})" if standing.points is not None else ""
        more = f", more than the {points(standing.possible)} of the cases" \
            if standing.possible and override.points > standing.possible else ""
        return with_note(replace(standing, state="graded", points=override.points,
                                 needs_human=False),
                         f"{points(override.points)} points by hand{was}{more}: {override.reason}")
    if override.extension:
        standing = with_note(standing, f"{override.extension:g} days more: {override.reason}")
    if override.submitted:
        standing = with_note(standing, f"time changed by hand: {override.reason}")
    return standing


def with_note(standing: Standing, note: str, human: bool = False) -> Standing:
    return replace(standing, notes=(*standing.notes, note),
                   needs_human=standing.needs_human or human)
