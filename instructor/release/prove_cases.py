"""`make cases`: can these test cases be published?

    python -m instructor.release.prove_cases [--lab DIR] [--faulty GLOB] [--groups LIST] [--jobs N]
                                             [--full] [--points FILE] [--files | --draw SEED]

Grades every kernel whose grade is known beforehand (solutions, correct kernels in other styles, the
starter, cheats, faulty kernels), on all suites, and compares. The line `loses:` of a head declares
the most basic criterion that a kernel loses, in the order builds, correct, memory, the lab's own;
docs/instructor.md has the other words and how to read the tables. With --points, FILE has a line for
each kernel, case and criterion: two such files, of two versions of the grader, say whose grade changed.

Faulty kernels are tried in each case by itself, without the gate; in large cases only those that no
smaller case catches. What was graded before is not graded again (graded.py). With --draw (`make hidden`)
the hidden suites are drawn (draw.py), and written where they are sound. With --files
(`make cases-check`) nothing is graded: the files are read and listed.

Exit status: 0 sound; 1 a solution fails, or a kernel gets points for nothing; 2 a case or an option
cannot be used; 3 the machine is at fault; 130 interrupted.
"""

import argparse
import fnmatch
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from grader import interrupt
from grader.build.parts import described, trusted_parts
from grader.cases.model import Case, Performance, Suite
from grader.cases.read import load_suites, toml_files
from grader.criteria import unknown_limits
from grader.errors import BadInput, MachineFault
from grader.grade import Grading
from grader.intake.submission import read_submission
from grader.jail.sandbox import choose_sandbox
from grader.lab import Lab
from grader.record.model import Record
from instructor.bench.one_file import lines_of
from instructor.faulty import faults
from instructor.faulty.mistakes import seeded
from instructor.release import draw
from instructor.release.graded import KEPT, Graded, Missing
from instructor.release.layout import published_texts
from instructor.release.leaks import leaks_of
from instructor.release.proof import GROUPS, Kernel, Proof, Proved, declarable, large
from instructor.release.repository import REPOSITORY

target = "cases"  # of make; or hidden
SEED = 1  # the same cases have the same proof
# CPU seconds of a block of a faulty kernel. One that needs more hangs, as four of them do; right
# kernels have the case's own limit.
FAULTY_SECONDS = 0.5
ENOUGH_TO_TELL = 20  # submissions, from which follows how long all take

# ---- kernels and what they declare ---------------------------------------------------------------

LOSES = re.compile(r"^[ /*]*loses: *(.*?) *$", re.MULTILINE)


def declared(lab: Lab, path: Path, group: str) -> str:
    """What the kernel's head says it loses; empty for a cheat that gets no points at all.

    Raises BadInput where the head does not say it."""
    head = path.read_text(encoding="utf-8").split("*/")[0]
    if group == "cheat" and not LOSES.search(head):
        return ""
    found = LOSES.findall(head)
    if len(found) != 1 or found[0] not in declarable(lab):
        where = path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path.name
        raise BadInput(f"{where}: its first comment has to say once what it loses: "
                       f"`loses: correct`, or one of {', '.join(declarable(lab))}")
    return found[0]


def kernels(lab: Lab, faulty: str, groups: Iterable[str] = GROUPS) -> list[Kernel]:
    """Every kernel of `groups` that is a file; of the faulty ones those whose name matches the glob
    `faulty`. Raises BadInput as declared() does."""
    folders = [("solution", "instructor/solutions"), ("right", "tests/kernels/right"),
               ("right", "instructor/faulty/styles"), ("cheat", "instructor/cheats"),
               ("faulty", "instructor/faulty")]
    found = [Kernel(lab, lab.home / "kernel.cu", "starter")]
    for group, folder in folders:
        found += [Kernel(lab, path, group, "" if group == "right" else declared(lab, path, group))
                  for path in sorted((lab.home / folder).glob("*.cu"))
                  if group != "faulty" or matches(path, faulty)]
    return [kernel for kernel in found if kernel.group in groups]


def matches(path: Path, glob: str) -> bool:
    return fnmatch.fnmatchcase(path.stem, glob.removesuffix(".cu"))


@contextmanager
def refused(lab: Lab) -> Iterator[None]:
    """What is no edit of a correct kernel is bad input."""
    try:
        yield
    except ValueError as wrong:
        raise BadInput(f"{lab.folder}/instructor/faulty: {wrong}") from None


