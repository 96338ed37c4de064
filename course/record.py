"""A grade as the grader wrote it down: result.json, for staff, and student.json, what of it a student may
see. In: a path. Out: a Record. Members that are not named here are ignored, so a later grader may write
more; what a member means is said where the grader writes it."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import BadInput
from .text import one_line, points

RESULT, OF_STUDENTS, SOURCE = "result.json", "student.json", "kernel.cu"
"""In a folder of results; the last is the submission as it was compiled."""


class Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Mistake(Read):
    """What to correct."""

    kind: str
    what: str
    file: str | None = None
    line: int = 0
    detail: list[str] = []
    hint: str | None = None


class Finding(Mistake):
    headline: str = ""
    launch: str | None = None
    cause: Mistake | None = None
    """The mistake behind it."""

    @property
    def mistake(self) -> Mistake:
        return self.cause or self

    @property
    def below(self) -> list[str]:
        """The lines below the headline of the mistake."""
        above = [*self.cause.detail, f"symptom: {placed(self.file, self.line, self.what)}"] \
            if self.cause else []
        return [*above, *self.detail, *([self.launch] if self.launch else [])]


class Criterion(Read):
    name: str
    passed: bool
    reason: str = ""
    phrase: str = ""
    """The same in words that are the same for all cases."""


class Loads(Read):
    all: int
    naive: int
    once_per_block: int
    most: int | None = None


class Item(Read):
    """A case or a timed shape."""

    name: str
    suite: str
    hidden: bool
    title: str = ""
    params: dict[str, int] | None = None
    """In the order of a command line."""
    score: float
    max_score: float
    reason: str = ""
    hint: str = ""

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}"

    @property
    def shape(self) -> str:
        """Empty where it is not shown."""
        return " ".join(f"{name}={value}" for name, value in (self.params or {}).items())


class Case(Item):
    fill: str | None = None
    seed: int | None = None
    status: Literal["passed", "partial", "failed", "skipped"]
    criteria: list[Criterion] = []
    finding: Finding | None = None
    loads: Loads | None = None
    output: str = ""

    @property
    def shape(self) -> str:
        return one_line(" ".join(filter(None, [super().shape, self.fill])))

    @property
    def nothing_lost(self) -> bool:
        return self.status == "passed"

    @property
    def skipped(self) -> bool:
        return self.status == "skipped"


class Mark(Item):
    """Points that all cases of a suite keep together, or lose; or what a repair adds, of no points."""

    criterion: str
    status: str
    lost_in: list[str] = []

    @property
    def why(self) -> str:
        """With some of the cases."""
        more = f" and {len(self.lost_in) - 2} more" if len(self.lost_in) > 2 else ""
        cases = f"; in {', '.join(self.lost_in[:2])}{more}" if self.lost_in else ""
        return one_line(self.reason + cases)

    @property
    def nothing_lost(self) -> bool:
        return self.status == "passed"

    @property
    def skipped(self) -> bool:
        return False


class Times(Read):
    median: float

    def __str__(self) -> str:
        return f"{self.median * 1e3:.3f} ms"


class Timing(Item):
    state: str
    device: str | None = None
    """The GPU's name."""
    ratio: float | None = None
    beside: str
    """What kernels are timed beside: "cuBLAS"."""
    times: Times | None = None
    beside_times: Times | None = None

    @property
    def timed(self) -> bool:
        """What was not timed because there is no GPU is no part of the grade."""
        return self.state != "not-timed"

    @property
    def nothing_lost(self) -> bool:
        return self.state in ("timed", "not-timed") and self.score >= self.max_score

    @property
    def skipped(self) -> bool:
        return self.state in ("not-timed", "skipped")


class Submission(Read):
    bytes: int
    notes: list[str] = []


class Refusal(Read):
    tried: str
    file: str | None = None
    line: int = 0
    hint: str = ""


class Build(Read):
    ok: bool
    message: str = ""
    file: str | None = None
    line: int = 0
    output: str = ""


class Lab(Read):
    name: str
    """Of its programs, too."""
    title: str = ""


class Record(Read):
    format: Literal[6]
    complete: Literal[True]
    submission: Submission
    lab: Lab
    suites: list[str]
    seed: int
    score: float
    max_score: float
    build: Build
    refusal: Refusal | None = None
    tests: list[Case]
    marks: list[Mark] = []
    performance: list[Timing] = []
    backend: str
    architecture: str | None = None
    version: str | None = None
    grader: str | None = None
    cases: str | None = None
    compiler: str
    seconds: float = 0.0
    """That the grade took."""
    needs_review: list[str] = []
    started: str

    @property
    def items(self) -> list[Case | Mark | Timing]:
        return [*self.tests, *self.marks, *self.performance]

    @property
    def timed(self) -> list[Timing]:
        return [timing for timing in self.performance if timing.timed]

    @property
    def graded(self) -> list[Case | Mark | Timing]:
        """All that earns points, or could have."""
        return [*self.tests, *(mark for mark in self.marks if mark.max_score), *self.timed]

    @property
    def whole(self) -> list[str]:
        """What holds for the submission as a whole, a line each: it was refused, or does not compile; and
        what was changed before compiling."""
        lines = []
        if self.refusal:
            refusal = self.refusal
            lines.append(f"refused, 0 points: {placed(refusal.file, refusal.line, '')}"
                         f"it {one_line(refusal.tried)}")
            if refusal.hint:
                lines.append(f"hint: {one_line(refusal.hint)}")
        elif not self.build.ok:
            what = "does not build" if self.submission.bytes else "unusable"
            lines.append(f"{what}: {placed(self.build.file, self.build.line, self.build.message)}")
        return lines + [f"note: {one_line(note)}" for note in self.submission.notes]


def read_record(path: Path) -> Record:
    """Raises BadInput: it cannot be read, or is not a complete record of this format."""
    try:
        return Record.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]  # the value may be anything
        place = ".".join(map(str, first["loc"])) or "the file"
        raise BadInput(f"{path}: not a complete result of this grader: {place}: {first['msg']}") from None


def placed(file: str | None, line: int, what: str) -> str:
    """With the place in front, unless the words begin with it already."""
    place = one_line(f"{file}:{line}:" if line else f"{file}:") if file else ""
    what = one_line(what)
    return what if not place or what.startswith(place) else f"{place} {what}"


def share(item: Item) -> str:
    if isinstance(item, Mark) and not item.max_score:
        return f"+{points(item.score)}"
    return f"{points(item.score)}/{points(item.max_score)}"
