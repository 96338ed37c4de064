"""correct: C is right in the plain build, and in the checked one, which finds nothing that could not
work on a GPU either. A checked run that does not end in time says nothing against C."""

from __future__ import annotations

from ..record.model import Cause, Finding, at
from ..run.outcome import Outcome
from ..text import counted
from . import Lost, Seen

PHRASE = "C is not right"
"""For hidden cases: the same words for all of them."""

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


def judge(seen: Seen) -> Lost | None:
    why = against(seen.plain, seen.checked)
    return Lost(why) if why else None


def against(plain: Outcome, checked: Outcome | None) -> str:
    why = what_went_wrong(plain)
    if why or checked is None:
        return why
    if checked.finding and not checked.finding.may_be_right:
        return headline(checked.finding)
    if checked.ended == "time-limit" or checked.ended == "stopped" and checked.finding:
        return ""
    why = what_went_wrong(checked)
    return f"in the checked build: {why}" if why else ""


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


def unexamined(checked: Outcome | None) -> str:
    """Why a checked run did not end, if it found nothing before."""
    timed_out = checked and checked.ended == "time-limit" and not checked.finding
    return what_went_wrong(checked) if checked and timed_out else ""


def headline(finding: Cause | Finding) -> str:
    return at(finding.file, finding.line, finding.what)
