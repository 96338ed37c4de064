"""What the grades of kernels prove about test cases: does each kernel get what was known
beforehand, and which case catches which fault? prove_cases.py makes the grades and prints the proof.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.cases.model import Case, Suite
from grader.criteria import BASIC
from grader.lab import Lab
from grader.record.model import Record, Test

GROUPS = {
    "starter": "starter",
    "solution": "solutions",
    "right": "correct in another style",
    "cheat": "cheats",
    "faulty": "faulty",
}
MOST_OF_A_WRONG_ONE = 0.85  # of all points
BY_CHANCE = "memory or correct"
MISTAKES = ("builds", *BASIC)  # without them there is a mistake; the most basic one first

# Operations up to which a case is tried on every faulty kernel: tenths of a second each.
LARGEST_FOR_ALL = 16_000_000


@dataclass(frozen=True)
class Kernel:
    """A kernel whose grade is known beforehand."""

    lab: Lab
    path: Path
    group: str  # one of GROUPS
    loses: str = ""  # one of declarable(); empty for the starter, for kernels of the group `right`, and
    # for cheats, unless they cheat a clock only

    @property
    def name(self) -> str:
        return self.path.stem if self.group != "starter" else self.path.name

    @property
    def family(self) -> int:
        """Of a faulty one: the number of its mistake."""
        return int(self.path.stem.split("_")[0])


def criteria(lab: Lab) -> tuple[str, ...]:
    """The most basic one first."""
    return (*MISTAKES, *(name for name in lab.marks if name not in BASIC))


def declarable(lab: Lab) -> tuple[str, ...]:
    return (*criteria(lab), BY_CHANCE, "nothing", "everything")


def large(case: Case) -> bool:
    return case.sizes.operations > LARGEST_FOR_ALL


def lost_in(test: Test) -> set[str]:
    """The criteria that the case has lost."""
    return {each.name for each in test.criteria if not each.passed and each.known}


def took_too_long(test: Test, declared: str) -> bool:
    """Who declares to do too much may come to no end, where a case asks for less."""
    asked = {each.name for each in test.criteria} - {*MISTAKES}
    return declared in asked and bool(test.finding) and test.finding.kind == "time-limit"


def few(names: list[str], shown: int = 4) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


@dataclass
class Proved:
    """A kernel and its grades."""

    kernel: Kernel
    records: list[Record]

    @property
    def tests(self) -> list[Test]:
        return [test for record in self.records for test in record.tests]

    @property
    def score(self) -> float:
        return sum(record.score for record in self.records)

    @property
    def points(self) -> float:
        return sum(record.max_score for record in self.records)

    @property
    def refused(self) -> str:
        """What it was refused for; empty if it was not."""
        return next((record.refusal.tried for record in self.records if record.refusal), "")

    def loses(self) -> str:
        """What it lost, as heads declare it."""
        if self.refused:
            return "everything"
        lost = {name for test in self.tests for name in lost_in(test)}
        if any(not record.build.ok for record in self.records):
            lost.add("builds")
        return next((name for name in criteria(self.kernel.lab) if name in lost), "nothing")

    def loses_as_declared(self) -> bool:
        """Of a faulty one. A kernel that launches nothing loses the points for a correct result."""
        declares, loses = self.kernel.loses, self.loses()
        if declares == BY_CHANCE:
            return loses in ("memory", "correct")
        return loses == declares or {loses, declares} == {"builds", "correct"}

    def catches(self) -> dict[str, str]:
        """Of a faulty kernel: the keys of the cases that take points for its fault, and the
        criterion. That it could be done better is no fault, unless it declares so."""
        found = {}
        for test in self.tests:
            lost = [name for name in criteria(self.kernel.lab) if name in lost_in(test)]
            if lost and (lost[0] in MISTAKES or self.kernel.loses == lost[0]):
                found[test.key] = lost[0]
        return found

    def failures(self) -> Iterator[str]:
        """Why this kernel's grade proves the cases wrong; nothing if it does not."""
        name, group, declares = self.kernel.name, self.kernel.group, self.kernel.loses
        order = criteria(self.kernel.lab)
        if group == "faulty":
            if self.loses() != "nothing" and not self.loses_as_declared():
                yield f"{name}: declares `loses: {declares}` and loses {self.loses()}{self.where()}"
        elif group == "right":
            if not self.refused:  # which no case decides
                yield from self.other_losses(order[len(MISTAKES):])
        elif declares:
            first = order.index(declares) if declares in order else len(order)
            yield from self.other_losses(order[first:], declares)
        elif self.score > 0:
            cases = [test.key for test in self.tests if test.score > 0]
            yield f"{name}: gets {self.score:g} of {self.points:g} points for nothing: {few(cases)}"

    def other_losses(self, allowed: Iterable[str], declared: str = "") -> Iterator[str]:
        """Of a kernel whose C is right: what it must not lose, and what it declares to lose and did
        not. Who loses a criterion may lose those less basic with it."""
        name = self.kernel.name
        if self.refused or not all(record.build.ok for record in self.records):
            why = self.refused or self.records[0].build.message
            yield f"{name}: is right, but is refused: {why}"
            return
        for test in self.tests:
            if took_too_long(test, declared):
                continue
            for criterion in test.criteria:
                lost = criterion.name in lost_in(test)
                if lost and criterion.name not in allowed:
                    yield (f"{name}: is right, but {test.key} takes points for "
                           f"{criterion.name}: {criterion.reason or test.reason}")
                if criterion.passed and declared == criterion.name:
                    yield f"{name}: declares `loses: {declared}`, but keeps it in {test.key}"

    def keeps(self, suites: list[Suite]) -> float:
        """The points that it has at most: of cases that were not tried, all."""
        known = {test.key: test for test in self.tests}
        if self.refused:
            return 0.0
        return sum(
            sum(case.points for case in suite.cases
                if case.key not in known or known[case.key].score) +
            sum(points for name, points in suite.points.items()
                if not any(name in lost_in(known[case.key]) for case in suite.cases
                           if case.key in known))
            for suite in suites)

    def where(self) -> str:
        """An example of what it loses, to go on a line."""
        if self.refused:
            return f": {self.refused}"
        return next((f" in {test.key}: {test.reason}" for test in self.tests
                     if self.loses() in lost_in(test)), "")


