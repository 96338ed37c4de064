"""correct: the result is right in the plain build, and in the checked one, which finds nothing that could
not work on a GPU either. A checked run that does not end in time says nothing against it."""

from __future__ import annotations

from ..lab import Lab
from ..record.model import Cause, Finding, at
from ..run.outcome import Outcome
from ..text import counted, grouped, listed
from . import Lost, Seen

TITLE = "correct"
PHRASE = "the result is not correct"
COUNTS = False


def of_kind(lab: Lab, kind: str, what: str = "") -> Finding:
    """Of those that are found here and not by the judge; in the lab's words."""
    known = lab.kinds[kind]
    return Finding(kind=kind, headline=known.headline, what=what or known.headline, hint=known.hint or None)


def of_end(lab: Lab, ended: str) -> Finding:
    """Of a run that did not return, where no more is known."""
    kind, what = {"crashed": ("host-fault", "it crashed"),
                  "exited": ("host-fault", "it ended the program instead of returning"),
                  "stopped": ("kernel-fault", "it was stopped")}.get(ended, (ended, ""))
    found = of_kind(lab, kind, what)
    return found.model_copy(update={"hint": f"{lab.wrapper} must return, whatever happens"}) \
        if ended == "exited" else found


def no_launch(lab: Lab) -> Finding:
    return of_kind(lab, "no-launch", f"{lab.wrapper} launches no kernel")


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
    """Why this run's result is not correct; "" when it is."""
    if run.ended != "returned":
        return at(run.file, run.line, run.detail or of_end(lab, run.ended).what)
    if run.right:
        return ""
    if not run.launches:
        return no_launch(lab).what
    if run.inputs_changed:
        return f"changed {counted(run.inputs_changed, 'element')} of {listed(lab.inputs)}"
    if run.explanation:
        return headline(run.explanation)
    bad = run.wrong + run.unwritten
    if bad:
        is_wrong = "is wrong or was" if bad == 1 else "are wrong or were"
        return f"{grouped(bad)} of {grouped(run.elements)} elements of {lab.result} {is_wrong} never written"
    if run.guards_changed:
        return f"wrote {counted(run.guards_changed, 'number')} outside {lab.arrays}"
    return lab.kinds["not-float32"].headline


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
