"""From the outcomes of a case's runs to its points, its criteria and its reason.

In: Outcome (run/outcome.py) of the plain run and, where there is one, the checked run. Out: Test
(record/model.py). Nothing here raises. The points are for a correct result; what the other criteria are
worth is the suite's to say (points.py).
"""

from __future__ import annotations

from ..cases.model import Case
from ..criteria import BASIC, Lost, Seen, correct, criteria as criteria_of
from ..record.model import Criterion, Finding, Loads, Status, Test
from ..run.outcome import Outcome
from .points import ABOUT

# Up to this many operations a case has a checked run whatever its criteria: it takes half a second,
# and shows what a correct result hides, such as one that was computed on the host.
ALWAYS_CHECKED = 100_000_000

OUT_OF_TIME = frozenset({"endless", "deadlock", "time-limit"})
"""Ends of a plain run after which a checked one is not worth its time."""


def wants_checked(case: Case) -> bool:
    return bool(case.criteria) or case.sizes.operations <= ALWAYS_CHECKED


def wants_counts(case: Case) -> bool:
    return any(criteria_of(case.lab)[name].COUNTS for name in case.asked)


def judge_case(case: Case, plain: Outcome, checked: Outcome | None) -> Test:
    """`checked` is None where it is not wanted, or the plain run did not end. A checked run that
    does not end in time, after a plain run that did, costs the criteria that need it, never
    `correct`."""
    seen = Seen(case, plain, checked)
    lost: dict[str, Lost | None] = {
        name: criteria_of(case.lab)[name].judge(seen) for name in ("correct", *case.asked)}
    criteria = [Criterion(name=name, passed=why is None, known=why is None or why.known,
                          reason=why.reason if why else "",
                          phrase=phrase_for(case, name, lost) if why else "")
                for name, why in lost.items()]
    first = next(filter(None, lost.values()), None)
    finding = with_launch(main_finding(seen), plain, checked) if first else None
    return Test(
        **case.model_dump(include=ABOUT | {"fill", "seed"}),
        score=case.points if lost["correct"] is None else 0.0, max_score=case.points,
        status=status_of(criteria), criteria=criteria, reason=main_reason(first, checked),
        hint=hint_for(case, first, finding), finding=finding,
        loads=loads_of(case, checked), blocks=checked.blocks if checked else None,
        output=plain.output, seconds=sum(run.seconds for run in (plain, checked) if run),
    )  # fmt: skip


def phrase_for(case: Case, name: str, lost: dict[str, Lost | None]) -> str:
    """Without a correct result nothing was looked at but memory."""
    basic = name in BASIC or not lost["correct"]
    return str(criteria_of(case.lab)[name if basic else "correct"].PHRASE)


def status_of(criteria: list[Criterion]) -> Status:
    """passed: all criteria, partial: a correct result, failed: none."""
    if all(each.passed for each in criteria):
        return "passed"
    return "partial" if criteria[0].passed else "failed"


def loads_of(case: Case, checked: Outcome | None) -> Loads | None:
    """With the most that a criterion of the case allows."""
    loads = checked and checked.loads
    limits = [getattr(criteria_of(case.lab)[name], "most_loads", None) for name in case.asked]
    most = [limit(loads, case.limits) for limit in limits if limit and loads]
    return loads.model_copy(update={"most": min(most)}) if loads and most else loads


# ---- words ---------------------------------------------------------------------------------------


def main_finding(seen: Seen) -> Finding | None:
    """The checker's, which has a line and is nearest to the cause; else what is known of the result;
    else how the run ended. None where it is right and clean."""
    plain, checked, lab = seen.plain, seen.checked, seen.lab
    runs = [run for run in (plain, checked) if run is not None]
    if checked and checked.finding:
        return checked.finding
    if not plain.launches and plain.ended == "returned":
        return correct.no_launch(lab)
    for run in runs:
        if run.ended == "returned" and run.explanation:
            return run.explanation
    return next(filter(None, (correct.finding_of(lab, run) for run in runs)), None)


def with_launch(finding: Finding | None, plain: Outcome,
                checked: Outcome | None) -> Finding | None:
    """Both runs are of the same problem, and make the same launches."""
    launch = (checked and checked.launch) or plain.launch
    return finding.model_copy(update={"launch": launch}) if finding and launch else finding


def main_reason(first: Lost | None, checked: Outcome | None) -> str:
    """What the checker found is nearer to the cause than its consequences."""
    if first and checked and checked.finding:
        return correct.headline(checked.finding)
    return first.reason if first else ""


def hint_for(case: Case, first: Lost | None, finding: Finding | None) -> str:
    if first is None:
        return ""
    return (finding.hint if finding else None) or first.hint or case.hint