@dataclass
class Proof:
    """What all grades prove together. `failures`: lines, to which those of the grades are added."""

    suites: list[Suite]
    proved: list[Proved]
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faulty = [each for each in self.proved if each.kernel.group == "faulty"]
        self.catches = {each.kernel.name: each.catches() for each in self.faulty}
        self.refused = [each.kernel.name for each in self.faulty if each.refused]
        self.failures += [line for each in self.proved for line in each.failures()]
        self.failures += [f"{name} loses no points in any case" for name in self.free]
        self.failures += self.kept_too_much()

    @property
    def cases(self) -> list[Case]:
        return [case for suite in self.suites for case in suite.cases]

    def kept_too_much(self) -> Iterator[str]:
        """By faulty kernels that are wrong."""
        possible = sum(suite.worth for suite in self.suites)
        for each in self.faulty:
            kept = each.keeps(self.suites)
            wrong = self.catches[each.kernel.name] and each.kernel.loses in (*MISTAKES, BY_CHANCE, "everything")
            if wrong and kept > MOST_OF_A_WRONG_ONE * possible:
                yield f"{each.kernel.name}: is wrong, and keeps {kept:g} of {possible:g} points"

    @property
    def free(self) -> list[str]:
        """Faulty kernels that no case catches."""
        return [name for name, caught in self.catches.items()
                if not caught and name not in self.refused]

    @property
    def only_free(self) -> bool:
        """Nothing else is wrong: other sizes may catch them."""
        return len(self.failures) == len(self.free) > 0

    def caught_by(self, case: Case) -> list[str]:
        return [name for name, caught in self.catches.items() if case.key in caught]

    def only_by(self, case: Case) -> list[str]:
        return [name for name in self.caught_by(case) if len(self.catches[name]) == 1]

    def redundant(self) -> list[Case]:
        """Cases that catch nothing alone. Large ones were not tried on all kernels."""
        return [case for case in self.cases if not self.only_by(case) and not large(case)]
