"""A submission's programs: compiled once, then run on cases and timed on shapes.

In: kernel.cu's text, the grader's parts, a sandbox. Out: a Test or a Timing for each case or shape.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .build.parts import Parts
from .build.submission import Programs, build_submission, work_directory
from .cases.model import Case, Performance
from .clock.measure import measure
from .errors import MachineFault, NotBuilt, Refused
from .jail.sandbox import Command, Ran, Sandbox
from .record.model import Build, Cause, Finding, Refusal, Test, Timing
from .run.cause import find_cause
from .run.limits import Problem
from .run.once import run_problem
from .run.outcome import Outcome
from .verdict import points
from .verdict.case import OUT_OF_TIME, explained, judge_case, wants_checked, wants_counts

LONGEST_OUTPUT = 20_000  # characters of what the compiler printed
BARRIER = b"__syncthreads();"


def time_performance(parts: Parts, programs: Programs, asked: Performance, *,
                     box: Sandbox) -> Timing:
    """One shape. Raises MachineFault."""
    began = time.monotonic()
    answer = measure(parts, programs, asked.m, asked.n, asked.k, box=box)
    return points.timing_of(asked, answer, time.monotonic() - began)


@dataclass(frozen=True)
class Tools:
    """The steps that need a compiler, a sandbox or a GPU; tests replace them."""

    build: Callable[..., Programs] = build_submission
    run: Callable[..., Outcome] = run_problem
    time: Callable[..., Timing] = time_performance
    cause: Callable[..., Cause | None] = find_cause


class Runner:
    """`limit`: seconds, of the processor and asleep, for all runs on cases together. Of what would
    begin later there are no results but that."""

    def __init__(self, source: bytes, parts: Parts, box: Sandbox, tools: Tools, limit: float):
        self.source, self.parts, self.box, self.tools = source, parts, box, tools
        self.limit, self._used, self._adding = limit, 0.0, threading.Lock()
        self.build = Build(ok=False, message="", file=None, line=0, output="")
        self.refusal: Refusal | None = None
        """Of a submission that was not even compiled."""
        self._programs: Programs | None = None
        self._repaired: dict[bytes, Programs | None] = {}
        self._repairing = threading.Lock()
        self._work: list[tempfile.TemporaryDirectory[str]] = []

    def compile(self) -> None:
        """Sets `build` and `refusal`. Raises MachineFault."""
        try:
            self._programs = self._built(self.source, self.box)
            self.build = self.build.model_copy(update={"ok": True})
        except NotBuilt as error:
            self.build = Build(ok=False, message=text(error.message), file=error.file,
                               line=error.line, output=text(error.output)[:LONGEST_OUTPUT])
        except Refused as error:
            self.refusal = refusal_of(error)

    def _built(self, source: bytes, box: Sandbox) -> Programs:
        """In a directory of its own. Raises NotBuilt, Refused and MachineFault."""
        try:
            self._work.append(work_directory())
            return self.tools.build(self.parts, source, box, Path(self._work[-1].name))
        except OSError as error:
            why = error.strerror or one_line(error)  # shutil's has several reasons
            raise MachineFault(f"{tempfile.gettempdir()}: {why}; the submission cannot be built "
                               "there (TMPDIR names another place)") from error

    def remove_files(self) -> None:
        for work in self._work:
            work.cleanup()

    def run_case(self, case: Case, parents: list[Test]) -> Test:
        """Raises MachineFault, and Refused if the submission does what none may."""
        if without_a_run := self._result_without_a_run(case, parents):
            return without_a_run
        assert self._programs is not None
        problem = Problem(m=case.m, n=case.n, k=case.k, fill=case.fill, seed=case.seed or 0,
                          tolerance=case.tolerance, time_limit=case.launch_seconds)
        plain, checked = self._run_plain(self._programs, problem), None
        if wants_checked(case) and plain.ended not in OUT_OF_TIME:
            if self.used_up:
                return points.used_up(case, self.limit)
            checked = self._run_checked(self._programs, problem, plain, case)
        if case.nearly and checked and checked.finding and checked.finding.barrier_after:
            return judge_case(case, plain, checked,
                              self._run_repaired(case, problem, checked.finding))
        return judge_case(case, plain, checked)

    def _run_plain(self, programs: Programs, problem: Problem) -> Outcome:
        return self._counted(self.tools.run(self.parts, programs, "plain", problem, box=self.box))

    def _run_checked(self, programs: Programs, problem: Problem, plain: Outcome,
                     case: Case) -> Outcome:
        return self._counted(self.tools.run(self.parts, programs, "checked", problem, plain=plain,
                                            count=wants_counts(case), box=self.box))

    def _run_repaired(self, case: Case, problem: Problem,
                      finding: Finding) -> tuple[Outcome, Outcome] | None:
        """Both runs with the barrier that the finding misses, if it can be put in. Raises
        MachineFault."""
        programs = self._with_barrier(finding)
        if programs is None or self.used_up:
            return None
        try:
            plain = self._run_plain(programs, problem)
            if not plain.right or self.used_up:
                return None
            return plain, self._run_checked(programs, problem, plain, case)
        except Refused:
            return None

    def _with_barrier(self, finding: Finding) -> Programs | None:
        """Compiled once for each place, in the time that the submission has left. Raises
        MachineFault."""
        source = with_barrier(self.source, finding)
        if source is None:
            return None
        with self._repairing:
            if source not in self._repaired and not self.used_up:
                box = TimedSandbox(self.box)
                try:
                    self._repaired[source] = self._built(source, box)  # type: ignore[arg-type]
                except (NotBuilt, Refused):
                    self._repaired[source] = None
                self._use(box.seconds)
            return self._repaired.get(source)

    def cause_of(self, case: Case, finding: Finding) -> Cause | None:
        """In no time that counts."""
        return self._programs and self.tools.cause(self.parts, self._programs, self.source, case,
                                                   finding, self.box)

    def computes(self, problem: Problem) -> bool:
        """Whether the submission gets some element of this product right, or would but for one
        mistake. Raises MachineFault and Refused."""
        return any(some_right(run) or explained(run)
                   for programs in (self._programs, *self._repaired.values()) if programs
                   for run in [self._run_plain(programs, problem)])

    @property
    def used_up(self) -> bool:
        return self._used > self.limit

    def _counted(self, outcome: Outcome) -> Outcome:
        self._use(outcome.seconds)
        return outcome

    def _use(self, seconds: float) -> None:
        with self._adding:
            self._used += seconds

    def time_shape(self, asked: Performance, parents: list[Test]) -> Timing:
        """On a GPU. Raises MachineFault."""
        if without_a_run := self._result_without_a_run(asked, parents):
            return without_a_run
        assert self._programs is not None
        return self.tools.time(self.parts, self._programs, asked, box=self.box)

    def _result_without_a_run(self, item: Case | Performance,
                              parents: list[Test]) -> Test | Timing | None:
        """Where nothing was built, a parent of it failed, or no time is left; None: it is to be
        run."""
        if self._programs is None:
            return points.unbuilt(item, self.build)
        good = points.is_right if isinstance(item, Performance) else points.carries
        failed = next((parent for parent in parents if not good(parent)), None)
        if failed:
            return points.skipped(item, failed)
        return points.used_up(item, self.limit) if self.used_up else None


def some_right(run: Outcome) -> bool:
    return run.ended == "returned" and run.elements > run.wrong + run.unwritten


def refusal_of(error: Refused) -> Refusal:
    return Refusal(tried=text(error.tried), file=error.file, line=error.line, hint=error.hint)


def text(printed: str) -> str:
    """Valid Unicode, whatever a tool has printed."""
    return printed.encode("utf-8", "backslashreplace").decode()


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


# ---- one barrier more ----------------------------------------------------------------------------


def with_barrier(source: bytes, finding: Finding) -> bytes | None:
    """The submission with the barrier that the finding misses; None where it names no place. What the
    finding says came from a process in which student code ran, and decides nothing but where that
    line is: points depend on what the repaired submission computes (verdict/case.py). The line may be one
    at which no statement can stand; then the text does not compile."""
    lines = source.split(b"\n")
    if not 0 < finding.barrier_after < len(lines):
        return None
    lines.insert(finding.barrier_after, BARRIER)
    return b"\n".join(lines)


@dataclass
class TimedSandbox:
    """A sandbox for one thread. A submission can name a place in each case: what compiling takes
    counts as its runs do."""

    box: Sandbox
    seconds: float = 0.0

    def run(self, command: Command) -> Ran:
        ran = self.box.run(command)
        self.seconds += ran.seconds
        return ran
