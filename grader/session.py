"""Grades one submission: builds it once, runs its cases over several cores, times it where there is
a GPU, and makes the record.

    grading = Grading(submission, suites, seed, box, parts, jobs=2)
    record = grading.run()                    # all at once, or as the plugin does:
    grading.start(); test = grading.result("public/basics/34x34"); ...; record = grading.finish()

The same submission, cases and seed give the same grade: each case's seed is made from the run's and
the case's name, whether a case runs depends on its parents' results alone, and of several reasons
to refuse a submission the one of the first case counts, whichever came first by the clock.
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from . import record as records
from . import score
from .build import NotBuilt, Parts, Programs, Refused, build_submission
from .cases import Case, Suite
from .clock import time_performance
from .errors import MachineFault
from .intake import Submission, printable
from .outcome import Outcome
from .record import VERSION, Build, Record, Refusal, Test, Timing
from .run import Problem, run_problem
from .sandbox import Sandbox
from .verdict import OUT_OF_TIME, judge_case, wants_checked, wants_counts

LONGEST_OUTPUT = 20_000  # characters of what the compiler printed
NEIGHBOURS = 3
LARGEST_NEIGHBOUR = 60  # small, so that the audit takes no time, and several tiles wide
ONE_TILE = 16  # the usual tile: up to here a kernel needs one block and one phase
WIDEST_STEP = 32  # the largest tile or vector in use
LAUNCH_SECONDS_OF_NEIGHBOURS = 2.0
TRIES = 20  # draws for each published shape

Shape = tuple[int, int, int]  # m k n

Finished = Callable[[Record, Test | Timing], None]
"""Called after each case and timed shape with all that is known by then; one call at a time."""


class Grading:
    def __init__(
        self,
        submission: Submission,
        suites: list[Suite],
        seed: int,
        box: Sandbox,
        parts: Parts,
        jobs: int = 1,
        *,
        build: Callable[..., Programs] = build_submission,
        run: Callable[..., Outcome] = run_problem,
        clock: Callable[..., Timing] = time_performance,
        finished: Finished = lambda record, item: None,
    ):
        self.submission, self.suites, self.seed = submission, suites, seed
        self.box, self.parts, self.jobs = box, parts, max(1, jobs)
        self.stages: dict[str, float] = {}  # wall seconds
        self._build, self._run, self._clock, self._told = build, run, clock, finished

        self._cases = {case.key: self._seeded(case) for suite in suites for case in suite.cases}
        self._order = list(self._cases)
        self._shapes = {each.key: each for suite in suites for each in suite.performance}
        self._timings: dict[str, Future[Timing]] = {key: Future() for key in self._shapes}
        self._timed: dict[str, Timing] = {}
        self._wanted: list[str] = []
        self._wanted_times: list[str] = []
        self._waiting: list[str] = []  # in order; those that no thread has taken yet
        self._tests: dict[str, Future[Test]] = {key: Future() for key in self._order}
        self._finished: dict[str, Test] = {}
        self._changed = threading.Condition()
        self._telling = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._fault: MachineFault | None = None
        self._stopped = self._graded = False
        self._refusals: dict[int, Refusal] = {}  # by the case's place in the order

        self._built = Build(ok=False, message="", file=None, line=0, output="")
        self._programs: Programs | None = None
        self._work: Path | None = None
        self._began = time.monotonic()
        self._started = datetime.now(timezone.utc).isoformat(timespec="seconds")

    # ---- what others call --------------------------------------------------------------------

    def run(self) -> Record:
        """Everything, from start to end. Nothing is left behind, however it ends."""
        try:
            self.start()
            return self.finish()
        finally:
            self.stop()

    def start(self, only: Iterable[str] | None = None) -> None:
        """Build, and start to run: all there is, or what has these keys and what it depends on."""
        chosen = None if only is None else set(only)
        self._wanted_times = [key for key in self._shapes if chosen is None or key in chosen]
        self._wanted = [key for key in self._order if chosen is None or key in chosen]
        before = time.monotonic()
        self._compile()
        self.stages["compile"] = time.monotonic() - before
        self._cases_began = time.monotonic()
        parents = [parent for key in self._wanted_times for parent in self._parents(key)]
        self._waiting = self._with_parents([*self._wanted, *parents])
        running = [
            threading.Thread(target=self._work_off, daemon=True, name=f"cases-{number}")
            for number in range(min(self.jobs, len(self._waiting)))
        ]
        timing = threading.Thread(target=self._time_all, args=(running,), daemon=True, name="clock")
        self._threads = [*running, timing]
        for thread in self._threads:
            thread.start()

    def result(self, key: str) -> Test:
        """Waits for this case. MachineFault if there will be none."""
        return self._tests[key].result()

    def timing(self, key: str) -> Timing:
        """Likewise, for a shape that is timed."""
        return self._timings[key].result()

    def finish(self) -> Record:
        """Wait for what was started, look at secret neighbours of the public shapes, and clean up.
        MachineFault if one came up: there is no grade then."""
        try:
            for key in self._wanted:
                self.result(key)
            self.stages["cases"] = time.monotonic() - self._cases_began
            before = time.monotonic()
            for key in self._wanted_times:
                self.timing(key)
            if self.parts.backend == "cuda":
                self.stages["clock"] = time.monotonic() - before
            before = time.monotonic()
            self._audit()
            self.stages["audit"] = time.monotonic() - before
            self._graded = (len(self._wanted) == len(self._order)
                            and len(self._wanted_times) == len(self._shapes))
            return self.record()
        finally:
            self.stop()

    @property
    def decided(self) -> bool:
        """Nothing that still runs can change the grade by much: finish() will not take long."""
        return self._refusal() is not None or (
            all(self._tests[key].done() for key in self._wanted)
            and all(self._timings[key].done() for key in self._wanted_times))

    def stop(self, wait: bool = True) -> None:
        """Start nothing more, and forget what comes of the cases that still run; with `wait`, their
        own limits end them first."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
        for thread in self._threads if wait else []:
            thread.join()
        if self._work:
            shutil.rmtree(self._work, ignore_errors=True)

    def record(self) -> Record:
        """As far as it is known; complete at the end of finish() only."""
        tests = []
        refusal = self._refusal()
        for key in self._order:
            test = self._finished.get(key)
            if test and refusal:
                test = score.refused(self._cases[key], refusal)
            if test:
                tests.append(test)
        timings = [self._unless_refused(self._timed[key], refusal)
                   for key in self._shapes if key in self._timed]
        points, possible = score.totals([*tests, *timings])
        return Record(
            complete=self._graded, submission=self._about_submission(),
            suites=[suite.name for suite in self.suites], seed=self.seed, score=points,
            max_score=possible, build=self._built, refusal=refusal, tests=tests,
            performance=timings, protection=self.box.kind, protection_note=self.box.note,
            backend=self.parts.backend, architecture=self.parts.architecture,
            version=VERSION, compiler=self.parts.compiler, started=self._started,
            seconds=round(time.monotonic() - self._began, 3),
        )  # fmt: skip

    # ---- building ----------------------------------------------------------------------------

    def _compile(self) -> None:
        try:
            self._work = Path(tempfile.mkdtemp(prefix="sgemm-grade-"))
            self._work.chmod(0o711)  # a sandbox's own user passes through
            self._programs = self._build(self.parts, self.submission.source, self.box, self._work)
            self._built = self._built.model_copy(update={"ok": True})
        except NotBuilt as error:
            self._built = Build(ok=False, message=text(error.message), file=error.file,
                                line=error.line, output=text(error.output)[:LONGEST_OUTPUT])
        except Refused as error:
            self._refusals[-1] = refusal_of(error)
        except OSError as error:
            why = error.strerror or one_line(error)  # shutil's has several reasons
            raise MachineFault(f"{tempfile.gettempdir()}: {why}; the submission cannot be built "
                               "there (TMPDIR names another place)") from error

    # ---- running -----------------------------------------------------------------------------

    def _seeded(self, case: Case) -> Case:
        seed = case.seed if case.seed is not None else seed_for(self.seed, case.key)
        return case.model_copy(update={"seed": seed})

    def _parents(self, key: str) -> list[str]:
        """Only those that are graded along: who grades a case alone wants its result."""
        item = self._cases.get(key) or self._shapes[key]
        return [parent for parent in item.depends if parent in self._cases]

    def _with_parents(self, keys: list[str]) -> list[str]:
        needed: set[str] = set()
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key not in needed:
                needed.add(key)
                waiting += self._parents(key)
        return [key for key in self._order if key in needed]

    def _work_off(self) -> None:
        """One thread: the first case whose parents are known, again and again."""
        while (key := self._next()) is not None:
            try:
                self._tell(key, self._test(key))
            except MachineFault as error:
                self._give_up(error)
            except Exception as error:  # a mistake of ours must not cost a student points
                if not self._stopped:
                    traceback.print_exc()
                self._give_up(MachineFault(f"the grader itself failed: {one_line(error)}"))
            with self._changed:
                self._changed.notify_all()

    def _tell(self, key: str, test: Test) -> None:
        """One at a time, so that of two records the later one holds more. Told before anybody who
        waits for this case goes on: what is over is written down."""
        with self._telling:
            if self._stopped:
                return
            self._finished[key] = test
            self._told(self.record(), test)
            if not self._tests[key].done():
                self._tests[key].set_result(test)

    def _next(self) -> str | None:
        with self._changed:
            while self._waiting:
                for key in self._waiting:
                    if all(self._tests[parent].done() for parent in self._parents(key)):
                        self._waiting.remove(key)
                        return key
                self._changed.wait()
        return None

    def _test(self, key: str) -> Test:
        case, place = self._cases[key], self._order.index(key)
        refusal = self._refusal(before=place)
        if refusal:
            return score.refused(case, refusal)
        if self._programs is None:
            return score.unbuilt(case, self._built)
        for parent in self._parents(key):
            test = self._tests[parent].result()
            if not score.carries(test):
                return score.skipped(case, test)
        try:
            return self._run_case(case, self._programs)
        except Refused as error:
            with self._changed:
                self._refusals[place] = refusal_of(error)
            return score.refused(case, refusal_of(error))

    def _run_case(self, case: Case, programs: Programs) -> Test:
        problem = Problem(m=case.m, n=case.n, k=case.k, fill=case.fill, seed=case.seed or 0,
                          tolerance=case.tolerance, time_limit=case.launch_seconds)
        plain = self._run(self.parts, programs, "plain", problem, box=self.box)
        checked = None
        if wants_checked(case) and plain.ended not in OUT_OF_TIME:
            checked = self._run(self.parts, programs, "checked", problem, plain=plain,
                                count=wants_counts(case), box=self.box)
        return judge_case(case, plain, checked)

    # ---- the clock ---------------------------------------------------------------------------

    def _time_all(self, others: list[threading.Thread]) -> None:
        """One shape after the other, when no case is on the GPU any more."""
        for thread in others:
            thread.join()
        for key in self._wanted_times:
            try:
                if self._stopped or self._fault:
                    return
                timing = self._timing(key)
                with self._telling:
                    if self._stopped:
                        return
                    self._timed[key] = timing
                    self._told(self.record(), timing)
                    self._timings[key].set_result(timing)
            except MachineFault as error:
                self._give_up(error)
            except Exception as error:
                if not self._stopped:
                    traceback.print_exc()
                self._give_up(MachineFault(f"the grader itself failed: {one_line(error)}"))

    def _timing(self, key: str) -> Timing:
        asked = self._shapes[key]
        if self.parts.backend != "cuda":
            return score.without_gpu(asked)
        refusal = self._refusal()
        if refusal:
            return score.speed_refused(asked, refusal)
        if self._programs is None:
            return score.speed_unbuilt(asked, self._built)
        for parent in self._parents(key):
            test = self._tests[parent].result()
            if not score.carries(test):
                return score.speed_skipped(asked, test)
        return self._clock(self.parts, self._programs, asked, box=self.box)

    def _unless_refused(self, timing: Timing, refusal: Refusal | None) -> Timing:
        if refusal is None or timing.state == "not-timed":
            return timing
        return score.speed_refused(self._shapes[f"{timing.suite}/{timing.name}"], refusal)

    # ---- ends --------------------------------------------------------------------------------

    def _give_up(self, fault: MachineFault) -> None:
        """No grade will come of this run; everybody who waits is told."""
        with self._changed:
            self._fault = self._fault or fault
            self._waiting.clear()
            for result in (*self._tests.values(), *self._timings.values()):
                if not result.done():
                    result.set_exception(self._fault)

    def _refusal(self, before: int = sys.maxsize) -> Refusal | None:
        """The refusal of the first case, of those before this place."""
        with self._changed:
            places = [place for place in self._refusals if place < before]
            return self._refusals[min(places)] if places else None

    # ---- audit -------------------------------------------------------------------------------

    def _audit(self) -> None:
        """A submission that is right on most published shapes, and in not one element of C on
        shapes like these, knows the shapes and not the product. Only where a grade depends on it:
        docs/security.md."""
        public = [self._cases[key] for key in self._order if not self._cases[key].hidden]
        graded = len(self._wanted) == len(self._order) and len(public) < len(self._order)
        if not graded or self._programs is None or self._refusal():
            return
        right = [case for case in public if score.carries(self.result(case.key))]
        problems = neighbours(public, right, self.seed)
        if not problems:
            return
        try:
            with ThreadPoolExecutor(self.jobs) as pool:
                runs = list(pool.map(self._run_neighbour, problems))
        except Refused as error:
            self._refusals[len(self._order)] = refusal_of(error)
            return
        if not any(run.ended == "returned" and run.elements > run.wrong + run.unwritten
                   for run in runs):
            self._refusals[len(self._order)] = Refusal(
                tried="answers only the published shapes", file=None, line=0,
                hint="C has to be computed for any m, n and k")

    def _run_neighbour(self, problem: Problem) -> Outcome:
        assert self._programs is not None
        return self._run(self.parts, self._programs, "plain", problem, box=self.box)

    # ---- words -------------------------------------------------------------------------------

    def _about_submission(self) -> records.Submission:
        original = self.submission.original
        return records.Submission(
            name=self.submission.name, path=printable(str(self.submission.path)),
            sha256=hashlib.sha256(original).hexdigest(), bytes=len(original),
            notes=list(self.submission.notes),
        )  # fmt: skip


