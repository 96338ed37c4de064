"""A submission's programs: compiled once, then run on cases and timed on shapes.

In: kernel.cu's text, the grader's parts, a sandbox. Out: a Test or a Timing for each case or shape.
"""

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
from .process import TemporaryFolder
from .record.model import Build, Cause, Finding, Refusal, Test, Timing, at
from .run.cause import find_cause
from .run.once import run_problem
from .run.outcome import Outcome
from .text import valid
from .verdict import points, repair
from .verdict.points import OUT_OF_TIME, judge_case, wants_checked, wants_counts

LONGEST_OUTPUT = 20_000  # characters of what the compiler printed


def time_performance(parts: Parts, programs: Programs, asked: Performance, *, box: Sandbox) -> Timing:
    """One shape. Raises MachineFault."""
    began = time.monotonic()
    answer = measure(parts, programs, asked.params, box=box)
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
        self.refusal: Refusal | None = None  # of a submission that was not even compiled
        self.explained: dict[str, repair.Explained] = {}
        """Cases whose result is explained by a formula, by their keys."""
        self._programs: Programs | None = None
        self._work: list[TemporaryFolder] = []

    def compile(self) -> None:
        """Sets `build` and `refusal`. Raises MachineFault."""
        try:
            self._programs = self._built(self.source, self.box)
            self.build = self.build.model_copy(update={"ok": True})
        except NotBuilt as error:
            self.build = Build(ok=False, message=valid(error.message), file=error.file,
                               line=error.line, output=valid(error.output)[:LONGEST_OUTPUT])
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

    def run_case(self, case: Case, gate: Test | None) -> Test:
        """Raises MachineFault, and Refused if the submission does what none may."""
        if without_a_run := self._result_without_a_run(case, gate):
            return without_a_run  # type: ignore[return-value]
        assert self._programs is not None
        plain, checked = self._run(self._programs, case)
        if wants_checked(case) and checked is None and plain.ended not in OUT_OF_TIME:
            return points.used_up(case, self.limit)  # type: ignore[return-value]
        if explained := repair.explain(case, plain, checked):
            self.explained[case.key] = explained
        return judge_case(case, plain, checked)

    def _run(self, programs: Programs, case: Case) -> tuple[Outcome, Outcome | None]:
        """The plain and the checked run; None: it is not wanted, or no time is left."""
        plain = self.tools.run(self.parts, programs, "plain", case, box=self.box)
        self._use(plain.seconds)
        if not wants_checked(case) or plain.ended in OUT_OF_TIME or self.used_up:
            return plain, None
        checked = self.tools.run(self.parts, programs, "checked", case, plain=plain, count=wants_counts(case),
                                 box=self.box)
        self._use(checked.seconds)
        return plain, checked

    def repaired(self, finding: Finding) -> Programs | None:
        """The submission with the barrier that the finding misses, if that compiles, in the time that the submission
        has left. Raises MachineFault."""
        source, box = repair.with_barrier(self.source, finding), TimedSandbox(self.box)
        if source is None or self.used_up:
            return None
        try:
            return self._built(source, box)  # type: ignore[arg-type]
        except (NotBuilt, Refused):
            return None
        finally:
            self._use(box.seconds)

    def run_repaired(self, programs: Programs, case: Case) -> Test | None:
        """None: it is not correct and clean either, or no time is left. Raises MachineFault."""
        if self.used_up:
            return None
        try:
            test = judge_case(case, *self._run(programs, case))
        except Refused:
            return None
        return test if repair.clean(test) else None

    def cause_of(self, case: Case, finding: Finding) -> Cause | None:
        """In no time that counts."""
        return self._programs and self.tools.cause(self.parts, self._programs, self.source, case,
                                                   finding, self.box)

    @property
    def used_up(self) -> bool:
        return self._used > self.limit

    def _use(self, seconds: float) -> None:
        with self._adding:
            self._used += seconds

    def time_shape(self, asked: Performance, wrong: Test | None) -> Timing:
        """On a GPU, unless a public case is `wrong`. Raises MachineFault."""
        if without_a_run := self._result_without_a_run(asked, wrong):
            return without_a_run  # type: ignore[return-value]
        assert self._programs is not None
        return self.tools.time(self.parts, self._programs, asked, box=self.box)

    def _result_without_a_run(self, item: Case | Performance, failed: Test | None) -> Test | Timing | None:
        """Where nothing was built, a case before it failed, or no time is left; None: it is to be run."""
        if self._programs is None:
            error = at(self.build.file, self.build.line, self.build.message)
            return points.no_points(item, "unbuilt", f"does not compile: {error}")
        if failed:
            return points.skipped(item, failed)
        return points.used_up(item, self.limit) if self.used_up else None


def refusal_of(error: Refused) -> Refusal:
    return Refusal(tried=valid(error.tried), file=error.file, line=error.line, hint=error.hint)


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


@dataclass
class TimedSandbox:
    """A sandbox for one thread: what compiling a repair takes counts as a run does."""

    box: Sandbox
    seconds: float = 0.0

    def run(self, command: Command) -> Ran:
        ran = self.box.run(command)
        self.seconds += ran.seconds
        return ran
