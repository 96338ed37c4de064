"""Grades one submission: builds it once, runs its cases over several cores, times it where there is
a GPU, and makes the record.

    record = Grading(submission, suites, seed, box, parts, jobs=2).run()
    record = Run(options, submission).run()

The latter, which `python -m grader` and the front for pytest call, also writes it to disk: in result.json if it is
complete, else in result.partial.json. Whoever waits for it can watch.

The same submission, cases and seed give the same grade: each case's seed is made from the run's and
the case's name, whether a case runs depends on its gate alone, and of several reasons to refuse a
submission that of the first case counts, whichever was found first.
"""

import hashlib
import itertools
import secrets
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from . import interrupt
from .build.parts import Parts, of_grader, trusted_parts
from .cases.model import Case, Suite
from .cases.read import of_cases
from .criteria.correct import headline
from .errors import MachineFault, Refused
from .intake.submission import Submission
from .jail.sandbox import Sandbox
from .one_case import Runner, Tools, one_line, refusal_of
from .options import SEED_BITS, Asked
from .process import threads
from .record import model
from .record.model import Cause, Finding, Record, Refusal, Test, Timing
from .record.store import Store
from .run.limits import GPU_SECONDS, HOST_SECONDS
from .text import printable
from .verdict import points, repair

T = TypeVar("T")

BEFORE_ALL_CASES = -1
OF_ALL_CASES = 3.0
MOST_CAUSES = 3  # a second each

Finished = Callable[[Record, "Test | Timing"], None]
"""Called after each case and timed shape with all that is known by then; one call at a time."""


