"""`make cases`: is it safe to publish these test cases?

    prove_cases.py [--faulty GLOB] [--groups LIST] [--seed N] [--jobs N] [--full] [--files]

Grades everything whose grade is known beforehand, on all suites:

    instructor/solutions/   loses what its head declares (`loses: nothing`), in every case, no more
    tests/kernels/right/    right in another style: loses no more than the points for tiling
    kernel.cu               the empty starter gets nothing
    instructor/cheats/      get nothing; but those that cheat a clock (`fails: speed`) are graded
                            without one, and lose what their heads declare, and no more
    instructor/faulty/      lose points where their heads declare it

`loses:` names the most basic criterion that is lost, in the order builds, correct, memory, tiled;
what rests on it goes with it. So `correct`: wrong in some case; `memory`: right everywhere, but the
checker finds something; `memory or correct`: the same, but blocks race, and now and then the result
is wrong, too; `builds`: launches nothing at any size; `everything`: refused as a whole.

Faulty kernels are tried in each case by itself, whatever it depends on; in large cases only those
that no smaller case catches. A table shows which case catches how many of them, and three lists:
cases that catch nothing that others do not, faults that a single case catches, faults that go free.

With --files (`make cases-check`) nothing is graded: are the files in order, and what is in them?

Exit status: 0 sound; 1 a solution fails, or somebody gets points for nothing; 2 a case or an option
cannot be used; 3 the machine is at fault; 130 interrupted.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY))

from grader import interrupt  # noqa: E402

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import argparse  # noqa: E402
import fnmatch  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable, Iterable, Iterator  # noqa: E402
from concurrent.futures import ThreadPoolExecutor, as_completed  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from itertools import groupby  # noqa: E402

from rich import box  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.markup import escape  # noqa: E402
from rich.progress import (  # noqa: E402
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table  # noqa: E402

from grader.cases import Case, Performance, Suite, ancestors, load_suites  # noqa: E402
from grader.errors import BadInput, MachineFault  # noqa: E402
from grader.record import Record, Test  # noqa: E402

CRITERIA = ("builds", "correct", "memory", "tiled")  # the most basic one first
BY_CHANCE = "memory or correct"
DECLARED = (*CRITERIA, BY_CHANCE, "nothing", "everything")

# Products (m k n) up to which a case is tried on every faulty kernel: tenths of a second each.
LARGEST_FOR_ALL = 8_000_000
# CPU seconds of a launch there. A faulty kernel that needs more hangs, and four of them do; right
# kernels have the case's own limit.
FAULTY_SECONDS = 0.5
# What can be had without multiplying: the fills whose C a kernel could know beforehand.
FIXED_FILLS = {"ones-twos", "identity", "index", "counting"}

# ---- kernels and what they declare ---------------------------------------------------------------

GROUPS = {
    "starter": "starter",
    "solution": "solutions",
    "right": "right in other styles",
    "cheat": "cheats",
    "faulty": "faulty",
}

LOSES = re.compile(r"^ \* loses: +(.*?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Kernel:
    path: Path
    group: str  # one of GROUPS
    loses: str = ""  # of a cheat: only where it is right, and cheats a clock

    @property
    def name(self) -> str:
        return self.path.stem if self.group != "starter" else self.path.name

    @property
    def family(self) -> int:
        """Of a faulty one: the number of its mistake."""
        return int(self.path.stem.split("_")[0])


def declared(path: Path) -> str:
    head = path.read_text(encoding="utf-8").split("*/")[0]
    found = LOSES.findall(head)
    if len(found) != 1 or found[0] not in DECLARED:
        raise BadInput(f"{path.relative_to(REPOSITORY)}: its first comment has to say once what it "
                       f"loses: ` * loses:    correct`, or one of {', '.join(DECLARED)}")
    return found[0]


def declared_by_cheat(path: Path) -> str:
    """What it loses where nothing is timed; empty for one that gets no points anywhere."""
    head = path.read_text(encoding="utf-8").split("*/")[0]
    return declared(path) if re.search(r"^ \* fails: +speed *$", head, re.MULTILINE) else ""


def kernels(faulty: str, groups: Iterable[str] = GROUPS) -> list[Kernel]:
    """Everything with a known grade; of the faulty ones those whose name matches."""
    instructor = REPOSITORY / "instructor"

    def below(folder: Path) -> list[Path]:
        return sorted(folder.rglob("*.cu"))

    chosen = [path for path in below(instructor / "faulty")
              if fnmatch.fnmatchcase(path.stem, faulty.removesuffix(".cu"))]
    if not chosen:
        raise BadInput(f"FAULTY={faulty}: matches no kernel of instructor/faulty")
    found = [
        Kernel(REPOSITORY / "kernel.cu", "starter"),
        *(Kernel(path, "solution", declared(path)) for path in below(instructor / "solutions")),
        *(Kernel(path, "right") for path in below(REPOSITORY / "tests" / "kernels" / "right")),
        *(Kernel(path, "cheat", declared_by_cheat(path)) for path in below(instructor / "cheats")),
        *(Kernel(path, "faulty", declared(path)) for path in chosen),
    ]
    return [kernel for kernel in found if kernel.group in groups]


def made_of_cases(suites: Iterable[Suite], folder: Path) -> list[Kernel]:
    """Cheats that know the shapes of the public cases by heart, all of them and all but one;
    written to `folder`. None where the grader has no other shape to try them on: docs/security.md.
    """
    from grader.audit import neighbours

    template = REPOSITORY / "instructor" / "cheats" / "20_published_shapes.cu.in"
    text = template.read_text(encoding="utf-8")
    public = [case for case in all_cases(suites) if not case.hidden]
    last = public[-1].shape if public else ""
    made = {"20_published_shapes": public,
            "20_most_published_shapes": [case for case in public if case.shape != last]}
    found = []
    for name, known in made.items():
        if neighbours(public, known, seed=0):
            shapes = dict.fromkeys(f"{{{case.m}, {case.k}, {case.n}}}" for case in known)
            path = folder / f"{name}.cu"
            path.write_text(text.replace("@SHAPES@", ", ".join(shapes)), encoding="utf-8")
            found.append(Kernel(path, "cheat"))
    return found


# ---- cases ---------------------------------------------------------------------------------------


def products(case: Case) -> int:
    return case.m * case.k * case.n


def all_cases(suites: Iterable[Suite]) -> list[Case]:
    return [case for suite in suites for case in suite.cases]


def large(case: Case) -> bool:
    return products(case) > LARGEST_FOR_ALL


def by_themselves(
    suites: list[Suite], chosen: Callable[[Case], bool], **changes: object
) -> list[Suite]:
    """Some of the cases, whatever they depend on."""
    changes |= {"depends": [], "parents": []}
    parts = [
        replace(suite, performance=[],
                cases=[case.model_copy(update=changes) for case in suite.cases if chosen(case)])
        for suite in suites
    ]
    return [suite for suite in parts if suite.cases]


def without_a_random_parent(suites: list[Suite]) -> list[str]:
    """Cases that a kernel passes which writes what it knows beforehand."""
    cases = {case.key: case for case in all_cases(suites)}
    return [
        f"{case.key}: the fill {case.fill} is the same for everybody, so a kernel that stores a "
        "constant may pass; let it depend on a case with the fill random"
        for case in cases.values()
        if case.fill in FIXED_FILLS and case.points > 0
        and not any(cases[key].fill == "random" for key in ancestors(case, cases))
    ]


def without_a_right_parent(timed: Iterable[Performance]) -> list[str]:
    """Shapes for speed that somebody is paid for who is right nowhere else."""
    return [f"{each.key}: is timed whatever C is elsewhere; let it depend on cases of other shapes"
            for each in timed if each.points > 0 and not each.depends]


# ---- grading -------------------------------------------------------------------------------------


class Grader:
    """Grades one submission after the other, from several threads at once."""

    def __init__(self, suites: list[Suite], seed: int):
        from grader.build import trusted_parts
        from grader.sandbox import choose_sandbox

        self.suites, self.seed = suites, seed
        self.parts = trusted_parts("cpu")
        # Nothing is private before kernels of our own; cheats are to find what a sandbox leaves.
        self.box = choose_sandbox("auto", hidden=False, private=[], jail=self.parts.jail)

    def grade(self, kernel: Kernel, suites: list[Suite]) -> Record:
        from grader.intake import read_submission
        from grader.session import Grading

        submission = read_submission(kernel.path)
        return Grading(submission, suites, self.seed, self.box, self.parts, jobs=1).run()

    def prove(self, kernel: Kernel) -> Proved:
        if kernel.group == "right":
            small = by_themselves(self.suites, lambda case: not large(case))
            return Proved(kernel, [self.grade(kernel, small)])
        if kernel.group != "faulty":
            return Proved(kernel, [self.grade(kernel, self.suites)])
        small = by_themselves(self.suites, lambda case: not large(case), time_limit=FAULTY_SECONDS)
        proved = Proved(kernel, [self.grade(kernel, small)])
        others = by_themselves(self.suites, large)
        if others and not proved.catches() and not proved.refused:
            proved.records.append(self.grade(kernel, others))
        return proved


@dataclass
class Proved:
    """A kernel's results, and whether they are what was to be proved."""

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
    def refused(self) -> bool:
        return any(record.refusal for record in self.records)

    def loses(self) -> str:
        """As heads say it."""
        if self.refused:
            return "everything"
        lost = {name for test in self.tests for name in lost_in(test)}
        if any(not record.build.ok for record in self.records):
            lost.add("builds")
        return next((name for name in CRITERIA if name in lost), "nothing")

    def declares_so(self) -> bool:
        """Of a faulty one. A kernel that is wrong somewhere may launch nothing elsewhere, and where
        no case has points for a launch, it costs those for a right result."""
        declares, loses = self.kernel.loses, self.loses()
        if declares == BY_CHANCE:
            return loses in ("memory", "correct")
        return loses == declares or {loses, declares} == {"builds", "correct"} and any(
            declares in lost_in(test) or declares not in awarded(self.tests) for test in self.tests
        )

    def catches(self) -> dict[str, str]:
        """Of a faulty kernel: cases, by key, that take points for its fault, and the criterion.
        That it does not tile is no fault of its own, unless it declares so."""
        found = {}
        for test in self.tests:
            lost = [name for name in CRITERIA if name in lost_in(test)]
            if lost and (lost[0] != "tiled" or self.kernel.loses == "tiled"):
                found[f"{test.suite}/{test.name}"] = lost[0]
        return found

    def failures(self) -> Iterator[str]:
        """Why this kernel's grade proves the cases wrong; nothing if it does not."""
        name, group = self.kernel.name, self.kernel.group
        if group == "cheat" and self.kernel.loses:
            yield from self.other_losses(self.kernel.loses)
        elif group in ("starter", "cheat") and self.score > 0:
            where = [f"{test.suite}/{test.name}" for test in self.tests if test.score > 0]
            yield f"{name}: gets {self.score:g} of {self.points:g} points for nothing: {few(where)}"
        elif group == "solution":
            yield from self.other_losses(self.kernel.loses)
        elif group == "right" and not self.refused:  # what is refused is not for cases to say
            yield from self.other_losses("tiled or nothing")
        elif group == "faulty" and self.loses() != "nothing" and not self.declares_so():
            yield (f"{name}: declares `loses: {self.kernel.loses}` and loses {self.loses()}"
                   f"{self.example(self.loses())}")

    def other_losses(self, allowed: str) -> Iterator[str]:
        """A right kernel: what it must not lose, and what it should have lost and did not."""
        name = self.kernel.name
        if self.refused or not all(record.build.ok for record in self.records):
            refusal = self.records[0].refusal
            why = refusal.tried if refusal else self.records[0].build.message
            yield f"{name}: is right, but is refused: {why}"
            return
        for test in self.tests:
            for criterion in test.criteria:
                lost = criterion.score < criterion.max_score
                if lost and criterion.name not in allowed:
                    yield (f"{name}: is right, but {test.suite}/{test.name} takes points for "
                           f"{criterion.name}: {criterion.reason or test.reason}")
                if not lost and allowed == criterion.name and criterion.max_score > 0:
                    yield (f"{name}: declares `loses: {allowed}`, but gets the points for it in "
                           f"{test.suite}/{test.name}")

    def example(self, criterion: str) -> str:
        for test in self.tests:
            if criterion in lost_in(test):
                return f" in {test.suite}/{test.name}: {test.reason}"
        refusal = next((record.refusal for record in self.records if record.refusal), None)
        return f": {refusal.tried}" if refusal else ""


