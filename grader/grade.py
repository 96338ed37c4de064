"""Grades one submission: builds it once, runs its cases over several cores, times it where there is
a GPU, and makes the record.

    grading = Grading(submission, suites, seed, box, parts, jobs=2)
    record = grading.run()                    # all at once, or as one_submission.py does:
    grading.start(); test = grading.result("public/basics/34x34"); ...; record = grading.finish()

The same submission, cases and seed give the same grade: each case's seed is made from the run's and
the case's name, whether a case runs depends on its parents' results alone, and of several reasons
to refuse a submission that of the first case counts, whichever was found first.
"""

from __future__ import annotations

import hashlib
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone

from .audit import neighbors
from .build.parts import Parts, of_grader
from .cases.model import Case, Suite
from .cases.read import of_cases
from .errors import MachineFault, Refused
from .intake.submission import Submission
from .jail.sandbox import Sandbox
from .one_case import Runner, Tools, one_line, refusal_of
from .pool import run_in_order
from .record import model
from .record.model import VERSION, Cause, Record, Refusal, Test, Timing
from .run.limits import GPU_SECONDS, HOST_SECONDS, Problem
from .text import printable
from .verdict import points

BEFORE_ALL_CASES = -1
OF_ALL_CASES = 3.0
MOST_CAUSES = 3  # a second each
EXPLICABLE = 64  # elements of C: of a few that are wrong, one mistake says nothing (explain.c)

Finished = Callable[[Record, "Test | Timing"], None]
"""Called after each case and timed shape with all that is known by then; one call at a time."""


