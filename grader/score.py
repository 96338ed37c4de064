"""Points: of a case that was not run, and of all cases together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from .cases import Case
from .record import Build, Criterion, Record, Refusal, Test

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


def totals(tests: Sequence[Test]) -> tuple[float, float]:
    """Points and possible points; rounded, because ten times 0.1 is to be 1."""
    return (round(math.fsum(test.score for test in tests), 6),
            round(math.fsum(test.max_score for test in tests), 6))


def full_marks(record: Record) -> bool:
    return (record.refusal is None and record.build.ok and record.score >= record.max_score
            and all(test.status == "passed" for test in record.tests))


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
    place = f"{build.file}:{build.line}: " if build.file and build.line else ""
    return nothing(case, "failed", f"does not compile: {place}{build.message}")


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