def made_of_edits(lab: Lab, faulty: str, folder: Path) -> list[Kernel]:
    """The faulty kernels of instructor/faulty/faults.toml; written to `folder`. Raises BadInput, as
    declared() does and where an edit cannot be made."""
    with refused(lab):
        paths = [each.write(folder) for each in faults.edited(lab.home / "instructor" / "faulty")]
    return [Kernel(lab, path, "faulty", declared(lab, path, "faulty"))
            for path in paths if matches(path, faulty)]


def made_of_mistakes(lab: Lab, faulty: str, folder: Path) -> list[Kernel]:
    """Each mistake of instructor/faulty/mistakes.toml in one of its styles, not always the same;
    with a glob, all that match. Written to `folder`. Raises BadInput where an edit cannot be made."""
    found = []
    known = lab.home / "instructor" / "faulty"
    if not (known / "mistakes.toml").exists():
        return []
    with refused(lab):
        caught = [each for each in seeded(known) if each.loses != "nothing"]  # no case has 32,768 rows
    for number, (_, same) in enumerate(groupby(caught, key=lambda each: each.mistake)):
        styles = list(same)
        chosen = styles if faulty != "*" else [styles[number % len(styles)]]
        found += [Kernel(lab, each.write(folder), "faulty", each.loses) for each in chosen]
    return [kernel for kernel in found if matches(kernel.path, faulty)]


def solutions_of_several_files(lab: Lab, folder: Path) -> list[Kernel]:
    """Each put into one file, as a submission is; written to `folder`."""
    found = []
    for parts in sorted((lab.home / "instructor" / "solutions").glob("*/")):
        for kernel in sorted(parts.glob("*.cu")):
            path = folder / f"{parts.name}.cu"
            path.write_text("\n".join(lines_of(kernel, set())) + "\n", encoding="utf-8")
            found.append(Kernel(lab, path, "solution", declared(lab, kernel, "solution")))
    return found


# ---- cases ---------------------------------------------------------------------------------------


def all_cases(suites: Iterable[Suite]) -> list[Case]:
    return [case for suite in suites for case in suite.cases]


def cases_of(lab: Lab, drawn: Path | None) -> list[Suite]:
    """The lab's own suites, or those that were drawn. A lab may have public ones alone. Raises BadInput."""
    hidden = lab.testcases / "hidden"
    if drawn or toml_files(hidden):
        return load_suites(lab, "all", drawn)
    report(f"{os.path.relpath(hidden, REPOSITORY)}: no cases here; these are the public ones alone")
    return load_suites(lab, "public")


def by_themselves(
    suites: list[Suite], chosen: Callable[[Case], bool], **changes: object
) -> list[Suite]:
    """Some of the cases, without a gate."""
    parts = [
        replace(suite, performance=[], points={}, gate="", repaired=0.0,
                cases=[case.model_copy(update=changes) for case in suite.cases if chosen(case)])
        for suite in suites
    ]
    return [suite for suite in parts if suite.cases]


def without_a_gate(suites: list[Suite]) -> list[str]:
    """Suites in which a kernel gets points that stores what it knows beforehand."""
    cases = {case.key: case for case in all_cases(suites)}
    found = []
    for suite in suites:
        if not suite.gate:
            found.append(f"{suite.name}: has no gate, so a kernel that stores a constant may get points; "
                         "name a case with the fill random")
        elif cases[suite.gate].fill != "random":
            found.append(f"{suite.name}: its gate {cases[suite.gate].name} has the fill "
                         f"{cases[suite.gate].fill}, which is the same for everybody; take one with the "
                         "fill random")
    return found


# ---- grading -------------------------------------------------------------------------------------