def awarded(tests: Iterable[Test]) -> set[str]:
    """The criteria that there are points for."""
    return {each.name for test in tests for each in test.criteria if each.max_score > 0}


def lost_in(test: Test) -> set[str]:
    """What it takes points for."""
    return {each.name for each in test.criteria if each.score < each.max_score}


def prove_all(grader: Grader, todo: list[Kernel], jobs: int) -> list[Proved]:
    """In the order of `todo`."""
    done: dict[Path, Proved] = {}
    with ThreadPoolExecutor(jobs) as pool, progress(len(todo), jobs) as advance:
        waiting = {pool.submit(grader.prove, kernel): kernel for kernel in todo}
        try:
            for future in as_completed(waiting):
                done[waiting[future].path] = future.result()
                advance(waiting[future].name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done[kernel.path] for kernel in todo]


@contextmanager
def progress(total: int, jobs: int) -> Iterator[Callable[[str], None]]:
    """To be called after each submission, with its name: a bar on a terminal, else a line for each
    tenth."""
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                   TimeElapsedColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("grading", total=total)
            yield lambda name: bar.update(task, advance=1, description=name[:28])
        return
    report(f"grading {total} submissions, {jobs} at a time")
    done, start = 0, time.monotonic()

    def advance(name: str) -> None:
        nonlocal done
        done += 1
        if done * 10 // total > (done - 1) * 10 // total:
            report(f"{done} of {total} graded, {time.monotonic() - start:.0f} s")

    yield advance