class Grading:
    """`limit`: seconds for all runs of the submission; None: limit_of() them. `stages`: wall seconds
    that each stage took. `began`: called when one begins, with how many cases and shapes were asked for
    where they run."""

    def __init__(self, submission: Submission, suites: list[Suite], seed: int, box: Sandbox,
                 parts: Parts, jobs: int = 1, *, limit: float | None = None,
                 tools: Tools | None = None,
                 began: Callable[[str, int | None], None] = lambda stage, count: None,
                 finished: Finished = lambda record, item: None):
        self.submission, self.suites, self.seed, self.jobs = submission, suites, seed, max(1, jobs)
        self.stages: dict[str, float] = {}
        limit = limit_of(suites, parts.backend == "cuda") if limit is None else limit
        self._runner = Runner(submission.source, parts, box, tools or Tools(), limit)
        self._begins, self._report_to = began, finished
        self._cases = {case.key: seeded(case, seed) for suite in suites for case in suite.cases}
        self._shapes = {each.key: each for suite in suites for each in suite.performance}
        self._gates = {case.key: suite.gate for suite in suites for case in suite.cases
                       if suite.gate != case.key and suite.gate in self._cases}
        self._asked: list[str] = []
        self._order: list[str] = []  # what was asked for, behind what that needs
        self._until_first = False
        self._known: dict[str, Test | Timing] = {}
        self._refusal: tuple[int, Refusal] | None = None  # with its case's place in _order
        self._repaired: repair.Repaired | None = None
        self._stopped = threading.Event()
        self._started, self._began = datetime.now(timezone.utc), time.monotonic()

    def run(self, only: Iterable[str] | None = None, until_first: bool = False) -> Record:
        """Everything, or what has these keys, and what these need; `until_first`: in their order, up to
        the first that loses points, unless nothing that still runs can change the grade. No file is left
        behind. Raises MachineFault if the machine was at fault anywhere: there is no grade then."""
        self._choose(only)
        self._until_first = until_first
        try:
            self._begins("compiling kernel.cu", None)
            with self._stage("compile"):
                self._runner.compile()
            if self._runner.refusal:
                self._refusal = (BEFORE_ALL_CASES, self._runner.refusal)
            self._begins("running", len(self._asked))
            self._run_all()
            if self._stopped.is_set():
                return self.record()
            complete = len(self._asked) == len(self._cases) + len(self._shapes)
            with self._stage("repair"):
                if complete and not self._refusal and self._runner.build.ok:
                    self._repaired = self._repair()
            with self._stage("causes"):
                self._find_causes()
            return self.record(complete)
        finally:
            self._runner.remove_files()

    def _choose(self, only: Iterable[str] | None) -> None:
        items = [item.key for suite in self.suites for item in suite.items]
        self._asked = items if only is None else [key for key in items if key in set(only)]
        gates = {suite.gate for suite in self.suites if suite.gate in self._cases
                 and any(item.key in self._asked for item in suite.items)}
        timed = any(key in self._shapes for key in self._asked)
        public = [key for key, case in self._cases.items() if timed and not case.hidden]
        self._order = list(dict.fromkeys([*gates, *public, *self._asked]))

    def record(self, complete: bool = False) -> Record:
        """As far as it is known."""
        refusal = self._refusal[1] if self._refusal else None
        tests = self._tests(refusal)
        timings = [points.refused(shape, refusal)
                   if refusal and self._known[key].state != "not-timed" else self._known[key]
                   for key, shape in self._shapes.items() if key in self._known]
        by_key, repaired = {test.key: test for test in tests}, self._repaired
        marks = [each for suite in self.suites for each in points.marks_of(suite, by_key)]
        if repaired and not refusal:
            marks += points.repair_marks(self.suites, by_key, repaired.tests, repaired.mistake)
        got, possible = points.totals([*tests, *marks, *timings])
        parts, box, given = self._runner.parts, self._runner.box, self.submission
        return Record(
            complete=complete, submission=model.Submission(
                name=given.name, path=printable(str(given.path)), bytes=len(given.original),
                sha256=hashlib.sha256(given.original).hexdigest(), notes=list(given.notes)),
            suites=[suite.name for suite in self.suites], seed=self.seed, score=got,
            max_score=possible, needs_review=points.needs_review([*tests, *timings], self._runner.limit),
            build=self._runner.build, refusal=refusal, tests=tests,
            marks=marks, performance=timings, protection=box.kind, protection_note=box.note,
            backend=parts.backend, architecture=parts.architecture, version=parts.lab.version,
            lab=model.Lab(name=parts.lab.name, title=parts.lab.title),
            grader=of_grader(parts.lab.folder), cases=of_cases(self.suites),
            compiler=parts.compiler, started=self._started.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._began, 3),
        )  # fmt: skip

    def _tests(self, refusal: Refusal | None) -> list[Test]:
        """As far as they are known, and as they count."""
        if refusal:
            return [points.refused(case, refusal) for key, case in self._cases.items()  # type: ignore
                    if key in self._known]
        found = []
        for key in self._cases:
            test, gate = self._known.get(key), self._gate_of(key)
            if test and gate and not points.is_right(gate):
                test = points.behind_gate(test, gate)  # type: ignore[arg-type]
            found += [test] if test else []
        return found  # type: ignore[return-value]

    def _gate_of(self, key: str) -> Test | None:
        """Its result; None where there is no gate, or it is not known."""
        return self._known.get(self._gates.get(key, ""))  # type: ignore[return-value]

    # ---- running -----------------------------------------------------------------------------

    def _run_all(self) -> None:
        """First the gates, then all other cases, the largest first, then the shapes, one at a time, when
        no case uses the GPU any more."""
        cases = [key for key in self._order if key in self._cases]
        with self._stage("cases"):
            gates = set(self._gates.values())
            run_all([key for key in cases if key in gates], self.jobs, self._run_case, self._report, self._stopped)
            # Last, a large case would run on one core while the others have nothing left to do.
            others = sorted((key for key in cases if key not in gates),
                            key=lambda key: self._cases[key].sizes.operations, reverse=True)
            run_all(others, self.jobs, self._run_case, self._report, self._stopped)
        with self._stage("clock"):
            shapes = [key for key in self._order if key in self._shapes]
            run_all(shapes, 1, self._time_shape, self._report, self._stopped)

    def _run_case(self, key: str) -> Test:
        """Raises MachineFault and Refused."""
        refused = self._refusal
        if refused and refused[0] < self._order.index(key):
            return points.refused(self._cases[key], refused[1])
        gate = self._gate_of(key)
        stops = gate and not points.is_right(gate) and not repair.one_mistake(gate)
        return self._runner.run_case(self._cases[key], gate if stops else None)

    def _time_shape(self, key: str) -> Timing:
        """Raises MachineFault."""
        asked = self._shapes[key]
        if self._runner.parts.backend != "cuda":
            return points.untimed(asked, "not-timed", points.NO_GPU)
        if self._refusal:
            return points.refused(asked, self._refusal[1])
        public = (self._known.get(key) for key, case in self._cases.items() if not case.hidden)
        wrong = (test for test in public if test and not points.is_right(test))  # type: ignore[arg-type]
        return self._runner.time_shape(asked, next(wrong, None))  # type: ignore[arg-type]

    def _report(self, key: str, ended: Future[Test | Timing]) -> None:
        """Raises MachineFault."""
        try:
            item = ended.result()
        except Refused as error:
            found = (self._order.index(key), refusal_of(error))
            self._refusal = min(self._refusal or found, found, key=lambda each: each[0])
            item = points.refused(self._cases[key], found[1])
        except MachineFault:
            raise
        except Exception as error:  # a mistake of ours must not cost a student points
            traceback.print_exception(error)
            raise MachineFault(f"the grader itself failed: {one_line(error)}") from error
        self._known[key] = item
        self._report_to(self.record(), item)
        if self._until_first and not self._refusal and self._has_lost():
            self._stopped.set()

    def _has_lost(self) -> bool:
        """Whether one has lost points before which all are known, and others are not."""
        known = list(itertools.takewhile(self._known.__contains__, self._asked))
        lost = [item for item in map(self._known.__getitem__, known)
                if not item.nothing_lost and item.status != "skipped"]
        return bool(lost) and any(key not in self._known for key in self._asked)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.stages[name] = time.monotonic() - began

    def _repair(self) -> repair.Repaired | None:
        """One edit, and what each case is with it. Raises MachineFault."""
        if not any(suite.repaired for suite in self.suites):
            return None
        tests: dict[str, Test] = {key: self._known[key] for key in self._cases}  # type: ignore[misc]
        if all(map(repair.clean, tests.values())):
            return None
        for finding in repair.missing_barriers(tests.values()):
            if found := self._with_barrier(finding):
                return found
        found = repair.without_formula(tests, self._runner.explained)
        stands = found and all(points.is_right(found.tests[gate]) for gate in self._gates.values())
        return found if stands else None

    def _with_barrier(self, finding: Finding) -> repair.Repaired | None:
        """Graded on all cases, up to the first at which it is of no use. Raises MachineFault."""
        programs = self._runner.repaired(finding)
        if programs is None:
            return None
        tests: dict[str, Test] = {}
        useless = threading.Event()

        def report(key: str, ended: Future[Test | None]) -> None:
            if test := ended.result():
                tests[key] = test
            else:
                useless.set()

        keys = sorted(self._cases, key=lambda key: repair.clean(self._known[key]))  # type: ignore
        run_all(keys, self.jobs, lambda key: self._runner.run_repaired(programs, self._cases[key]), report, useless)
        return None if useless.is_set() else repair.Repaired(headline(finding), tests)

    def _find_causes(self) -> None:
        """The mistakes behind the first findings of public cases, after all that points depend on.
        What has been found at one line has one cause, in other cases, too. The hint is then the
        cause's: another one might ask for what is not wrong."""
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
                self._known[key] = test.model_copy(update={
                    "finding": test.finding.behind(cause), "hint": cause and cause.hint or test.hint})