class Grader:
    """Grades one submission after the other, from several threads at once.

    Raises MachineFault where the grader's own parts cannot be built, or no sandbox works."""

    def __init__(self, lab: Lab, suites: list[Suite], kept: Path = KEPT):
        self.suites = suites
        self.parts = trusted_parts("cpu", lab)
        # These kernels are our own, so nothing is private; cheats look for what a sandbox leaves.
        self.box = choose_sandbox("auto", hidden=False, private=[], jail=self.parts.jail)
        self.graded = Graded(self.parts, kept, self.box.kind)

    def run(self, path: Path, suites: list[Suite]) -> Record:
        submission = read_submission(path)
        return Grading(submission, suites, SEED, self.box, self.parts, jobs=1).run()

    def prove(self, kernel: Kernel, run: bool = True) -> Proved:
        """Grade it on the cases that say something about it. Raises MachineFault; and without `run`,
        Missing where something was not graded before."""
        def grade(suites: list[Suite]) -> list[Record]:
            return self.graded.records(kernel.path, suites, SEED, self.run if run else None)

        if kernel.group == "right":
            return Proved(kernel, grade(by_themselves(self.suites, lambda case: not large(case))))
        if kernel.group != "faulty":
            return Proved(kernel, grade(self.suites))
        small = by_themselves(self.suites, lambda case: not large(case), time_limit=FAULTY_SECONDS)
        proved = Proved(kernel, grade(small))
        others = by_themselves(self.suites, large)
        if others and not proved.catches() and not proved.refused:
            proved.records += grade(others)
        return proved

    def known(self, kernel: Kernel) -> Proved | None:
        try:
            return self.prove(kernel, run=False)
        except Missing:
            return None


def prove_all(grader: Grader, todo: list[Kernel], jobs: int) -> list[Proved]:
    """In the order of `todo`. Shows a bar on a terminal, else prints a line for each tenth; and how long
    it takes, as soon as that can be told."""
    known = {kernel.path: found for kernel in todo if (found := grader.known(kernel))}
    new = [kernel for kernel in todo if kernel.path not in known]
    before = f"; {len(known)} are as they were" if known else ""
    report(f"grading {len(new)} submissions, {jobs} at a time{before}")
    terminal, start = Console(stderr=True), time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())
    results = known
    with (ThreadPoolExecutor(jobs) as pool,
          Progress(*columns, console=terminal, disable=not terminal.is_terminal) as bar):
        task = bar.add_task("grading", total=len(new))
        waiting = {pool.submit(grader.prove, kernel): kernel for kernel in spread(new)}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                kernel = waiting[future]
                results[kernel.path] = future.result()
                bar.update(task, advance=1, description=kernel.name[:28])
                passed = time.monotonic() - start
                if done == ENOUGH_TO_TELL < len(new):
                    report(f"about {passed / done * (len(new) - done) / 60:.0f} min more")
                if bar.disable and done * 10 // len(new) > (done - 1) * 10 // len(new):
                    report(f"{done} of {len(new)} graded, {passed:.0f} s")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[kernel.path] for kernel in todo]


def spread(kernels: list[Kernel]) -> list[Kernel]:
    """In an order in which the first ones are a sample of all: those of one kind take alike."""
    step = max(1, len(kernels) // ENOUGH_TO_TELL)
    return [kernel for first in range(step) for kernel in kernels[first::step]]


def report(what: str) -> None:
    print(f"{target}: {what}", file=sys.stderr, flush=True)


# ---- what is printed -----------------------------------------------------------------------------


def output() -> Console:
    """80 columns where the width is not known."""
    return Console(width=None if sys.stdout.isatty() else 80, highlight=False)


def print_verdict(console: Console, failures: list[str], otherwise: str) -> None:
    for line in failures:
        console.print(f"[red]not sound:[/red] {escape(line)}", soft_wrap=True)
    if not failures:
        console.print(otherwise)


def total(suites: Iterable[Suite], speed: bool = False) -> str:
    points = sum(sum(each.points for each in suite.performance) if speed else suite.worth
                 for suite in suites)
    return f"{points:g} points"


def by_suite(cases: Iterable[Case]) -> list[str]:
    """One text a suite: "public/basics: 1x1x1, 5x7x3"."""
    found: dict[str, list[str]] = {}
    for case in cases:
        found.setdefault(case.suite, []).append(case.name)
    return [f"{suite}: {', '.join(names)}" for suite, names in found.items()]


def table(*columns: str, **options: object) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), **options)
    for column in columns:
        made.add_column(column, no_wrap=True, overflow="ellipsis", max_width=34)
    return made


