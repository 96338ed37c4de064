"""What of a record may be shown to whom, and how text that is not ours may be printed.

    student_view(record)     the record without what would give hidden cases away
    harmless(text)           one line that moves no cursor and commands no CI runner

Of a hidden case a student learns its points and the kind of the mistake, in words that are the same
for all cases. Shape, name, line, numbers and whatever the submission printed stay with the TA: a
submission could print its own arguments, or fail at a line that it chose by the shape.
"""

from __future__ import annotations

import re

from .outcome import Finding
from .record import Criterion, CriterionName, Record, Refusal, Test, Timing, TimingState
from .score import NO_GPU, refusal_reason, skip_reason

PHRASES = {
    "shared-race": "race on shared memory",
    "global-race": "race on global memory",
    "divergent-barrier": "threads of one block wait at different barriers",
    "early-return": "threads return before a barrier, and their part is missing",
    "out-of-bounds": "a load or store outside a matrix or another allocation",
    "shared-out-of-bounds": "an index outside a shared array",
    "local-out-of-bounds": "an index outside an array of the thread's own",
    "uninitialised-shared": "shared memory is read that nobody has written",
    "uninitialised-global": "C, or memory from cudaMalloc, is read before it is written",
    "input-written": "A or B is written",
    "freed-memory": "memory is used after cudaFree",
    "device-pointer-on-host": "host code follows a device pointer",
    "device-variable-on-host": "host code reads or writes a __device__ variable",
    "host-pointer-on-device": "a kernel follows a host pointer",
    "misaligned": "a vector is loaded or stored at an address that it cannot have",
    "bad-launch": "a launch that no GPU can do",
    "failed-call": "a call of the CUDA runtime failed",
    "no-launch": "basicSgemm launches no kernel",
    "leak": "memory is allocated and not freed",
    "endless": "the kernel does not end",
    "time-limit": "time limit exceeded",
    "deadlock": "threads wait for each other for ever",
    "kernel-fault": "the kernel stopped with a fault",
    "host-fault": "basicSgemm crashed, or ended the program",
    "tampering": "memory of the runtime was changed",
    "unwritten": "elements of C were never written",
    "wrong-result": "C is not A B",
    "not-float32": "C is less precise than float32",
}
"""One for each kind of finding (checker/finding.h)."""

LOST: dict[CriterionName, str] = {
    "builds": "no kernel was launched",
    "correct": "C is not right",
    "memory": "a memory fault, or C is not right",
    "tiled": "loads more from global memory than a tiled kernel does",
}
NOT_RUN = "needs an earlier hidden case, which failed"

SPEED: dict[TimingState, str] = {
    "timed": "slower than full points need",
    "not-timed": NO_GPU,
    "skipped": NOT_RUN,
    "unbuilt": "does not compile",
    "refused": "what it launches cannot be timed",
    "wrong": "C was wrong when it was timed",
    "faulted": "the kernel stopped with a fault when it was timed",
    "time-limit": "still running at the time limit",
    "impossible": "the time is not one that can be believed",
}
"""Of a hidden shape: how its timing ended, in the same words for all of them."""


def student_view(record: Record) -> Record:
    """A copy. A record without hidden cases stays as it is."""
    if not any(item.hidden for item in (*record.tests, *record.performance)) and \
            not any(map(is_hidden, record.suites)):
        return record.model_copy(deep=True)
    refusal = record.refusal
    if refusal and record.build.ok:
        refusal = without_place(refusal)
    tests, number = [], 0
    for test in record.tests:
        number += test.hidden
        test = without_shape(test, number, record) if test.hidden else test
        tests.append(for_refusal(test, refusal) if refusal else test)
    timings, number = [], 0
    for timing in record.performance:
        number += timing.hidden
        timing = speed_without_shape(timing, number, record) if timing.hidden else timing
        if refusal and timing.state != "not-timed":
            timing = timing.model_copy(update={"reason": refusal_reason(refusal)})
        timings.append(timing)
    path = record.submission.path.rsplit("/", 1)[-1]  # the rest is the TA's
    return record.model_copy(deep=True, update={
        "tests": tests,
        "performance": timings,
        "suites": list(dict.fromkeys("hidden" if is_hidden(s) else s for s in record.suites)),
        "seed": 0,  # the hidden cases' seeds are made from it
        "submission": record.submission.model_copy(update={"path": path}),
        "refusal": refusal,
    })  # fmt: skip