def report(what: str) -> None:
    print(f"cases: {what}", file=sys.stderr, flush=True)


# ---- what the results say ------------------------------------------------------------------------


@dataclass
class Proof:
    cases: list[Case]
    proved: list[Proved]
    failures: list[str] = field(default_factory=list)
    timed: list[Performance] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faulty = [each for each in self.proved if each.kernel.group == "faulty"]
        self.catches = {each.kernel.name: each.catches() for each in self.faulty}
        self.refused = [each.kernel.name for each in self.faulty if each.refused]
        self.failures += [line for each in self.proved for line in each.failures()]

    @property
    def free(self) -> list[str]:
        return [name for name, caught in self.catches.items()
                if not caught and name not in self.refused]

    def caught_by(self, case: Case) -> list[str]:
        return [name for name, caught in self.catches.items() if case.key in caught]

    def only_by(self, case: Case) -> list[str]:
        return [name for name in self.caught_by(case) if len(self.catches[name]) == 1]

    def redundant(self) -> list[Case]:
        """Cases that could go and nothing would go free; large ones were not tried on all."""
        return [case for case in self.cases
                if not self.only_by(case) and not large(case)]

    def enough(self) -> list[Case]:
        """Few cases that catch all that is caught: always the one that catches most of what is
        left."""
        left = {name for name, caught in self.catches.items() if caught}
        chosen: list[Case] = []
        while left:
            best = max(self.cases, key=lambda case: len(left & set(self.caught_by(case))))
            chosen.append(best)
            left -= set(self.caught_by(best))
        return chosen

    @property
    def sound(self) -> bool:
        return not self.failures and not self.free


