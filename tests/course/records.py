"""Records for tests, as the grader writes them for staff and for students, made on the spot.
tests/test_class_pages.py reads those of the real grader."""

from __future__ import annotations

from typing import Any

from course.record import Case, Finding, Record, Timing

RACE = Finding(kind="shared-race", what="race on shared memory", headline="race on shared memory",
               file="kernel.cu", line=29, detail=["thread (0,0) reads A_s[0][1]", "thread (1,0) writes it"],
               hint="a tile may be read only after every thread has stored its part")


def make_test(name: str, got: float, of: float, *, hidden: bool = False, **changes: Any) -> Case:
    status = "passed" if got == of else "partial" if got else "failed"
    correct = dict(name="correct", score=got, max_score=got or of, passed=got > 0,
                   reason="" if got else "C is wrong")
    memory = dict(name="memory", score=0, max_score=of - got, passed=False, reason="a fault")
    values: dict[str, Any] = dict(
        name=name, suite="hidden/shapes" if hidden else "public/basics", hidden=hidden,
        params={"m": 35, "k": 70, "n": 20}, fill="random", seed=7, score=got, max_score=of, status=status,
        criteria=[correct, memory] if 0 < got < of else [correct],
        reason="" if got == of else "race on shared memory")
    return Case(**(values | changes))


def make_timing(name: str, got: float, of: float, state: str = "timed", *, hidden: bool = False,
                **changes: Any) -> Timing:
    timed = state == "timed"
    values: dict[str, Any] = dict(
        name=name, suite="hidden/fast" if hidden else "public/speed", hidden=hidden,
        params={"m": 1024, "k": 1111, "n": 1999}, score=got, max_score=of, state=state, beside="cuBLAS",
        ratio=0.4567 if timed else None, reason="" if got == of else "0.45 of cuBLAS's speed",
        times={"median": 0.002} if timed else None, beside_times={"median": 0.001} if timed else None)
    return Timing(**(values | changes))


def make_record(tests: list[Case], /, **changes: Any) -> Record:
    items = [*tests, *changes.get("performance", [])]
    values: dict[str, Any] = dict(
        format=6, complete=True, submission={"bytes": 9}, lab={"name": "sgemm"},
        suites=list(dict.fromkeys(test.suite for test in tests)), seed=1234567,
        score=sum(item.score for item in items), max_score=sum(item.max_score for item in items),
        build={"ok": True}, tests=tests, backend="cpu", compiler="g++ 12",
        started="2026-11-21T06:00:00Z")
    return Record.model_validate(values | changes)


def seen_of(record: Record) -> Record:
    """What a student sees of it: of hidden cases points and kinds alone."""
    tests = [without_shape(test, number) if test.hidden else test
             for number, test in enumerate(record.tests)]
    performance = [timing.model_copy(update=dict(
        name=f"hidden speed {number}", suite="hidden", title="", params=None, hint="",
        ratio=None, times=None, beside_times=None, reason=timing.reason and "slow"))
        if timing.hidden else timing for number, timing in enumerate(record.performance)]
    return record.model_copy(update=dict(tests=tests, performance=performance, needs_review=[]))


def without_shape(test: Case, number: int) -> Case:
    finding = test.finding and Finding(kind=test.finding.kind, what=test.finding.headline,
                                       headline=test.finding.headline)
    reason = finding.what if finding else test.reason and "C is not right"
    return Case(name=f"hidden {number}", suite="hidden", hidden=True, score=test.score,
                max_score=test.max_score, status=test.status, reason=reason, finding=finding,
                criteria=[each.model_copy(update={"reason": each.reason and reason})
                          for each in test.criteria])


def poisoned(text: str) -> list[Record]:
    """Records with this text wherever a submission may have put any."""
    finding = Finding(kind="wrong-result", headline="C is not right", what=text, file=text, line=3,
                      detail=[text], hint=text, launch=text)
    cause = dict(kind=text, what=text, file="kernel.cu", line=3, detail=[text], hint=text)
    here = Finding.model_validate(finding.model_dump() | {"file": "kernel.cu", "cause": cause})
    criteria = [dict(name="correct", score=1, max_score=10 / 3, passed=False, reason=text)]
    tests = [make_test(text, 1, 10 / 3, hidden=hidden, title=text, fill=text, reason=text,
                       hint=text, finding=found, output=text, criteria=criteria, status=status)
             for hidden in (False, True)
             for found, status in ((here, "failed"), (finding, "partial"), (None, "skipped"))]
    changes: dict[str, Any] = {"submission": {"bytes": 1, "notes": [text]}}
    speed = [make_timing(text, points, 2, state, title=text, reason=text, hint=text, hidden=hidden)
             for hidden in (False, True)
             for points, state in ((1 / 3, "timed"), (0, "refused"), (0, "not-timed"))]
    return [
        make_record(tests, **changes, performance=speed),
        make_record(tests, **changes, score=0.0,
                    refusal=dict(tried=text, file=text, line=3, hint=text)),
        make_record([], **changes, max_score=5.0,
                    build=dict(ok=False, message=text, file=text, line=3, output=text)),
    ]
