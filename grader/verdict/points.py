"""From the outcomes of a case's runs to its points, its criteria and its reason; points of a case that was not
run, of a shape that was timed or not, and of all of them together.

In: cases (cases/), outcomes of their plain and, where there is one, their checked run (run/outcome.py), and what
the clock said. Out: results (record/model.py). Nothing here raises. A case's points are for a correct result; what
the other criteria are worth is the suite's to say.
"""

import math
from collections.abc import Mapping, Sequence

from ..cases.model import Case, Item, Performance, Suite
from ..clock.measure import Said
from ..criteria import BASIC, Lost, Seen, correct, criteria as criteria_of
from ..record.model import AnyResult, Criterion, Finding, Loads, Mark, Record, Refusal, Test, Timing, TimingState
from ..run.outcome import Outcome
from ..text import counted, harmless

ABOUT = {"name", "suite", "hidden", "title", "params"}  # what every result repeats of its case
NO_GPU = "not timed: no GPU"
BUT_FOR = "correct except for one mistake"

# Up to this many operations a case has a checked run whatever its criteria: it takes half a second,
# and shows what a correct result hides, such as one that was computed on the host.
ALWAYS_CHECKED = 100_000_000

OUT_OF_TIME = frozenset({"endless", "deadlock", "time-limit"})
"""Ends of a plain run after which a checked one is not worth its time."""


# ---- a case that was run ---------------------------------------------------------------------------


def wants_checked(case: Case) -> bool:
    return bool(case.criteria) or case.sizes.operations <= ALWAYS_CHECKED


def wants_counts(case: Case) -> bool:
    return any(criteria_of(case.lab)[name].COUNTS for name in case.asked)


def judge_case(case: Case, plain: Outcome, checked: Outcome | None) -> Test:
    """`checked` is None where it is not wanted, or the plain run did not end. A checked run that does not end
    in time, after a plain run that did, costs the criteria that need it, never `correct`."""
    seen = Seen(case, plain, checked)
    lost: dict[str, Lost | None] = {
        name: criteria_of(case.lab)[name].judge(seen) for name in ("correct", *case.asked)}
    right = lost["correct"] is None  # else nothing was looked at but memory
    said = {name: criteria_of(case.lab)[name if right or name in BASIC else "correct"].PHRASE for name in lost}
    criteria = [Criterion(name=name, passed=why is None, known=why is None or why.known,
                          reason=why.reason if why else "", phrase=said[name] if why else "")
                for name, why in lost.items()]
    first = next(filter(None, lost.values()), None)
    finding, reason, hint = main_finding(seen) if first else None, "", ""
    if first:  # what the checker found is nearer to the cause than its consequences
        reason = correct.headline(checked.finding) if checked and checked.finding else first.reason
        hint = (finding.hint if finding else None) or first.hint or case.hint
    return Test(
        **case.model_dump(include=ABOUT | {"fill", "seed"}),
        score=case.points if right else 0.0, max_score=case.points,
        status="passed" if first is None else "partial" if right else "failed",
        criteria=criteria, reason=reason, hint=hint, finding=finding,
        loads=loads_of(case, checked), blocks=checked.blocks if checked else None,
        output=plain.output, seconds=sum(run.seconds for run in (plain, checked) if run),
    )  # fmt: skip


def loads_of(case: Case, checked: Outcome | None) -> Loads | None:
    """With the most that a criterion of the case allows."""
    loads = checked and checked.loads
    limits = [getattr(criteria_of(case.lab)[name], "most_loads", None) for name in case.asked]
    most = [limit(loads, case.limits) for limit in limits if limit and loads]
    return loads.model_copy(update={"most": min(most)}) if loads and most else loads


def main_finding(seen: Seen) -> Finding | None:
    """The checker's, which has a line and is nearest to the cause; else what is known of the result;
    else how the run ended. None where it is right and clean. Both runs are of the same problem, and make the
    same launches."""
    plain, checked, lab = seen.plain, seen.checked, seen.lab
    runs = [run for run in (plain, checked) if run is not None]
    if checked and checked.finding:
        found: Finding | None = checked.finding
    elif not plain.launches and plain.ended == "returned":
        found = correct.no_launch(lab)
    else:
        explained = (run.explanation for run in runs if run.ended == "returned")
        found = next(filter(None, (*explained, *(correct.finding_of(lab, run) for run in runs))), None)
    launch = (checked and checked.launch) or plain.launch
    return found.model_copy(update={"launch": launch}) if found and launch else found


# ---- all together ----------------------------------------------------------------------------------


def is_right(test: Test) -> bool:
    """Its result is correct; how well it is done does not matter."""
    return any(each.name == "correct" and each.passed for each in test.criteria)


def totals(items: Sequence[AnyResult]) -> tuple[float, float]:
    """Points and possible points; rounded, so that ten times 0.1 is 1."""
    return (round(math.fsum(item.score for item in items), 6),
            round(math.fsum(item.max_score for item in items), 6))