def by_suite(cases: Iterable[Case]) -> list[str]:
    """One text a suite: "public/basics: 1x1x1, 5x7x3"."""
    found: dict[str, list[str]] = {}
    for case in cases:
        found.setdefault(case.suite, []).append(case.name)
    return [f"{suite}: {', '.join(names)}" for suite, names in found.items()]


def few(names: list[str], shown: int = 4) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


# ---- what is printed -----------------------------------------------------------------------------


def upright(number: int) -> str:
    """A number as a column's head, one digit wide."""
    return "\n".join(f"{number:2d}")


def table_of_cases(proof: Proof) -> Table:
    families = sorted({each.kernel.family for each in proof.faulty})
    size = Counter(each.kernel.family for each in proof.faulty)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_footer=True)
    table.add_column("faulty kernels\ncaught, by family", "of", no_wrap=True, max_width=27,
                     overflow="ellipsis")
    for family in families:
        table.add_column(upright(family), str(size[family]), justify="right", no_wrap=True)
    table.add_column(" \n all", str(len(proof.faulty)), justify="right", no_wrap=True)
    table.add_column("no\nother", justify="right", no_wrap=True)
    for suite, cases in groupby(proof.cases, key=lambda case: case.suite):
        table.add_row(f"[bold]{escape(suite)}[/bold]")
        for case in cases:
            caught = proof.caught_by(case)
            count = Counter(int(name.split("_")[0]) for name in caught)
            alone = len(proof.only_by(case))
            table.add_row(
                f" {escape(case.name)}", *(str(count[family] or "·") for family in families),
                f"{len(caught)}{'*' if large(case) else ''}", str(alone or "·"))
    return table