def run_all(keys: Sequence[str], jobs: int, work: Callable[[str], T],
            report: Callable[[str, Future[T]], None], stopped: threading.Event) -> None:
    """work(key) for each of the keys, begun in their order, in one of `jobs` threads; and here, as each
    is done, report(key, its future), until `stopped` is set: by it, or because it raises something. What
    runs has ended then."""
    with threads(jobs) as pool:
        keys_of = {pool.submit(work, key): key for key in keys if not stopped.is_set()}
        for ended in as_completed(keys_of):
            report(keys_of[ended], ended)
            if stopped.is_set():
                break


def limit_of(suites: list[Suite], on_gpu: bool) -> float:
    """What a submission may take for all of these cases, in seconds of the processor or asleep. Each
    case's own limit, with what its runs take beside kernels, is far above what a correct kernel takes,
    its checked run included."""
    beside = HOST_SECONDS + (GPU_SECONDS if on_gpu else 0)
    return OF_ALL_CASES * sum(case.launch_seconds + beside for suite in suites for case in suite.cases)


def seeded(case: Case, seed: int) -> Case:
    """With a seed of its own: 63 bits that cannot be guessed without knowing the run's `seed`."""
    digest = hashlib.sha256(f"{seed}/{case.key}".encode()).digest()
    return case.model_copy(update={"seed": int.from_bytes(digest[:8], "big") >> 1})