def full_marks(record: Record) -> bool:
    return (record.was_run and record.score >= record.max_score
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
    tests = [item for item in items if isinstance(item, Test)]
    right = {half: [is_right(test) for test in tests if test.hidden == half] for half in (False, True)}
    return [line for line, holds in {
        f"stopped at a time limit in {counted(stopped, 'case')}": stopped,
        "correct in every public case, in no hidden one":
            right[True] and all(right[False]) and not any(right[True]),
    }.items() if holds]


def speed_points(asked: Performance, ratio: float) -> float:
    """In a straight line from 0 at `none` to all at `full`; whole hundredths, as they are shown."""
    part = (ratio - asked.none) / (asked.full - asked.none)
    return round(asked.points * max(part, 0.0), 2) if part < 1 else asked.points


# ---- what a whole suite keeps or loses -----------------------------------------------------------


def marks_of(suite: Suite, tests: Mapping[str, Test]) -> list[Mark]:
    """Of its cases, by their keys; none before all of them are known."""
    if any(case.key not in tests for case in suite.cases):
        return []
    return [mark(suite, name, points, [tests[case.key] for case in suite.cases if name in case.asked])
            for name, points in suite.points.items()]


def mark(suite: Suite, name: str, points: float, tests: list[Test]) -> Mark:
    """Kept where no case has lost it, and one has shown it."""
    asked = [(test, each) for test in tests for each in test.criteria if each.name == name]
    lost = [(test, each) for test, each in asked if not each.passed and each.known]
    if not any(each.passed for _, each in asked):
        lost = [(test, each) for test, each in asked if not each.passed]
    first, why = lost[0] if lost else (None, None)
    reason = why.reason if first and why and is_right(first) else first.reason if first else ""
    hint = first.hint if first and first.reason == reason else ""
    title = criteria_of(suite.cases[0].lab)[name].TITLE
    return Mark(name=name, suite=suite.name, hidden=suite.hidden, title=title, params=None,
                criterion=name, score=0.0 if lost else points, max_score=points,
                status="failed" if lost else "passed", reason=reason, hint=hint,
                phrase=why.phrase if why else "",
                lost_in=[test.name for test, _ in lost])


def repair_marks(suites: Sequence[Suite], known: Mapping[str, Test], repaired: Mapping[str, Test],
                 mistake: str) -> list[Mark]:
    """What is missing to the share that each suite gives of the repaired kernel's points."""
    found = []
    whole = all(each.passed for test in repaired.values() for each in test.criteria if each.name in BASIC)
    for suite in suites:
        points = [sum(item.score for item in (*(tests[case.key] for case in suite.cases),
                                              *marks_of(suite, tests)))
                  for tests in (known, repaired)]
        missing = math.ceil(suite.repaired * points[1] - 1e-6) - points[0]
        if suite.repaired and missing > 0:
            explained = sum(known[case.key].reason != repaired[case.key].reason for case in suite.cases)
            what = BUT_FOR if whole else f"{counted(explained, 'case')} {BUT_FOR}"
            found.append(Mark(
                name="repair", suite=suite.name, hidden=suite.hidden, title="repair", params=None,
                criterion="repair", score=missing, max_score=0.0, status="passed",
                reason=f"{what}: {mistake}", phrase=BUT_FOR if whole else "a mistake that was repaired"))
    return found


def behind_gate(test: Test, gate: Test) -> Test:
    """Before the gate is correct, nothing counts. What the case has lost by itself is said all the same."""
    if test.status == "skipped":
        return test
    reason = test.reason or f"needs {gate.name}, which failed"
    return test.model_copy(update={
        "score": 0.0, "status": "failed" if test.reason else "skipped", "reason": reason,
        "skipped_for": "" if test.reason else gate.name,
        "criteria": [each.model_copy(update={"passed": False, "reason": each.reason or reason,
                                             "phrase": each.phrase or "needs an earlier case"})
                     for each in test.criteria]})


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


def no_points(item: Item, state: TimingState, reason: str, hint: str = "") -> Test | Timing:
    if isinstance(item, Performance):
        return untimed(item, state, reason, hint)
    assert isinstance(item, Case)
    criteria = [Criterion(name=name, passed=False, reason=reason, phrase=criteria_of(item.lab)[name].PHRASE)
                for name in ("correct", *item.asked)]
    return Test(**item.model_dump(include=ABOUT | {"fill", "seed"}), score=0.0, max_score=item.points,
                status="skipped" if state == "skipped" else "failed", criteria=criteria, reason=reason, hint=hint)


def untimed(asked: Performance, state: TimingState, reason: str, hint: str = "") -> Timing:
    """Without a measurement that counts: no points, and with "not-timed" none to be had either."""
    return Timing(**asked.model_dump(include=ABOUT | {"none", "full", "points"}), beside=asked.lab.beside,
                  score=0.0, max_score=0.0 if state == "not-timed" else asked.points, state=state,
                  reason=reason, hint=hint)


# ---- of a measurement ----------------------------------------------------------------------------


def timing_of(asked: Performance, answer: Said, seconds: float) -> Timing:
    """With the points for it."""
    assert answer.state != "machine"
    known: dict[str, object] = {"device": answer.device, "seconds": round(seconds, 3)}
    if answer.state != "timed":
        return untimed(asked, answer.state, harmless(answer.reason)).model_copy(update=known)
    ratio = answer.ratio
    assert ratio is not None
    points, reason, hint = speed_points(asked, ratio), "", ""
    if points < asked.points:
        least = f"points begin above {asked.none:g}" if ratio <= asked.none else f"{asked.full:g} is full"
        reason, hint = f"{ratio:.2f} of {asked.lab.beside}'s speed; {least}", asked.hint
    return untimed(asked, "timed", reason, hint).model_copy(update=known | {
        "score": points, "ratio": round(ratio, 4), "samples": answer.samples, "times": answer.seconds,
        "beside_times": answer.beside_seconds})
