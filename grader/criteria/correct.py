"""correct: the result is right in the plain build, and in the checked one, which finds nothing that could
not work on a GPU either. A checked run that does not end in time says nothing against it."""

from ..lab import Lab
from ..record.model import Cause, Finding, at
from ..run.outcome import Outcome
from ..text import counted, grouped, listed
from . import Lost, Seen

TITLE = "correct"
PHRASE = "the result is not correct"
COUNTS = False


def of_kind(lab: Lab, kind: str, what: str = "", hint: str = "") -> Finding:
    """Of those that are found here and not by the judge; in the lab's words."""
    known = lab.kinds[kind]
    return Finding(kind=kind, headline=known.headline, what=what or known.headline, hint=hint or known.hint or None)


def of_end(lab: Lab, ended: str, launches: int, build: str) -> Finding:
    """Of a run that did not return, where no more is known. There is a checked one where the plain one ended."""
    if ended == "time-limit" and not launches:
        return of_kind(lab, "host-fault", hint=f"which loop of {lab.wrapper} has a condition that never becomes false?")
    if ended == "time-limit" and build == "checked":
        return of_kind(lab, ended, hint="without checks it ends: fewer loads, stores and atomic operations would take "
                                        "the checks less time")
    if ended == "exited":
        return of_kind(lab, "host-fault", "it ended the program instead of returning",
                       f"{lab.wrapper} must return, whatever happens")
    kind, what = {"crashed": ("host-fault", "it crashed"),
                  "stopped": ("kernel-fault", "it was stopped")}.get(ended, (ended, ""))
    return of_kind(lab, kind, what)


def no_launch(lab: Lab) -> Finding:
    return of_kind(lab, "no-launch", f"{lab.wrapper} launches no kernel")


def finding_of(lab: Lab, run: Outcome) -> Finding | None:
    """Why this run's result is not correct; None when it is."""
    if run.right and run.ended == "returned":
        return None
    if run.ended != "returned":
        found = of_end(lab, run.ended, run.launches, run.build)
        found = found.model_copy(update={"what": at(run.file, run.line, run.detail or found.what)})
    elif not run.launches:
        found = no_launch(lab)
    elif run.inputs_changed:
        found = of_kind(lab, "input-written",
                        f"changed {counted(run.inputs_changed, 'element')} of {listed(lab.inputs)}")
    elif run.explanation:
        return run.explanation
    elif bad := run.wrong + run.unwritten:
        is_wrong = "is wrong or was" if bad == 1 else "are wrong or were"
        found = of_kind(lab, "wrong-result" if run.wrong else "unwritten",
                        f"{grouped(bad)} of {grouped(run.elements)} elements of {lab.result} {is_wrong} never written")
    elif run.guards_changed:
        found = of_kind(lab, "out-of-bounds", f"wrote {counted(run.guards_changed, 'number')} outside {lab.arrays}")
    else:
        found = of_kind(lab, "not-float32")
    return found.model_copy(update={"file": run.file, "line": run.line})


def judge(seen: Seen) -> Lost | None:
    why = against(seen)
    return Lost(why) if why else None


def against(seen: Seen) -> str:
    checked, why = seen.checked, what_went_wrong(seen.lab, seen.plain)
    if why or checked is None:
        return why
    if checked.finding and not checked.finding.may_be_right:
        return headline(checked.finding)
    if checked.ended == "time-limit" or checked.ended == "stopped" and checked.finding:
        return ""
    why = what_went_wrong(seen.lab, checked)
    return f"in the checked build: {why}" if why else ""


def what_went_wrong(lab: Lab, run: Outcome) -> str:
    """The same in words; "" when it is correct."""
    found = finding_of(lab, run)
    return headline(found) if found else ""


def unexamined(seen: Seen) -> str:
    """Why a checked run did not end, if it found nothing before."""
    checked = seen.checked
    timed_out = checked and checked.ended == "time-limit" and not checked.finding
    return what_went_wrong(seen.lab, checked) if checked and timed_out else ""


def uncounted(seen: Seen, what: str) -> Lost | None:
    """What keeps a criterion from the counts of the checked run: a wrong result, a run that came to no end, or a
    mistake before anything could be counted; else `what`. None: they are there."""
    if lost := judge(seen):
        return lost
    if why := unexamined(seen):
        return Lost(why)
    if seen.checked and seen.checked.loads is not None:
        return None
    finding = seen.checked.finding if seen.checked else None
    return Lost(headline(finding) if finding else what, known=False)


def headline(finding: Cause | Finding) -> str:
    return at(finding.file, finding.line, finding.what)
