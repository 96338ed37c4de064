"""Points: of a case that was not run, of a shape that was not timed, and of all of them together.

In: cases (cases/) and results (record/model.py). Out: results. Nothing here raises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..cases.model import Case, Item, Performance
from ..clock.measure import Said
from ..record.model import Build, Criterion, Record, Refusal, Status, Test, Timing, TimingState, at
from ..text import counted, harmless

ABOUT = {"name", "suite", "hidden", "title", "m", "k", "n"}
"""What every result repeats of its case."""
NO_GPU = "not timed: no GPU"


def status_of(criteria: Sequence[Criterion]) -> Status:
    """passed: all criteria, partial: some, or nearly, failed: none."""
    if all(each.passed for each in criteria):
        return "passed"
    return "partial" if any(each.passed or each.nearly for each in criteria) else "failed"


def is_right(parent: Test) -> bool:
    """Whether shapes that depend on this case are timed: it need not be tiled for that."""
    return any(each.name == "correct" and each.passed for each in parent.criteria)


def carries(parent: Test) -> bool:
    """Whether the cases that depend on this one are run: those are judged by themselves."""
    return any(each.name == "correct" and (each.passed or each.nearly) for each in parent.criteria)


def totals(items: Sequence[Test | Timing]) -> tuple[float, float]:
    """Points and possible points; rounded, so that ten times 0.1 is 1."""
    return (round(math.fsum(item.score for item in items), 6),
            round(math.fsum(item.max_score for item in items), 6))


def full_marks(record: Record) -> bool:
    return (record.refusal is None and record.build.ok and record.score >= record.max_score
            and all(item.nothing_lost for item in record.items))


def needs_review(items: Sequence[Test | Timing], limit: float) -> list[str]:
    """Why a person should see it before trusting the grade, a line each: perhaps it is only slow; a
    kernel that does not end is another mistake. `limit`: of all runs together."""
    def out_of_time(item: Test | Timing) -> bool:
        if not isinstance(item, Test):
            return item.state == "time-limit"
        stopped = item.finding is not None and item.finding.kind == "time-limit"
        return stopped or item.reason == used_up_reason(limit)

    stopped = sum(map(out_of_time, items))
    return [f"stopped at a time limit in {counted(stopped, 'case')}"] if stopped else []


def speed_points(asked: Performance, ratio: float) -> float:
    """In a straight line from 0 at `none` to all at `full`; whole hundredths, as they are shown."""
    part = (ratio - asked.none) / (asked.full - asked.none)
    return round(asked.points * min(max(part, 0.0), 1.0), 2) if part < 1 else asked.points


# ---- no points -----------------------------------------------------------------------------------


def skipped(item: Item, parent: Test) -> Test | Timing:
    reason = f"needs {parent.name}, which failed"
    return no_points(item, "skipped", reason).model_copy(update={"skipped_for": parent.name})


def used_up(item: Item, limit: float) -> Test | Timing:
    return no_points(item, "time-limit", used_up_reason(limit))


def used_up_reason(limit: float) -> str:
    return f"the submission has used up its {limit:g} s for all cases"


def refused(item: Item, refusal: Refusal) -> Test | Timing:
    return no_points(item, "refused", refusal.reason, refusal.hint)


def unbuilt(item: Item, build: Build) -> Test | Timing:
    error = at(build.file, build.line, build.message)
    return no_points(item, "unbuilt", f"does not compile: {error}")


def without_gpu(asked: Performance) -> Timing:
    return untimed(asked, "not-timed", NO_GPU)


def no_points(item: Item, state: TimingState, reason: str, hint: str = "") -> Test | Timing:
    if isinstance(item, Performance):
        return untimed(item, state, reason, hint)
    assert isinstance(item, Case)
    return nothing(item, "skipped" if state == "skipped" else "failed", reason, hint)


def nothing(case: Case, status: Status, reason: str, hint: str = "") -> Test:
    criteria = [Criterion(name=name, score=0.0, max_score=points, passed=False, reason=reason)
                for name, points in case.criteria.items()]
    return Test(**case.model_dump(include=ABOUT | {"fill", "seed"}), score=0.0,
                max_score=case.points, status=status, criteria=criteria, reason=reason, hint=hint)


def untimed(asked: Performance, state: TimingState, reason: str, hint: str = "") -> Timing:
    """Without a measurement that counts: no points, and with "not-timed" none to be had either."""
    return Timing(**asked.model_dump(include=ABOUT | {"none", "full", "points"}), score=0.0,
                  max_score=0.0 if state == "not-timed" else asked.points, state=state,
                  reason=reason, hint=hint)


# ---- of a measurement ----------------------------------------------------------------------------


def timing_of(asked: Performance, answer: Said, seconds: float) -> Timing:
    """With the points for it."""
    assert answer.state != "machine"
    if answer.state != "timed":
        return untimed(asked, answer.state, harmless(answer.reason)).model_copy(
            update={"device": answer.device, "seconds": round(seconds, 3)})
    assert answer.ratio is not None
    points = speed_points(asked, answer.ratio)
    full = points >= asked.points
    return untimed(
        asked, "timed", "" if full else slower(asked, answer.ratio), "" if full else asked.hint
    ).model_copy(update={
        "score": points, "device": answer.device, "ratio": round(answer.ratio, 4),
        "samples": answer.samples, "times": answer.seconds,
        "cublas_times": answer.cublas_seconds, "seconds": round(seconds, 3),
    })  # fmt: skip


def slower(asked: Performance, ratio: float) -> str:
    if ratio <= asked.none:
        return f"{ratio:.2f} of cuBLAS's speed; points begin above {asked.none:g}"
    return f"{ratio:.2f} of cuBLAS's speed; {asked.full:g} is full"
