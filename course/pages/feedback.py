"""A student's own page: what a TA would write to them.

In: where the student stands. Out: Feedback, which the templates show. What is said of the
submission comes from student.json and the student's own text; the student's name, from
Student alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..model import Attempt, Override, Standing, State
from ..record import SOURCE, Case, Item, Mark, Record, Timing, placed
from ..text import points
from .mistakes import Mistake, mistakes_of
from .source import Line, around, lines_of, marked

INSTEAD: dict[State, str] = {
    "excused": "This assignment does not count for you.",
    "missing": "Nothing was handed in.",
    "unusable": "What was handed in is unusable:",
    "fault": "Not graded yet: the machine that grades failed. This costs you no points.",
    "waiting": "Not graded yet.",
}

@dataclass(frozen=True)
class Advice:
    """On one mistake."""

    headline: str
    """With its place: "kernel.cu:29: race on shared memory"."""
    details: tuple[str, ...]
    hint: str
    items: tuple[Item, ...]
    """Which lost points for it; empty: all."""
    code: Sequence[Line]
    """Around the mistake; empty where its line is not known."""
    printed: str
    command: str
    """To try next."""

    @property
    def cost(self) -> str:
        if not self.items:
            return "All cases get 0 points because of this."
        return f"You lost points for this in {', '.join(item.name for item in self.items)}."


@dataclass(frozen=True)
class Bar:
    what: str
    kind: str
    """CSS class."""
    count: int
    part: float
    """Of the longest bar: 0 to 1."""


@dataclass(frozen=True)
class Feedback:
    assignment: str
    name: str
    total: str
    """One line: "26 of 40 points"."""
    account: list[tuple[str, str]]
    """How the total comes about, where it is not just the points of the cases: what, how much."""
    remarks: list[str]
    record: Record | None
    """As students see it; None: there is none."""
    advice: list[Advice]
    public: list[Case]
    hidden: list[Case]
    public_marks: list[Mark]
    hidden_marks: list[Mark]
    """All empty where all cases got 0 points for one reason."""
    speed: list[Timing]
    not_timed: str
    loads: list[tuple[Case, list[Bar]]]
    attempts: tuple[Attempt, ...]
    counted: Attempt | None
    code: Sequence[Line]

    def is_counted(self, attempt: Attempt) -> bool:
        return self.counted is not None and attempt.number == self.counted.number


def feedback_of(standing: Standing, assignment: str, deadline: datetime | None = None) -> Feedback:
    attempt = standing.counted
    record = attempt.seen if attempt else None
    code = code_of(attempt, record) if attempt else []
    graded = record if record and record.build.ok and not record.refusal else None
    tests, marks = (graded.tests, graded.marks) if graded else ([], [])
    return Feedback(
        assignment, standing.student.known_as, total(standing), account(standing), remarks(standing, deadline),
        record, advice(record, code) if record else [],
        public=[test for test in tests if not test.hidden],
        hidden=[test for test in tests if test.hidden],
        public_marks=[mark for mark in marks if not mark.hidden],
        hidden_marks=[mark for mark in marks if mark.hidden],
        speed=record.timed if tests and record else [],
        not_timed=not_timed(record) if record else "",
        loads=[(test, bars(test)) for test in tests if test.loads],
        attempts=standing.attempts, counted=attempt, code=code)


# ---- points --------------------------------------------------------------------------------------


def total(standing: Standing) -> str:
    if standing.points is None:
        return INSTEAD.get(standing.state, "No points.")
    possible = f" of {points(standing.possible)}" if standing.possible is not None else ""
    return f"{points(standing.points)}{possible} points"


def account(standing: Standing) -> list[tuple[str, str]]:
    rows = []
    if standing.late:
        rows.append((standing.late, f"−{points(standing.deducted)}" if standing.deducted else ""))
    override = standing.override
    if override and override.points is not None:
        rows.append((because("changed by hand", override), points(override.points)))
    if rows and standing.raw is not None:
        rows.insert(0, ("for the cases", points(standing.raw)))
    return rows


def remarks(standing: Standing, deadline: datetime | None) -> list[str]:
    lines = []
    if standing.points is not None and standing.state in INSTEAD:  # else the total says it
        lines.append(INSTEAD[standing.state])
    if standing.state == "unusable" and standing.counted:
        # Whether it has passed depends on who reads the page when.
        until = f" (deadline: {deadline:%A, %B} {deadline.day}, {deadline:%Y, %H:%M %Z})" if deadline else ""
        lines += [standing.counted.problem,
                  f"It earns no points as it is. Hand in {SOURCE} again, alone or in a zip{until}."]
    override = standing.override
    if override and override.excused:
        lines.append(because("Excused", override))
    elif override and override.extension:
        lines.append(because(f"You had {override.extension:g} more days", override))
    elif override and override.submitted:
        lines.append(because("The time at which you handed in was changed by hand", override))
    return lines


def because(what: str, override: Override) -> str:
    return f"{what}: {override.reason}" if override.reason else what


# ---- mistakes ------------------------------------------------------------------------------------


def code_of(attempt: Attempt, record: Record | None) -> list[Line]:
    """All of kernel.cu, with the mistakes of public cases at their lines."""
    marks = [(each.line, each.words) for each in shown(record)] if record else []
    return marked(lines_of(attempt.source), marks)


def shown(record: Record) -> list[Mistake]:
    """The mistakes that a student may see with their lines: those of public cases, and of all."""
    return [each for each in mistakes_of(record.model_copy(update={
        "tests": [test for test in record.tests if not test.hidden],
        "performance": [timing for timing in record.performance if not timing.hidden]}))
        if each.kind != "timed"]


def advice(record: Record, code: list[Line]) -> list[Advice]:
    return [advise(record, mistake, code) for mistake in shown(record)]


def advise(record: Record, mistake: Mistake, code: list[Line]) -> Advice:
    excerpt = around(code, mistake.line)
    if not mistake.items:
        refusal = record.refusal
        headline, *more = record.whole
        details = record.build.output.splitlines() if not refusal else []
        return Advice(headline, tuple(details), refusal.hint if refusal else "", (), excerpt, "",
                      "make grade" if refusal else "make")
    first = mistake.items[0]
    finding = first.finding if isinstance(first, Case) else None
    named = finding.mistake if finding else None
    headline = placed(named.file, named.line, named.what) if named else first.reason
    return Advice(headline, tuple(finding.below) if finding else (),
                  (named.hint if named else "") or first.hint, mistake.items, excerpt,
                  first.output if isinstance(first, Case) else "", command(record, first))


def check(record: Record, words: str) -> str:
    program = f"{record.lab.name}-check"
    return f"make {program} && ./{program} {words}"


def command(record: Record, item: Item) -> str:
    """What shows this mistake again, on a student's machine."""
    if not isinstance(item, Case):
        return "make grade BACKEND=cuda"
    shape = " ".join(map(str, (item.params or {}).values()))
    if not item.finding:
        return check(record, f"{shape} --counts")
    return check(record, f"{shape} --fill {item.fill} --seed {item.seed}")