def seed_for(seed: int, name: str) -> int:
    """63 bits that nobody can guess who does not know `seed`."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def neighbours(public: list[Case], right: list[Case], seed: int) -> list[Problem]:
    """Shapes like those that a submission gets right, and not published: whatever honest kernel
    multiplies the one has some element of the other right. None if it gets half of the public cases
    wrong, or if there are no such shapes."""
    draw = random.Random(seed_for(seed, "neighbours"))
    # Numbers that are known beforehand come out right by many an honest mistake.
    tried, known = ([case for case in cases if case.fill == "random"] for cases in (public, right))
    if 2 * len(known) <= len(tried):
        return []
    published = {shape_of(case) for case in public}
    patterns = [case for case in known if min(shape_of(case)) > 1]
    draw.shuffle(patterns)
    found: list[Problem] = []
    for case in patterns * TRIES:
        shape = shape_like(case, draw)
        if shape and shape not in published and len(found) < NEIGHBOURS:
            m, k, n = shape
            found.append(Problem(m=m, n=n, k=k, fill="random", seed=draw.getrandbits(63),
                                 tolerance=None, time_limit=LAUNCH_SECONDS_OF_NEIGHBOURS))
    return found


def shape_of(case: Case) -> Shape:
    return case.m, case.k, case.n


def shape_like(case: Case, draw: random.Random) -> Shape | None:
    """With the same of m, k and n equal, and the same larger; None where this draw has no such."""
    old = sorted(set(shape_of(case)))
    new = [draw.choice(sizes_like(size)) for size in old]
    if new != sorted(set(new)):
        return None
    m, k, n = (new[old.index(size)] for size in shape_of(case))
    return m, k, n


def sizes_like(size: int) -> list[int]:
    """No larger, on the same side of one tile, and as many whole steps: what a kernel without
    guards, with one block, one phase or arrays of fixed size still multiplies."""
    step = min(size & -size, WIDEST_STEP)
    least = 2 if size <= ONE_TILE else ONE_TILE + 1
    return [like for like in range(least, min(size, LARGEST_NEIGHBOUR) + 1) if like % step == 0]


def refusal_of(error: Refused) -> Refusal:
    return Refusal(tried=text(error.tried), file=error.file, line=error.line, hint=error.hint)


def text(said: str) -> str:
    """What tools print can hold bytes that are no text."""
    return said.encode("utf-8", "backslashreplace").decode()


def one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