class Grading:
    """`limit`: seconds for all runs of the submission; None: limit_of() them. `stages`: wall seconds
    that each stage took."""

    def __init__(self, submission: Submission, suites: list[Suite], seed: int, box: Sandbox,
                 parts: Parts, jobs: int = 1, *, limit: float | None = None,
                 tools: Tools | None = None,
                 finished: Finished = lambda record, item: None):
        self.submission, self.suites, self.seed, self.jobs = submission, suites, seed, max(1, jobs)
        self.stages: dict[str, float] = {}
        limit = limit_of(suites, parts.backend == "cuda") if limit is None else limit
        self._runner = Runner(submission.source, parts, box, tools or Tools(), limit)
        self._report_to = finished
        self._cases = {case.key: seeded(case, seed) for suite in suites for case in suite.cases}
        self._shapes = {each.key: each for suite in suites for each in suite.performance}
        self._asked: list[str] = []
        self._order: list[str] = []  # what was asked for and what that depends on; parents first
        self._results: dict[str, Future[Test | Timing]] = {
            key: Future() for key in (*self._cases, *self._shapes)}
        self._known: dict[str, Test | Timing] = {}
        self._refusal: tuple[int, Refusal] | None = None  # with its case's place in _order
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run_all, daemon=True, name="grading")
        self._started, self._began = datetime.now(timezone.utc), time.monotonic()

    def run(self) -> Record:
        """Everything, from start to end; no file is left behind. Raises MachineFault."""
        try:
            self.start()
            return self.finish()
        finally:
            self.stop()

    def start(self, only: Iterable[str] | None = None) -> None:
        """Build, and begin to run: everything, or what has these keys and what it depends on.
        Raises MachineFault."""
        chosen = set(self._results if only is None else only)
        self._asked = [key for key in self._results if key in chosen]
        self._order = self._parents_first(self._asked)
        with self._stage("compile"):
            self._runner.compile()
        if self._runner.refusal:
            self._refusal = (BEFORE_ALL_CASES, self._runner.refusal)
        self._thread.start()

    def result(self, key: str) -> Test:
        """Waits for this case. Raises MachineFault if there will be no result."""
        return self._results[key].result()  # type: ignore[return-value]

    def timing(self, key: str) -> Timing:
        """Waits for this timed shape. Raises MachineFault if there will be no result."""
        return self._results[key].result()  # type: ignore[return-value]

    def finish(self) -> Record:
        """Wait for what was started, audit the submission, and clean up. Raises MachineFault if
        the machine was at fault anywhere: there is no grade then."""
        try:
            for key in self._asked:
                self._results[key].result()
            complete = len(self._asked) == len(self._results)
            with self._stage("audit"):
                if complete:
                    self._audit()
            with self._stage("causes"):
                self._find_causes()
            return self.record(complete)
        finally:
            self.stop()

    @property
    def decided(self) -> bool:
        """Nothing that is still running can change the grade: finish() will not take long."""
        return self._refusal is not None or all(self._results[key].done() for key in self._asked)

    def stop(self, wait: bool = True) -> None:
        """Start no more cases and ignore the results of those that run; with `wait`, until these
        have ended at their own limits. Removes the submission's files."""
        self._stopped.set()
        if wait and self._thread.is_alive():
            self._thread.join()
        self._runner.remove_files()

    def record(self, complete: bool = False) -> Record:
        """As far as it is known."""
        refusal = self._refusal[1] if self._refusal else None
        tests = [points.refused(case, refusal) if refusal else self._known[key]
                 for key, case in self._cases.items() if key in self._known]
        timings = [points.refused(shape, refusal)
                   if refusal and self._known[key].state != "not-timed" else self._known[key]
                   for key, shape in self._shapes.items() if key in self._known]
        got, possible = points.totals([*tests, *timings])
        parts, box = self._runner.parts, self._runner.box
        return Record(
            complete=complete, submission=about(self.submission),
            suites=[suite.name for suite in self.suites], seed=self.seed, score=got,
            max_score=possible, needs_review=points.needs_review([*tests, *timings], self._runner.limit),
            build=self._runner.build, refusal=refusal, tests=tests,
            performance=timings, protection=box.kind, protection_note=box.note,
            backend=parts.backend, architecture=parts.architecture, version=VERSION,
            grader=of_grader(), cases=of_cases(self.suites),
            compiler=parts.compiler, started=self._started.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._began, 3),
        )  # fmt: skip

    # ---- running -----------------------------------------------------------------------------

    def _parents(self, key: str) -> list[str]:
        """Those that are graded too: one suite can be graded alone."""
        item = self._cases.get(key) or self._shapes[key]
        return [parent for parent in item.depends if parent in self._cases]

    def _parents_first(self, keys: Iterable[str]) -> list[str]:
        """These and all that they depend on, otherwise in the order given."""
        found: dict[str, None] = {}

        def visit(key: str) -> None:
            if key not in found:
                for parent in self._parents(key):
                    visit(parent)
                found[key] = None

        for key in keys:
            visit(key)
        return list(found)

    def _run_all(self) -> None:
        """The thread that reports results: first all cases, then the shapes, one at a time, when
        no case uses the GPU any more."""
        with self._stage("cases"):
            self._run([key for key in self._order if key in self._cases], self.jobs, self._run_case)
        with self._stage("clock"):
            self._run([key for key in self._order if key in self._shapes], 1, self._time_shape)

    def _run(self, keys: list[str], jobs: int, work: Callable[[str], Test | Timing]) -> None:
        graph = {key: [parent for parent in self._parents(key) if parent in keys] for key in keys}
        for key, ended in run_in_order(graph, jobs, work, self._stopped):
            try:
                self._report(key, ended)
            except MachineFault as error:
                self._give_up(error)
            except Exception as error:  # a mistake of ours must not cost a student points
                traceback.print_exception(error)
                self._give_up(MachineFault(f"the grader itself failed: {one_line(error)}"))

    def _run_case(self, key: str) -> Test:
        """Raises MachineFault and Refused."""
        refused = self._refusal
        if refused and refused[0] < self._order.index(key):
            return points.refused(self._cases[key], refused[1])
        return self._runner.run_case(self._cases[key], self._known_parents(key))

    def _time_shape(self, key: str) -> Timing:
        """Raises MachineFault."""
        asked = self._shapes[key]
        if self._runner.parts.backend != "cuda":
            return points.without_gpu(asked)
        if self._refusal:
            return points.refused(asked, self._refusal[1])
        return self._runner.time_shape(asked, self._known_parents(key))

    def _known_parents(self, key: str) -> list[Test]:
        return [self._known[parent] for parent in self._parents(key)]  # type: ignore[misc]

    def _report(self, key: str, ended: Future[Test | Timing]) -> None:
        """A result is written down before those who wait for it go on. Raises what ended it."""
        try:
            item = ended.result()
        except Refused as error:
            found = (self._order.index(key), refusal_of(error))
            self._refusal = min(self._refusal or found, found, key=lambda each: each[0])
            item = points.refused(self._cases[key], found[1])
        self._known[key] = item
        self._report_to(self.record(), item)
        self._results[key].set_result(item)

    def _give_up(self, fault: MachineFault) -> None:
        """No grade will come of this run."""
        self._stopped.set()
        for result in self._results.values():
            if not result.done():
                result.set_exception(fault)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.stages[name] = time.monotonic() - began

    def _audit(self) -> None:
        """Where a grade depends on hidden cases: refuse a submission that knows the public shapes
        by heart (audit.py). Raises MachineFault."""
        public = [case for case in self._cases.values() if not case.hidden]
        if len(public) == len(self._cases) or not self._runner.build.ok or self._refusal:
            return
        problems = self._neighbors(public, points.is_right) or [
            each for each in self._neighbors(public, points.carries)
            if each.m * each.n >= EXPLICABLE]
        found = Refusal(tried="answers only the published shapes", file=None, line=0,
                        hint="C has to be computed for any m, n and k")
        try:
            with ThreadPoolExecutor(self.jobs) as pool:
                computed = list(pool.map(self._runner.computes, problems))
            if not computed or any(computed):
                return
        except Refused as error:
            found = refusal_of(error)
        self._refusal = (len(self._order), found)

    def _find_causes(self) -> None:
        """The mistakes behind the first findings of public cases, after all that points depend on.
        What has been found at one line has one cause, in other cases, too."""
        causes: dict[tuple[str, int], Cause | None] = {}
        for key, case in self._cases.items():
            test = self._known.get(key)
            finding = test.finding if isinstance(test, Test) and not self._refusal else None
            if not finding or case.hidden or not finding.may_have_cause:
                continue
            place = finding.kind, finding.line
            if place not in causes and len(causes) < MOST_CAUSES:
                causes[place] = self._runner.cause_of(case, finding)
        for key, test in self._known.items():
            if isinstance(test, Test) and test.finding:
                cause = causes.get((test.finding.kind, test.finding.line))
                finding = test.finding.model_copy(update={"cause": cause})
                self._known[key] = test.model_copy(update={"finding": finding})

    def _neighbors(self, public: list[Case], passes: Callable[[Test], bool]) -> list[Problem]:
        """Shapes like those of the public cases that it passes."""
        passed = [case for case in public if passes(self.result(case.key))]
        return neighbors(public, passed, seed_for(self.seed, "neighbors"))


def limit_of(suites: list[Suite], on_gpu: bool) -> float:
    """What a submission may take for all of these cases, in seconds of the processor or asleep. Each
    case's own limit, with what its runs take beside kernels, is far above what a right kernel takes,
    its checked run included."""
    beside = HOST_SECONDS + (GPU_SECONDS if on_gpu else 0)
    return OF_ALL_CASES * sum(case.launch_seconds + beside
                              for suite in suites for case in suite.cases)


def seeded(case: Case, seed: int) -> Case:
    """With the run's seed for it, unless it has one of its own."""
    return case.model_copy(update={"seed": seed_for(seed, case.key)}) if case.seed is None else case


def seed_for(seed: int, name: str) -> int:
    """63 bits that cannot be guessed without knowing `seed`."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def about(submission: Submission) -> model.Submission:
    original = submission.original
    return model.Submission(
        name=submission.name, path=printable(str(submission.path)),
        sha256=hashlib.sha256(original).hexdigest(), bytes=len(original),
        notes=list(submission.notes),
    )  # fmt: skip
