"""What of a record a student may see.

In: the complete record. Out: student_view(record), a copy without what would give hidden cases away.

Of a hidden case a student learns its points and the kind of the mistake, in words that are the same
for all cases. Shape, name, line, numbers and everything that the submission printed are for the TA
only: a submission could print its own arguments, or fail at a line that it chose by the shape. Beside
hidden cases nothing that it printed is shown, of public cases either.
"""

import re
from itertools import count

from .model import Finding, Mark, Record, Refusal, Test, Timing, TimingState

NOT_RUN = "needs an earlier hidden case, which failed"

SPEED: dict[TimingState, str] = {
    "timed": "slower than full points need",
    "not-timed": "not timed",
    "skipped": NOT_RUN,
    "unbuilt": "does not compile",
    "refused": "its launches cannot be timed",
    "wrong": "the result was wrong when it was timed",
    "faulted": "the kernel stopped with a fault when it was timed",
    "time-limit": "still running at the time limit",
    "impossible": "the measured time is not plausible",
}
"""Of a hidden shape: how its timing ended, in the same words for all of them."""

MOST_LINES, LONGEST_LINE = 10, 200  # of what a submission prints in a public case

ANONYMOUS = {"suite": "hidden", "title": "", "params": None}


def student_view(record: Record) -> Record:
    """A copy. A record without hidden cases is copied as it is."""
    if not any(item.hidden for item in record.items) and not any(map(is_hidden, record.suites)):
        return record.model_copy(deep=True, update={
            "tests": [with_few_words(test) for test in record.tests], "needs_review": []})
    numbers, speed_numbers = count(1), count(1)
    tests = [without_shape(test, next(numbers), record) if test.hidden else
             test.model_copy(update={"output": ""}) for test in record.tests]
    marks = [without_names(mark, record) if mark.hidden else
             mark.model_copy(update={"reason": mark.phrase}) if mark.criterion == "repair" else mark
             for mark in record.marks]  # a repair may have been found in a hidden case
    timings = [speed_without_shape(timing, next(speed_numbers), record) if timing.hidden else timing
               for timing in record.performance]
    refusal = record.refusal
    if refusal:
        refusal = without_place(refusal) if record.build.ok else refusal
        reason = {"reason": refusal.reason}  # the same words for every case
        tests = [test.model_copy(update=reason | {"criteria": [
            each.model_copy(update=reason) for each in test.criteria]}) for test in tests]
        marks = [mark.model_copy(update=reason) for mark in marks]
        timings = [timing if timing.state == "not-timed" else timing.model_copy(update=reason)
                   for timing in timings]
    path = record.submission.path.rsplit("/", 1)[-1]  # the rest is the TA's
    return record.model_copy(deep=True, update={
        "tests": tests, "marks": marks, "performance": timings, "refusal": refusal,
        "suites": list(dict.fromkeys("hidden" if is_hidden(s) else s for s in record.suites)),
        "seed": 0,  # the hidden cases' seeds are made from it
        "cases": None, "needs_review": [], "submission": record.submission.model_copy(update={"path": path})})


def with_few_words(test: Test) -> Test:
    """What a submission prints in a public case helps its author; it is to carry no more than that."""
    lines = [re.sub(r"[^ -~]", "?", line)[:LONGEST_LINE] for line in test.output.splitlines()]
    return test.model_copy(update={"output": "\n".join(lines[:MOST_LINES])})


def is_hidden(suite: str) -> bool:
    return suite.split("/")[0] == "hidden"


def without_shape(test: Test, number: int, record: Record) -> Test:
    """A hidden case, as the `number`th of them: made of what may be shown, and of nothing else."""
    said = test.finding
    finding = said and Finding(kind=said.kind, what=said.headline, headline=said.headline)
    if not record.was_run or test.status == "passed" or for_want_of_a_public_case(test, record):
        reason = test.reason
    elif test.status == "skipped":
        reason = NOT_RUN
    elif finding:
        reason = finding.what
    else:
        reason = next(each.phrase for each in test.criteria if not each.passed)
    shared = "" if record.was_run and test.status != "skipped" else reason
    return Test(
        **test.model_dump(include={"hidden", "score", "max_score", "status"}), **ANONYMOUS,
        name=f"hidden {number}", fill=None, seed=None, reason=reason, finding=finding,
        criteria=[each if each.passed else
                  each.model_copy(update={"reason": shared or each.phrase}) for each in test.criteria])


def without_names(mark: Mark, record: Record) -> Mark:
    """Points of the hidden cases together."""
    return mark.model_copy(update={
        "suite": "hidden", "reason": mark.phrase if record.was_run else mark.reason, "hint": "", "lost_in": []})


def speed_without_shape(timing: Timing, number: int, record: Record) -> Timing:
    """Likewise, a hidden shape. Its times, and their ratio, would show how large it is."""
    reason = timing.reason
    if reason and timing.state not in ("unbuilt", "not-timed") and not for_want_of_a_public_case(timing, record):
        reason = SPEED[timing.state]  # else the same for all
    return Timing(
        **timing.model_dump(include={"hidden", "points", "score", "max_score", "beside", "state", "device",
                                     "samples"}),
        **ANONYMOUS, name=f"hidden speed {number}", none=None, full=None, reason=reason)


def for_want_of_a_public_case(item: Test | Timing, record: Record) -> bool:
    """Skipped because a case failed that everyone may know."""
    return any(item.skipped_for == each.name for each in record.tests if not each.hidden)


def without_place(refusal: Refusal) -> Refusal:
    """Of a refusal while running, which may have been a hidden case's: no line, no numbers."""
    tried = re.sub(r" *\([^)]*\)|\d+", "", refusal.tried)
    return refusal.model_copy(update={"tried": tried, "file": None, "line": 0})
