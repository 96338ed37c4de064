"""Records as the grader writes them, made on the spot, for tests of what is made of them."""

from typing import Any

from kinds import words_of

from grader.record.model import (Build, Cause, Criterion, Finding, Mark, Record, Refusal, Submission, Test as Case,
                                 Times, Timing)


RACE = Finding(**words_of("shared-race"), what="race on shared memory", file="kernel.cu", line=29,
               detail=["thread (0,0) reads A_s[0][1]", "thread (1,0) writes it"],
               hint="a tile may be read only after every thread has stored its part")


def make_test(name: str, got: float, of: float, *, hidden: bool = False, **changes: Any) -> Case:
    status = "passed" if got == of else "partial" if got else "failed"
    lost = [] if got == of else [Criterion(name="memory", passed=False, reason="a fault", phrase="a memory fault")]
    criteria = [Criterion(name="correct", passed=got > 0, reason="" if got else "C is wrong",
                          phrase="" if got else "C is not right")]
    values: dict[str, Any] = dict(
        name=name, suite="hidden/shapes" if hidden else "public/basics", hidden=hidden,
        title="", params={"m": 35, "k": 70, "n": 20}, fill="random", seed=7, score=got, max_score=of,
        status=status, criteria=criteria + (lost if got else []),
        reason="" if got == of else "race on shared memory", hint="", finding=None, output="",
        seconds=0.25)
    return Case(**(values | changes))


def make_mark(name: str, got: float, of: float, *, hidden: bool = False, **changes: Any) -> Mark:
    kept = name == "repair" or got == of
    values: dict[str, Any] = dict(
        name=name, criterion=name, suite="hidden/shapes" if hidden else "public/basics", hidden=hidden,
        title="tiles" if name == "tiled" else name, params=None, score=got, max_score=of,
        status="passed" if kept else "failed", reason="" if got == of else "race on shared memory",
        phrase="" if got == of else "a memory fault", lost_in=[] if kept else ["curlew", "b", "c"])
    return Mark(**(values | changes))


def spread(median: float) -> Times:
    return Times(median=median, minimum=0.9 * median, quartile_1=median, quartile_3=2 * median)


def make_timing(name: str, got: float, of: float, state: str = "timed", *, hidden: bool = False,
                **changes: Any) -> Timing:
    timed = state == "timed"
    values: dict[str, Any] = dict(
        name=name, suite="hidden/fast" if hidden else "public/speed", hidden=hidden,
        title="", params={"m": 1024, "k": 1111, "n": 1999}, none=0.3, full=0.9, points=of, beside="cuBLAS",
        score=got,
        max_score=0 if state == "not-timed" else of, state=state,
        reason="" if timed and got == of else "0.45 of cuBLAS's speed", hint="", device="a GPU",
        ratio=0.4567 if timed else None, samples=11, times=spread(0.002) if timed else None,
        beside_times=spread(0.001) if timed else None, seconds=2.5)
    return Timing(**(values | changes))


def make_record(tests: list[Case], /, **changes: Any) -> Record:
    items = [*tests, *changes.get("marks", []), *changes.get("performance", [])]
    values: dict[str, Any] = dict(
        complete=True, lab={"name": "sgemm", "title": "C = A B"},
        submission=Submission(name="alice", path="/home/alice/kernel.cu", sha256="0" * 64, bytes=9,
                              notes=[]),
        suites=list(dict.fromkeys(test.suite for test in tests)), seed=1234567,
        score=sum(item.score for item in items),
        max_score=sum(item.max_score for item in items),
        build=Build(ok=True, message="", file=None, line=0, output=""), refusal=None, tests=tests,
        protection="bubblewrap", protection_note="", backend="cpu", compiler="g++ 12",
        started="2026-11-21T06:00:00Z", seconds=11.5)
    return Record(**(values | changes))


def poisoned(text: str) -> list[Record]:
    """Records with this text wherever a submission may have put any."""
    finding = Finding(**words_of("wrong-result"), what=text, file=text, line=3, detail=[text], hint=text,
                      launch=text)
    cause = Cause(kind=text, what=text, file="kernel.cu", line=3, detail=[text], hint=text)
    here = finding.model_copy(update={"file": "kernel.cu", "cause": cause})
    criteria = [Criterion(name="correct", passed=False, reason=text, phrase="the result is not correct")]
    tests = [make_test(text, 1, 10 / 3, hidden=hidden, title=text, fill=text, reason=text,
                       hint=text, finding=found, output=text, criteria=criteria, status=status)
             for hidden in (False, True)
             for found, status in ((here, "failed"), (finding, "partial"), (None, "skipped"))]
    submission = Submission(name=text, path=text, sha256="", bytes=1, notes=[text])
    changes = {"submission": submission, "protection_note": text}
    speed = [make_timing(text, points, 2, state, title=text, reason=text, hint=text, device=text,
                         hidden=hidden)
             for hidden in (False, True)
             for points, state in ((1 / 3, "timed"), (0, "refused"), (0, "not-timed"))]
    marks = [make_mark(name, got, of, hidden=hidden, reason=text, hint=text, lost_in=[text])
             for name, got, of in (("memory", 0, 2), ("repair", 1, 0)) for hidden in (False, True)]
    return [
        make_record(tests, **changes, marks=marks, performance=speed),
        make_record(tests, **changes, score=0.0,
                    refusal=Refusal(tried=text, file=text, line=3, hint=text)),
        make_record([], **changes, max_score=5.0,
                    build=Build(ok=False, message=text, file=text, line=3, output=text)),
    ]