def is_hidden(suite: str) -> bool:
    return suite == "hidden" or suite.startswith("hidden/")


def without_shape(test: Test, number: int, record: Record) -> Test:
    """A hidden case, as the `number`th of them."""
    public = {each.name for each in record.tests if not each.hidden}
    same_for_all = record.refusal is not None or not record.build.ok
    finding = None
    if test.finding:
        finding = Finding(kind=test.finding.kind, what=phrase(test.finding))
    if same_for_all or test.status == "passed":
        reason = test.reason
    elif test.status == "skipped":
        by_public = test.reason in map(skip_reason, public)
        reason = test.reason if by_public else NOT_RUN
    elif finding:
        reason = finding.what
    else:
        reason = next(LOST[each.name] for each in test.criteria if not each.passed)
    return Test(
        name=f"hidden {number}", suite="hidden", hidden=True, title="",
        m=None, k=None, n=None, fill=None, seed=None,
        score=test.score, max_score=test.max_score, status=test.status,
        criteria=[short(each, reason if same_for_all or test.status == "skipped" else "")
                  for each in test.criteria],
        reason=reason, hint="", finding=finding, output="", seconds=0.0,
    )  # fmt: skip


def speed_without_shape(timing: Timing, number: int, record: Record) -> Timing:
    """A hidden shape, as the `number`th of them. Times, and a ratio, would tell how large it is."""
    public = {each.name for each in record.tests if not each.hidden}
    said = timing.reason in map(skip_reason, public) or timing.state in ("unbuilt", "not-timed")
    reason = timing.reason if said or not timing.reason else SPEED[timing.state]
    return timing.model_copy(update={
        "name": f"hidden speed {number}", "suite": "hidden", "title": "", "hint": "",
        "m": None, "k": None, "n": None, "none": None, "full": None, "reason": reason,
        "ratio": None, "times": None, "cublas_times": None, "seconds": 0.0,
    })  # fmt: skip


def short(criterion: Criterion, reason: str) -> Criterion:
    """With a reason that says nothing about this case alone."""
    if criterion.passed:
        return criterion
    return criterion.model_copy(update={"reason": reason or LOST[criterion.name]})


def phrase(finding: Finding) -> str:
    return PHRASES.get(finding.kind, "a mistake")


def without_place(refusal: Refusal) -> Refusal:
    """Of a refusal while running, which may have been a hidden case's: no line, no numbers."""
    tried = re.sub(r" *\([^)]*\)|\d+", "", refusal.tried)
    return refusal.model_copy(update={"tried": tried, "file": None, "line": 0})


def for_refusal(test: Test, refusal: Refusal) -> Test:
    """The same words for every case of a submission that was refused."""
    reason = refusal_reason(refusal)
    criteria = [each.model_copy(update={"reason": reason}) for each in test.criteria]
    return test.model_copy(update={"reason": reason, "criteria": criteria})


# ---- text that is not ours -----------------------------------------------------------------------


def harmless(text: str) -> str:
    """One line. Control characters, and those that turn the direction of writing, are escaped; so
    are the two ways to give a GitHub runner a command (`::error::`, also behind spaces, and
    `##[error]`, anywhere in a line)."""
    shown = "".join(c if c.isprintable() else escaped(c) for c in text)
    return re.sub(":(?=:)", ": ", shown).replace("##[", "# #[")


def escaped(character: str) -> str:
    code = ord(character)
    if character in "\n\t\r":
        return {"\n": "\\n", "\t": " ", "\r": "\\r"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