class Run:
    """`only`: the keys of the cases and timed shapes that are asked for; None: all. `stage` is called
    when one begins, with the number of cases where there are some; `finished` for each of these."""

    def __init__(self, asked: Asked, submission: Submission, *, named: bool = False,
                 only: set[str] | None = None,
                 stage: Callable[[str, int | None], None] = lambda what, cases: None,
                 finished: Callable[[Test | Timing], None] = lambda item: None):
        self.asked, self.submission, self.named, self.only = asked, submission, named, only
        self.stage, self.finished = stage, finished
        self.store: Store | None = None
        self.stages: dict[str, float] = {}

    def run(self, until_first: bool = False) -> Record:
        """`until_first`: case that loses points. Raises MachineFault."""
        asked, started = self.asked, time.monotonic()
        self.stage("building the grader", None)
        parts = trusted_parts(asked.backend, asked.lab)
        box = asked.sandbox(parts.jail)
        self.stages["trusted parts"] = time.monotonic() - started
        seed = secrets.randbits(SEED_BITS) if asked.seed is None else asked.seed
        grading = Grading(self.submission, asked.suites, seed, box, parts, asked.jobs,
                          limit=asked.limit, began=self.stage, finished=self._keep)
        self.store = Store(asked.results, grading.record(), named=self.named)
        record = grading.run(self.only, until_first)
        self.stages |= grading.stages
        # From here to the end, so that the exit status is true about whether there is a result.
        interrupt.handle(signal.SIG_IGN)
        if record.complete:
            self.store.save_source(self.submission.source)
            self.store.save(record)
        else:
            self.store.save_partial(record)
        return record

    @property
    def keys(self) -> list[str]:
        """And those of what a whole suite keeps or loses."""
        return [key for suite in self.asked.suites
                for key in (*(item.key for item in suite.items), *suite.marks)]

    def choose(self, keys: set[str]) -> None:
        """Of these: a mark needs all cases of its suite."""
        needed = {case.key for suite in self.asked.suites if keys & set(suite.marks) for case in suite.cases}
        self.only = None if keys >= set(self.keys) else keys | needed

    def _keep(self, record: Record, item: Test | Timing) -> None:
        """In case the grader is killed."""
        assert self.store
        self.finished(item)
        self.store.save_partial(record)

    def earned_all(self, record: Record) -> bool:
        """Of what was asked for."""
        if record.complete:
            return points.full_marks(record)
        known = {item.key: item.nothing_lost for item in record.items}
        return all(known.get(item.key) for suite in self.asked.suites for item in suite.items
                   if self.only is None or item.key in self.only)

    def place(self, record: Record) -> Path | None:
        """The file that has it."""
        return self.store and (self.store.result if record.complete else self.store.partial)
