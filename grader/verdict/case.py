"""From the outcomes of a case's runs to criteria, points and reasons.

In: Outcome (run/outcome.py) of the plain run and, where there is one, the checked run; and of both once
more, where the submission was repaired (one_case.py). Out: Test (record/model.py). Nothing here raises.

Meaning of the criteria (docs/points.md says the same to students):

builds   it compiles, is not refused, and launches a kernel
correct  C is right in the plain build, and in the checked run where there is one
memory   correct, and the checked run of the same shape finds nothing
tiled    correct, with a quarter of the naive kernel's loads at most, and with threads that read
         what others of their block have stored, at least as often as they load; where the case
         asks for it, by so many threads as `parallel`
parallel correct, and by at least as many threads as the case asks for

A criterion that is lost to one mistake alone keeps the case's share `nearly` of its points. That is
known where the run is right with one barrier more, or where one formula gives all that is wrong in C:
a formula of products, and of most of them, so that it takes a kernel that multiplies.
"""

from __future__ import annotations

import math

from ..cases.model import Case
from ..record.model import Cause, Criterion, CriterionName, Finding, Loads, Test, at, but_for
from ..run.outcome import Outcome
from ..text import counted
from .points import ABOUT, status_of

ORDER: tuple[CriterionName, ...] = ("builds", "correct", "memory", "tiled", "parallel")

# Up to this many products a case has a checked run whatever its criteria: it takes half a second,
# and shows what a right C hides, such as a product that was computed on the host.
ALWAYS_CHECKED = 50_000_000

# Tiles of T x T let each element be loaded once a block instead of T times. This is the handout's
# rule, and leaves room for tiles at the edge and for other schemes (registers, rows of tiles).
LEAST_REUSE = 4

# Of the products of A and B, how many a C must have to be the right one but for a mistake: enough that
# leaving out the rest is no way to save work, and few enough for k = 18 in whole tiles of 16.
LEAST_PRODUCTS = 0.5

OUT_OF_TIME = frozenset({"endless", "deadlock", "time-limit"})
"""Ends of a plain run after which a checked one is not worth its time."""


HEADLINES = {
    "endless": "the kernel does not end",
    "time-limit": "time limit exceeded",
    "deadlock": "deadlock: threads of a block wait for each other",
    "kernel-fault": "the kernel stopped with a fault",
    "host-fault": "host code crashed, or ended the program",
    "no-launch": "no kernel is launched",
    "input-written": "an input is written",
    "out-of-bounds": "load or store outside an array or another allocation",
    "unwritten": "elements of the result are never written",
    "wrong-result": "the result is wrong",
    "not-float32": "the result is less precise than float32",
}
"""As the engine's table has them, of the kinds that are found here and not by the judge."""


def of_kind(kind: str, what: str = "", hint: str = "") -> Finding:
    return Finding(kind=kind, headline=HEADLINES[kind], what=what or HEADLINES[kind], hint=hint or None)


ENDS = {
    "endless": of_kind("endless", hint="which loop has a condition that never becomes false?"),
    "deadlock": of_kind("deadlock", hint="which threads must arrive for this one to continue?"),
    "time-limit": of_kind("time-limit", hint="how many blocks does the result need, and what does each "
                                             "thread compute more than once?"),
    "crashed": of_kind("host-fault", "it crashed"),
    "exited": of_kind("host-fault", "it ended the program instead of returning",
                      "basicSgemm must return, whatever happens"),
    "stopped": of_kind("kernel-fault", "it was stopped"),
}
"""Of a run that did not return, where no more is known."""

NO_LAUNCH = of_kind(
    "no-launch", "basicSgemm launches no kernel",
    hint="basicSgemm chooses block and grid, and then launches mysgemm<<<grid, block>>>(...): how many "
         "threads does C need?")
THREADS_HINT = "let each thread compute an element of C, or a few of them"
TILE_HINT = "let each block load tiles of A and B into shared memory, and use every element often"


def wants_checked(case: Case) -> bool:
    asked = not case.criteria.keys().isdisjoint(("memory", "tiled", "parallel"))
    return asked or case.products <= ALWAYS_CHECKED


def wants_counts(case: Case) -> bool:
    return "tiled" in case.criteria or "parallel" in case.criteria


