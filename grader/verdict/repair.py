"""One mistake, proved by its repair.

Two repairs are known: the barrier that the checker has found missing, which is put into the text and
graded on all cases (grade.py), and has to make everything correct and clean; and a formula
that gives all that is wrong in the result, which proves the cases that it explains.

In: a submission's text and findings, outcomes of a case. Out: texts to be tried, or what a case would be
without the mistake. Nothing here raises.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..cases.model import Case
from ..criteria.correct import headline
from ..criteria import BASIC
from ..record.model import Finding, Test
from ..run.outcome import Outcome
from .points import judge_case

BARRIER = b"__syncthreads();"
MOST_TRIED = 2  # each takes as long as the submission itself

# Of the terms of the right sums, how many a result must have to be right but for a mistake: enough that
# leaving out the rest is no way to save work, and few enough for a last tile that is left out.
LEAST_PRODUCTS = 0.5


@dataclass(frozen=True)
class Repaired:
    """`tests`: what each case is, once the mistake is repaired."""

    mistake: str
    tests: dict[str, Test]


def clean(test: Test) -> bool:
    """Correct, and no mistake was found."""
    return all(each.passed for each in test.criteria if each.name in BASIC)


def one_mistake(test: Test) -> bool:
    """Whether a repair may be known. For the gate: then the other cases are run all the same."""
    found = test.finding
    return found is not None and (found.barrier_after > 0 or found.products >= LEAST_PRODUCTS)


# ---- one barrier more ----------------------------------------------------------------------------


def missing_barriers(tests: Iterable[Test]) -> list[Finding]:
    """Findings that name a place for one, a place once."""
    places: dict[int, Finding] = {}
    for test in tests:
        if test.finding and test.finding.barrier_after:
            places.setdefault(test.finding.barrier_after, test.finding)
    return list(places.values())[:MOST_TRIED]


def with_barrier(source: bytes, finding: Finding) -> bytes | None:
    """The submission with the barrier that the finding misses; None where it names no place. What the
    finding says came from a process in which student code ran, and decides nothing but where that
    line is: points depend on what the repaired submission computes. The line may be one at which no
    statement can stand; then the text does not compile."""
    lines = source.split(b"\n")
    if not 0 < finding.barrier_after < len(lines):
        return None
    lines.insert(finding.barrier_after, BARRIER)
    return b"\n".join(lines)


# ---- a formula -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explained:
    """A case whose result a formula gives, and what it would be with the right one."""

    formula: str
    mistake: str
    test: Test


def explain(case: Case, plain: Outcome, checked: Outcome | None) -> Explained | None:
    """Where one formula gives all that is wrong in both runs (of the checked one, if it came to an end), and nothing
    else was found: a formula with most of the right terms, so that it takes a kernel that computes."""
    runs = [plain, *([checked] if checked and checked.ended != "time-limit" else [])]
    if checked and checked.finding or not all(map(explained, runs)) \
            or len({run.explanation and run.explanation.formula for run in runs}) > 1:
        return None
    right = [run and run.model_copy(update={"right": run.ended == "returned", "explanation": None})
             for run in (plain, checked)]
    assert right[0] and plain.explanation
    said = plain.explanation
    return Explained(said.formula or "", said.claim or headline(said), judge_case(case, right[0], right[1]))


def explained(run: Outcome) -> bool:
    return (run.ended == "returned" and run.launches > 0 and run.explanation is not None
            and run.explanation.products >= LEAST_PRODUCTS
            and not run.inputs_changed and not run.guards_changed)


def without_formula(tests: dict[str, Test], explained: dict[str, Explained]) -> Repaired | None:
    """The cases that one formula explains as they would be; all others as they are. Of several formulas,
    that of most cases counts."""
    if not explained:
        return None
    formulas = [explained[key].formula for key in tests if key in explained]
    most = max(formulas, key=formulas.count)  # of equals, the first
    repaired = {key: each for key, each in explained.items() if each.formula == most}
    first = next(repaired[key] for key in tests if key in repaired)
    return Repaired(first.mistake, tests | {key: each.test for key, each in repaired.items()})