def table_of_faults(proof: Proof) -> Table:
    """Each faulty kernel with a letter a case: b, c, m, t for what it takes, · for nothing."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("faulty kernel", no_wrap=True, overflow="ellipsis", max_width=34)
    table.add_column("loses", no_wrap=True)
    table.add_column(f"cases 1 to {len(proof.cases)}", no_wrap=True)
    for each in proof.faulty:
        caught = proof.catches[each.kernel.name]
        letters = "".join(caught.get(case.key, "·")[0] for case in proof.cases)
        table.add_row(each.kernel.name, each.kernel.loses, "refused" if each.refused else letters)
    return table


def table_of_files(suites: list[Suite]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("suite", overflow="ellipsis", max_width=28)
    for name in ("cases", "timed", "points", "largest, m k n", "limit"):
        table.add_column(name, justify="right", no_wrap=True)
    for suite in suites:
        largest = max(suite.items, key=lambda item: item.m * item.k * item.n)
        longest = max((case.launch_seconds for case in suite.cases), default=0.0)
        table.add_row(escape(suite.name), str(len(suite.cases)),
                      str(len(suite.performance) or "·"), f"{sum(item.points for item in suite.items):g}",
                      largest.shape, f"{longest:.1f} s" if longest else "·")
    return table


def show_files(suites: list[Suite], mistakes: list[str]) -> None:
    console = output()
    console.print(table_of_files(suites))
    console.print("limit: CPU seconds that a block may take, in the case that has the most\n")
    cases, timed = all_cases(suites), [each for suite in suites for each in suite.performance]
    console.print(f"{len(cases)} cases, {sum(case.points for case in cases):g} points; "
                  f"{len(timed)} shapes for speed, {sum(each.points for each in timed):g} points")
    for line in mistakes:
        console.print(f"[red]not sound:[/red] {escape(line)}", soft_wrap=True)
    if not mistakes:
        console.print("[green]in order[/green]: `make cases` proves that these cases are sound")


def output() -> Console:
    """80 columns when nobody says how wide it is."""
    return Console(width=None if sys.stdout.isatty() else 80, highlight=False)


def show(proof: Proof, full: bool, seconds: float) -> None:
    console = output()
    console.print(table_of_cases(proof))
    console.print("no other: those that no other case catches"
                  + ("; *: large, tried only on what no smaller case catches"
                     if any(map(large, proof.cases)) else ""))
    if full:
        console.print(table_of_faults(proof))
    console.print()

    def tell(what: str, names: Iterable[str]) -> None:
        console.print(f"[bold]{what}[/bold]: " + (escape("; ".join(names)) or "none"))

    tell("Cases that catch nothing that others do not", by_suite(proof.redundant()))
    tell("Faults that a single case catches", [
        f"{name} ({next(iter(caught))})" for name, caught in proof.catches.items()
        if len(caught) == 1])
    tell("Enough to catch all that is caught", by_suite(proof.enough()))
    tell("Refused as a whole", proof.refused)
    tell("Faults that go free", proof.free)
    console.print()
    for each in proof.proved:
        if each.kernel.group == "solution":
            console.print(f"{each.kernel.name}: {each.score:g} of {each.points:g} points "
                          f"(loses: {each.kernel.loses})", highlight=False)
    count = Counter(each.kernel.group for each in proof.proved)
    graded = ", ".join(f"{count[group]} {what}" for group, what in GROUPS.items() if count[group])
    points = sum(case.points for case in proof.cases)
    console.print(f"{len(proof.cases)} cases, {points:g} points; graded: {graded}; {seconds:.0f} s")
    if proof.timed:
        points = sum(each.points for each in proof.timed)
        console.print(f"{len(proof.timed)} shapes for speed, {points:g} points: not timed, which "
                      "needs a GPU")
    for line in proof.failures:
        console.print(f"[red]not sound:[/red] {escape(line)}", soft_wrap=True)
    for name in proof.free:
        console.print(f"[red]not sound:[/red] {escape(name)} loses no points in any case",
                      soft_wrap=True)
    if proof.sound:
        console.print("[green]sound[/green]: these cases can be published")


# ---- the command ---------------------------------------------------------------------------------


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make cases", description=__doc__.split("\n")[0])
    parser.add_argument("--faulty", metavar="GLOB", default="*",
                        help="only these of instructor/faulty, for example '01_*' "
                             "(make cases FAULTY=...)")
    parser.add_argument("--groups", metavar="LIST", default=",".join(GROUPS),
                        help="grade only these, for a quick look (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
                        help="submissions at a time (default: one a core)")
    parser.add_argument("--files", action="store_true",
                        help="grade nothing: are the files in order? (make cases-check)")
    parser.add_argument("--full", action="store_true", help="also a line for each faulty kernel")
    return parser.parse_args()


def groups_of(text: str) -> list[str]:
    groups = text.split(",")
    for group in groups:
        if group not in GROUPS:
            raise BadInput(f"--groups {text}: {group!r} is not one of {', '.join(GROUPS)}")
    return groups


def prove(arguments: argparse.Namespace, suites: list[Suite]) -> list[Proved]:
    """Grade all that is asked for."""
    groups = groups_of(arguments.groups)
    if arguments.jobs < 1:
        raise BadInput(f"--jobs (JOBS with make): {arguments.jobs}: at least one submission at a time")
    todo = kernels(arguments.faulty, groups)
    report("building the grader's own parts")
    grader = Grader(suites, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="cases-") as folder:
        if "cheat" in groups:
            todo += made_of_cases(suites, Path(folder))
        return prove_all(grader, todo, arguments.jobs)


def main() -> int:
    arguments, start = read_arguments(), time.monotonic()
    try:
        suites = load_suites("all", REPOSITORY / "testcases")
        timed = [each for suite in suites for each in suite.performance]
        mistakes = without_a_random_parent(suites) + without_a_right_parent(timed)
        if arguments.files:
            show_files(suites, mistakes)
            return 1 if mistakes else 0
        with interrupt.raised():
            proved = prove(arguments, suites)
    except BadInput as bad:
        print(f"cases: {bad}", file=sys.stderr)
        return 2
    except (MachineFault, OSError) as fault:
        print(f"cases: {fault}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        report("interrupted")
        return interrupt.STATUS
    proof = Proof(all_cases(suites), proved, mistakes, timed)
    show(proof, arguments.full, time.monotonic() - start)
    return 0 if proof.sound else 1


if __name__ == "__main__":
    sys.exit(main())