def judge_case(case: Case, plain: Outcome, checked: Outcome | None,
               repaired: tuple[Outcome, Outcome] | None = None) -> Test:
    """`checked` is None where it is not wanted, or the plain run did not end. A checked run that
    does not end in time, after a plain run that did, costs the criteria that need it, never
    `correct`. `repaired`: both runs with the barrier that the checked one has found missing."""
    against = reasons(case, plain, checked)
    spared = spared_by(case, against, plain, checked, repaired)
    mistake = but_for(one_mistake(plain, checked)) if spared else ""
    criteria = [
        Criterion(name=name, score=points_for(case, name, against[name], name in spared),
                  max_score=case.criteria[name], passed=not against[name], nearly=name in spared,
                  reason=mistake if name in spared else against[name])
        for name in ORDER
        if name in case.criteria
    ]
    lost = [each for each in criteria if not each.passed]
    finding = with_launch(main_finding(plain, checked), plain, checked) if lost else None
    return Test(
        **case.model_dump(include=ABOUT | {"fill", "seed"}),
        score=math.fsum(each.score for each in criteria), max_score=case.points,
        status=status_of(criteria), criteria=criteria, reason=mistake or main_reason(lost, checked),
        hint=hint_for(case, lost, finding), finding=finding,
        loads=loads_of(case, checked), blocks=checked.blocks if checked else None,
        output=plain.output,
        seconds=sum(run.seconds for run in (plain, checked, *(repaired or ())) if run),
    )  # fmt: skip


def reasons(case: Case, plain: Outcome, checked: Outcome | None) -> dict[CriterionName, str]:
    """Why each criterion is lost, or ""."""
    return {
        "builds": against_builds(plain),
        "correct": against_correct(plain, checked),
        "memory": against_memory(plain, checked),
        "tiled": against_tiled(case, plain, checked),
        "parallel": against_parallel(case, plain, checked),
    }


def points_for(case: Case, name: CriterionName, against: str, spared: bool) -> float:
    share = 0.0 if against else 1.0
    return round((case.nearly if spared else share) * case.criteria[name], 6)


# ---- one mistake ---------------------------------------------------------------------------------


def spared_by(case: Case, against: dict[CriterionName, str], plain: Outcome,
              checked: Outcome | None,
              repaired: tuple[Outcome, Outcome] | None) -> set[CriterionName]:
    """The criteria that are lost to one mistake alone; none where that is not known."""
    without = repaired if repaired and finds_nothing(*repaired) else without_formula(plain, checked)
    if not case.nearly or without is None:
        return set()
    left = reasons(case, *without)
    return {name for name in case.criteria if against[name] and not left[name]}


def finds_nothing(plain: Outcome, checked: Outcome) -> bool:
    return not against_memory(plain, checked)


def without_formula(plain: Outcome,
                    checked: Outcome | None) -> tuple[Outcome, Outcome | None] | None:
    """Both runs as they would be without the mistake that alone explains C in both of them."""
    if not explained(plain) or checked and not confirms(checked, plain):
        return None
    return tuple(run and run.model_copy(update={"right": run.ended == "returned"})
                 for run in (plain, checked))  # type: ignore[return-value]


def explained(run: Outcome) -> bool:
    return (run.ended == "returned" and run.launches > 0 and run.explanation is not None
            and run.explanation.products >= LEAST_PRODUCTS
            and not run.inputs_changed and not run.guards_changed)


def confirms(checked: Outcome, plain: Outcome) -> bool:
    """It found nothing, and the same formula; or came to no end."""
    if checked.finding or checked.ended == "time-limit":
        return not checked.finding
    assert plain.explanation
    return (explained(checked) and checked.explanation is not None
            and checked.explanation.formula == plain.explanation.formula)


def one_mistake(plain: Outcome, checked: Outcome | None) -> str:
    """In words."""
    if checked and checked.finding:
        return headline(checked.finding)
    assert plain.explanation
    return plain.explanation.claim or headline(plain.explanation)


# ---- one criterion each: why it is lost, or "" ---------------------------------------------------


def against_builds(plain: Outcome) -> str:
    return "" if plain.launches else NO_LAUNCH.what


def against_correct(plain: Outcome, checked: Outcome | None) -> str:
    why = what_went_wrong(plain)
    if why or checked is None:
        return why
    if checked.finding and not checked.finding.may_be_right:
        return headline(checked.finding)
    if checked.ended == "time-limit" or checked.ended == "stopped" and checked.finding:
        return ""
    why = what_went_wrong(checked)
    return f"in the checked build: {why}" if why else ""


def against_memory(plain: Outcome, checked: Outcome | None) -> str:
    if checked is not None and checked.finding:
        return headline(checked.finding)
    if checked is None and not what_went_wrong(plain):
        return "its loads and stores were not examined"
    return against_correct(plain, checked) or against_examination(checked)