def table_of_cases(proof: Proof) -> Table:
    """A row for each case, a column for each family: how many of its faulty kernels it catches."""
    size = Counter(each.kernel.family for each in proof.faulty)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_footer=True)
    made.add_column("faulty kernels\ncaught, by family", "of", no_wrap=True, max_width=27,
                    overflow="ellipsis")
    heads = {"\n".join(f"{family:2d}"): size[family] for family in sorted(size)}
    for head, footer in {**heads, " \n all": len(proof.faulty), "no\nother": ""}.items():
        made.add_column(head, str(footer), justify="right", no_wrap=True)
    for suite, cases in groupby(proof.cases, key=lambda case: case.suite):
        made.add_row(f"[bold]{escape(suite)}[/bold]")
        for case in cases:
            caught = proof.caught_by(case)
            count = Counter(int(name.split("_")[0]) for name in caught)
            made.add_row(
                f" {escape(case.name)}", *(str(count[family] or "·") for family in sorted(size)),
                f"{len(caught)}{'*' if large(case) else ''}", str(len(proof.only_by(case)) or "·"))
    return made


def table_of_faults(proof: Proof) -> Table:
    """Each faulty kernel with a letter a case: b, c, m, t for what it takes, · for nothing."""
    made = table("faulty kernel", "loses", f"cases 1 to {len(proof.cases)}")
    for each in proof.faulty:
        caught = proof.catches[each.kernel.name]
        letters = "".join(caught.get(case.key, "·")[0] for case in proof.cases)
        made.add_row(each.kernel.name, each.kernel.loses, "refused" if each.refused else letters)
    return made


def show_files(suites: list[Suite], timed: list[Performance], mistakes: list[str]) -> None:
    console, made = output(), table("suite", "cases", "timed", "points", "largest", "limit")
    for suite in suites:
        largest = max(suite.items, key=lambda item: item.sizes.operations)
        longest = max((case.launch_seconds for case in suite.cases), default=0.0)
        made.add_row(escape(suite.name), str(len(suite.cases)), str(len(suite.performance) or "·"),
                     f"{suite.worth + sum(each.points for each in suite.performance):g}", largest.shape,
                     f"{longest:.1f} s" if longest else "·")
    for column in made.columns[1:]:
        column.justify = "right"
    console.print(made)
    console.print("limit: CPU seconds that a block may take, in the case that has the most\n")
    cases = all_cases(suites)
    console.print(f"{len(cases)} cases, {total(suites)}; {len(timed)} shapes for speed, "
                  f"{total(suites, speed=True)}")
    print_verdict(console, mistakes,
                  "[green]in order[/green]: `make cases` proves that these cases are sound")


def show(proof: Proof, timed: list[Performance], full: bool, seconds: float) -> None:
    console = output()
    console.print(table_of_cases(proof))
    console.print("no other: those that no other case catches"
                  + ("; *: large, tried only on what no smaller case catches"
                     if any(map(large, proof.cases)) else ""))
    if full:
        console.print(table_of_faults(proof))
        console.print("cases in the order of the first table; b, c, m, ...: the case takes points for builds, correct, "
                      "memory, ...; ·: for nothing")
    alone = [f"{name} ({next(iter(caught))})" for name, caught in proof.catches.items()
             if len(caught) == 1]
    console.print()
    for what, names in {
        "Cases that catch nothing that others do not": by_suite(proof.redundant()),
        "Faults that a single case catches": alone,
        "Refused as a whole": proof.refused,
        "Faults that go free": proof.free,
    }.items():
        console.print(f"[bold]{what}[/bold]: " + (escape("; ".join(names)) or "none"))
    console.print()
    for each in proof.proved:
        if each.kernel.group == "solution":
            console.print(f"{each.kernel.name}: {each.score:g} of {each.points:g} points "
                          f"(loses: {each.kernel.loses})")
    count = Counter(each.kernel.group for each in proof.proved)
    graded = ", ".join(f"{count[group]} {what if count[group] != 1 else what.removesuffix('s')}"
                       for group, what in GROUPS.items() if count[group])
    console.print(f"{len(proof.cases)} cases, {total(proof.suites)}; graded: {graded}; "
                  f"{seconds:.0f} s")
    if timed:
        console.print(f"{len(timed)} shapes for speed, {total(proof.suites, speed=True)}: not timed, which needs a "
                      "GPU")
    print_verdict(console, proof.failures, "[green]sound[/green]: these cases can be published")


def write_points(proved: list[Proved], path: Path) -> None:
    """One line for each criterion of each case of each kernel, in the order of their names:
    "2_tiled public/basics/34 correct kept"."""
    lines = [f"{each.kernel.name} {test.key} {criterion.name} {'kept' if criterion.passed else 'lost'}\n"
             for each in proved for test in each.tests for criterion in test.criteria]
    lines += [f"{each.kernel.name} refused\n" for each in proved if each.refused]
    path.write_text("".join(sorted(lines)), encoding="utf-8")