# ---- loads ---------------------------------------------------------------------------------------


def bars(test: Case) -> list[Bar]:
    loads = test.loads
    assert loads
    counts = [("the naive kernel", "naive", loads.naive), ("your kernel", "own", loads.all)]
    if loads.most is not None:
        counts.append(("at most, for the points", "limit", loads.most))
    counts.append(("each block loads each element once", "once", loads.once_per_block))
    longest = max(1, *(count for _, _, count in counts))
    return [Bar(what, kind, count, count / longest) for what, kind, count in counts]


# ---- words ---------------------------------------------------------------------------------------


def in_words(feedback: Feedback) -> str:
    """What to do, as the heading of a section."""
    if len(feedback.advice) > 1:
        return "Fix the first of these first"
    if feedback.advice:
        return "Fix this"
    missing = lost(feedback.hidden) + lost(feedback.speed)
    return "What to try next" if missing else "Nothing to fix"


def next_without_mistakes(feedback: Feedback) -> str:
    """A paragraph below that heading; empty: the mistakes say it."""
    if len(feedback.advice) > 1:
        return "Then check again: the others may have the same cause."
    if feedback.advice:
        return ""
    hidden = feedback.hidden
    if lost(hidden):
        return (f"Nothing is wrong in the cases that you can see. {lost(hidden)} of the "
                f"{len(hidden)} hidden ones lost points. Check sizes of your own, all different and none "
                f"a multiple of your block: {check(feedback.record, sizes_of(feedback))}")
    if lost(feedback.speed):
        return "No mistake was found. Only speed is missing: see below."
    return "No mistake was found."


def sizes_of(feedback: Feedback) -> str:
    """What stands for them in a command."""
    return " ".join(name.upper() for name in next((case.params for case in feedback.public
                                                   if case.params), ["SIZE"]))


def lost(items: Sequence[Item]) -> int:
    """How many lost points."""
    return sum(not item.nothing_lost for item in items)


def reasons(test: Case) -> list[str]:
    """Each once. Of a hidden case one: those of its criteria are made of the criteria alone."""
    of_criteria = [] if test.hidden else [each.reason for each in test.criteria]
    return [each for each in dict.fromkeys((test.reason, *of_criteria)) if each]


def not_timed(record: Record) -> str:
    """One line about shapes that were not; empty where all were."""
    untimed = len(record.performance) > len(record.timed)
    return "Speed was not timed (no GPU); this costs no points." if untimed else ""


def one_reason(tests: Sequence[Case]) -> str:
    """Why all of these got nothing, where that is one reason for all; else empty."""
    reasons = {"" if test.score else test.reason for test in tests}
    return reasons.pop() if len(reasons) == 1 else ""


def time_of(attempt: Attempt) -> str:
    when = attempt.hand_in.submitted
    return f"{when:%Y-%m-%d %H:%M} {when:%Z}".strip() if when else "time not known"


def result_of(attempt: Attempt) -> str:
    if attempt.record:
        return f"{points(attempt.record.score)} of {points(attempt.record.max_score)}"
    return "unusable" if attempt.problem else "not graded"