def against_tiled(case: Case, plain: Outcome, checked: Outcome | None) -> str:
    why = against_parallel(case, plain, checked)
    if why:
        return why
    assert checked and checked.loads
    if checked.loads.all < case.m * case.k + case.k * case.n:
        return "its loads were not all seen: each element of A and B takes one"
    return against_loads(checked.loads)


def against_loads(loads: Loads) -> str:
    most = most_loads(loads)
    if loads.all > most:
            return f"{loads.all} loads from global memory; tiles need at most {most}"
    if loads.exchanged < loads.all:
        return f"threads read {loads.exchanged} elements that others of their block have stored, " \
            f"and load {loads.all}; tiles need at least as many"
    return ""


def against_parallel(case: Case, plain: Outcome, checked: Outcome | None) -> str:
    why = against_correct(plain, checked) or against_examination(checked)
    if why:
        return why
    if checked is None or checked.loads is None:
        finding = checked.finding if checked else None
        return headline(finding) if finding else "its loads could not be counted"
    if checked.loads.threads >= case.least_threads:
        return ""
    threads = counted(checked.loads.threads, "thread")
    return f"{threads} shared in the work; at least {case.least_threads} " \
        "have to"


def against_examination(checked: Outcome | None) -> str:
    """Why a checked run did not end, if it found nothing before."""
    timed_out = checked and checked.ended == "time-limit" and not checked.finding
    return what_went_wrong(checked) if checked and timed_out else ""


def loads_of(case: Case, checked: Outcome | None) -> Loads | None:
    if checked is None or checked.loads is None or "tiled" not in case.criteria:
        return checked and checked.loads
    return checked.loads.model_copy(update={"most": most_loads(checked.loads)})


def most_loads(loads: Loads) -> int:
    """How many elements a kernel that counts as tiled may load."""
    return loads.naive // LEAST_REUSE


# ---- words ---------------------------------------------------------------------------------------


def what_went_wrong(run: Outcome) -> str:
    """Why this run's C is not right; "" when it is."""
    if run.ended != "returned":
        return at(run.file, run.line, run.detail or ENDS[run.ended].what)
    if run.right:
        return ""
    if not run.launches:
        return NO_LAUNCH.what
    if run.inputs_changed:
        return f"changed {counted(run.inputs_changed, 'element')} of A and B"
    if run.explanation:
        return headline(run.explanation)
    bad = run.wrong + run.unwritten
    if bad:
        is_wrong = "is wrong or was" if bad == 1 else "are wrong or were"
        return f"{bad} of {run.elements} elements of C {is_wrong} never written"
    if run.guards_changed:
        return f"wrote {counted(run.guards_changed, 'number')} outside A, B and C"
    return "C is less precise than float32"


def main_finding(plain: Outcome, checked: Outcome | None) -> Finding | None:
    """The checker's, which has a line and is nearest to the cause; else what is known of C; else
    how the run ended. None where only tiles are missing."""
    runs = [run for run in (plain, checked) if run is not None]
    if checked and checked.finding:
        return checked.finding
    if not plain.launches and plain.ended == "returned":
        return NO_LAUNCH
    for run in runs:
        if run.ended == "returned" and run.explanation:
            return run.explanation
    for run in runs:
        what = what_went_wrong(run)
        if what:
            known = ENDS.get(run.ended) or of_kind(kind_of_result(run), what)
            return known.model_copy(update={"what": what, "file": run.file, "line": run.line})
    return None


def with_launch(finding: Finding | None, plain: Outcome,
                checked: Outcome | None) -> Finding | None:
    """Both runs are of the same problem, and make the same launches."""
    launch = (checked and checked.launch) or plain.launch
    return finding.model_copy(update={"launch": launch}) if finding and launch else finding


def kind_of_result(run: Outcome) -> str:
    if run.inputs_changed:
        return "input-written"
    if run.wrong + run.unwritten:
        return "wrong-result" if run.wrong else "unwritten"
    return "out-of-bounds" if run.guards_changed else "not-float32"


def headline(finding: Cause | Finding) -> str:
    return at(finding.file, finding.line, finding.what)


def main_reason(lost: list[Criterion], checked: Outcome | None) -> str:
    """What the checker found is nearer to the cause than its consequences."""
    if lost and checked and checked.finding:
        return headline(checked.finding)
    return lost[0].reason if lost else ""


def hint_for(case: Case, lost: list[Criterion], finding: Finding | None) -> str:
    if not lost:
        return ""
    if finding and finding.hint:
        return finding.hint
    if lost[0].name in ("tiled", "parallel") and finding is None:
        return THREADS_HINT if "shared in the work" in lost[0].reason else TILE_HINT
    return case.hint