# ---- the command ---------------------------------------------------------------------------------


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make cases", description=__doc__.partition("\n")[0])
    parser.add_argument("--faulty", metavar="GLOB", default="*",
                        help="only these of instructor/faulty, for example '01_*' "
                             "(make cases FAULTY=...)")
    parser.add_argument("--groups", metavar="LIST", default=",".join(GROUPS),
                        help="grade only these, for a quick look (default: %(default)s)")
    parser.add_argument("--jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
                        help="submissions at a time (default: one a core)")
    parser.add_argument("--lab", default="lab", metavar="DIR", help="whose cases (LAB with make)")
    parser.add_argument("--draw", metavar="SEED", help="draw the hidden suites, and write them where they "
                                                       "are sound (make hidden SEED=...)")
    parser.add_argument("--files", action="store_true",
                        help="grade nothing, only read and list the files (make cases-check)")
    parser.add_argument("--full", action="store_true", help="also a line for each faulty kernel")
    parser.add_argument("--points", type=Path, metavar="FILE",
                        help="write the points of each kernel, case and criterion to FILE")
    return parser.parse_args()


def prove(arguments: argparse.Namespace, lab: Lab, suites: list[Suite]) -> list[Proved]:
    """Grade all that is asked for. Raises BadInput for an option, MachineFault."""
    groups = arguments.groups.split(",")
    for group in groups:
        if group not in GROUPS:
            raise BadInput(f"--groups {arguments.groups}: {group!r} is not one of "
                           f"{', '.join(GROUPS)}")
    if arguments.points and not arguments.points.parent.is_dir():
        raise BadInput(f"--points {arguments.points}: there is no such folder")
    if arguments.jobs < 1:
        raise BadInput(f"--jobs (JOBS with make): {arguments.jobs}: at least one at a time")
    todo = kernels(lab, arguments.faulty, groups)
    with tempfile.TemporaryDirectory(prefix="cases-") as folder:
        if "solution" in groups:
            todo += solutions_of_several_files(lab, Path(folder))
        if "faulty" in groups:
            todo += made_of_edits(lab, arguments.faulty, Path(folder))
            todo += made_of_mistakes(lab, arguments.faulty, Path(folder))
            if arguments.faulty != "*" and not any(kernel.group == "faulty" for kernel in todo):
                raise BadInput(f"FAULTY={arguments.faulty}: matches no kernel of instructor/faulty")
        report("building the grader's own parts")
        return prove_all(Grader(lab, suites), todo, arguments.jobs)


def main() -> int:
    global target
    arguments, start = read_arguments(), time.monotonic()
    if arguments.draw is not None:
        target = "hidden"
    with tempfile.TemporaryDirectory(prefix="drawn-") as folder:
        return run(arguments, Path(folder), start)


def run(arguments: argparse.Namespace, folder: Path, start: float) -> int:
    """`folder`: empty, for what is drawn."""
    try:
        lab = described(arguments.lab)
        drawn = None if arguments.draw is None else draw.suites(lab, arguments.draw, folder)
        suites = cases_of(lab, drawn)
        timed = [each for suite in suites for each in suite.performance]
        mistakes = without_a_gate(suites) + unknown_limits(lab, suites)
        if not drawn:
            mistakes += map(str, leaks_of(suites, published_texts()))
        if arguments.files:
            show_files(suites, timed, mistakes)
            return 1 if mistakes else 0
        with interrupt.raised():
            proved = prove(arguments, lab, suites)
        if arguments.points:
            write_points(proved, arguments.points)
    except BadInput as bad:
        report(str(bad))
        return 2
    except (MachineFault, OSError) as fault:
        report(str(fault))
        return 3
    except KeyboardInterrupt:
        report("interrupted")
        return interrupt.status()
    proof = Proof(suites, proved, mistakes)
    show(proof, timed, arguments.full, time.monotonic() - start)
    if drawn and not proof.failures:
        for path in draw.publish(lab, drawn):
            print(f"{path} is written")
    elif drawn:
        print("nothing is written" + ("; another SEED draws other sizes" if proof.only_free else ""))
    return 1 if proof.failures else 0


if __name__ == "__main__":
    sys.exit(main())
