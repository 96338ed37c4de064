"""Points: of a case that was not run, and of all cases together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from .cases import Case, Performance
from .record import Build, Criterion, Record, Refusal, Test, Timing, TimingState

Status = Literal["passed", "partial", "failed", "skipped"]


def status_of(criteria: Sequence[Criterion]) -> Status:
    """passed: all criteria, partial: some, failed: none."""
    passed = [each.passed for each in criteria]
    if all(passed):
        return "passed"
    return "partial" if any(passed) else "failed"


def carries(parent: Test) -> bool:
    """Whether the cases that depend on this one are run. Tiling, say, is not needed for that."""
    return any(each.name == "correct" and each.passed for each in parent.criteria)


def totals(items: Sequence[Test | Timing]) -> tuple[float, float]:
    """Points and possible points; rounded, because ten times 0.1 is to be 1."""
    return (round(math.fsum(item.score for item in items), 6),
            round(math.fsum(item.max_score for item in items), 6))


def full_marks(record: Record) -> bool:
    return (record.refusal is None and record.build.ok and record.score >= record.max_score
            and all(map(nothing_lost, [*record.tests, *record.performance])))


def nothing_lost(item: Test | Timing) -> bool:
    """Of speed: all of its points, or none to be had."""
    if isinstance(item, Test):
        return item.status == "passed"
    return item.state in ("timed", "not-timed") and item.score >= item.max_score


def status_of_timing(timing: Timing) -> Status:
    """In the words of cases."""
    if timing.state in ("not-timed", "skipped"):
        return "skipped"
    if nothing_lost(timing):
        return "passed"
    return "partial" if timing.score > 0 else "failed"


# ---- speed ---------------------------------------------------------------------------------------

NO_GPU = "not timed: no GPU"


def speed_points(asked: Performance, ratio: float) -> float:
    """In a straight line from 0 at `none` to all at `full`; whole hundredths, as they are shown."""
    part = (ratio - asked.none) / (asked.full - asked.none)
    return round(asked.points * min(max(part, 0.0), 1.0), 2) if part < 1 else asked.points


def untimed(asked: Performance, state: TimingState, reason: str, hint: str = "") -> Timing:
    """Nothing was measured that counts: no points, and with "not-timed" none to be had either."""
    return Timing(
        name=asked.name, suite=asked.suite, hidden=asked.hidden, title=asked.title,
        m=asked.m, k=asked.k, n=asked.n, none=asked.none, full=asked.full, points=asked.points,
        score=0.0, max_score=0.0 if state == "not-timed" else asked.points, state=state,
        reason=reason, hint=hint, device=None, ratio=None, samples=0, times=None,
        cublas_times=None, seconds=0.0,
    )  # fmt: skip


def without_gpu(asked: Performance) -> Timing:
    return untimed(asked, "not-timed", NO_GPU)


def speed_skipped(asked: Performance, parent: Test) -> Timing:
    return untimed(asked, "skipped", skip_reason(parent.name))


def speed_refused(asked: Performance, refusal: Refusal) -> Timing:
    return untimed(asked, "refused", refusal_reason(refusal), refusal.hint)


def speed_unbuilt(asked: Performance, build: Build) -> Timing:
    return untimed(asked, "unbuilt", unbuilt_reason(build))


# ---- cases that earn nothing ---------------------------------------------------------------------


def skipped(case: Case, parent: Test) -> Test:
    return nothing(case, "skipped", skip_reason(parent.name))


def skip_reason(parent: str) -> str:
    return f"needs {parent}, which failed"


def refused(case: Case, refusal: Refusal) -> Test:
    return nothing(case, "failed", refusal_reason(refusal), refusal.hint)


def refusal_reason(refusal: Refusal) -> str:
    return f"the submission was refused: it {refusal.tried}"


def unbuilt(case: Case, build: Build) -> Test:
    return nothing(case, "failed", unbuilt_reason(build))


def unbuilt_reason(build: Build) -> str:
    place = f"{build.file}:{build.line}: " if build.file and build.line else ""
    return f"does not compile: {place}{build.message}"


def nothing(case: Case, status: Status, reason: str, hint: str = "") -> Test:
    criteria = [
        Criterion(name=name, score=0.0, max_score=points, passed=False, reason=reason)
        for name, points in case.criteria.items()
    ]
    return Test(
        name=case.name, suite=case.suite, hidden=case.hidden, title=case.title,
        m=case.m, k=case.k, n=case.n, fill=case.fill, seed=case.seed, score=0.0,
        max_score=case.points, status=status, criteria=criteria, reason=reason, hint=hint,
        finding=None, output="", seconds=0.0,
    )  # fmt: skip
