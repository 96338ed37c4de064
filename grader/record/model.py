"""The one record of a graded submission: results/<name>/result.json.

In: what grade.py knows at the end of a run. Out: everything that is reported of a grade (table,
Gradescope, Autolab, ...) is made from it. What each key means is said beside it, or below it and those that
it goes with. The JSON Schema:

    python -m grader.record.model
"""

import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT = 6  # earlier ones are not read: what they are of is graded again
ROUNDING = 1e-6  # sums of points such as 0.1 + 0.2
TimingState = Literal["timed", "not-timed", "skipped", "unbuilt", "refused", "wrong", "faulted",
                      "time-limit", "impossible"]
Status = Literal["passed", "partial", "failed", "skipped"]
Seconds = Annotated[float, Field(ge=0)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Cause(Strict):
    """The mistake behind a finding, as `make check` proves it: for pages, never for points; see
    run/cause.py."""

    kind: str  # a name of causes.def: "row-length"
    what: str  # "a row of B has n elements, but here rows are k elements apart"
    file: str
    line: int
    detail: list[str] = []
    """Of the facts: "(from a run with m=37 k=53 n=29)", which numbers in `what` are of, if it has any."""
    hint: str | None = None


class Finding(Strict):
    """A mistake, as `make check` names it, in the words of the judge."""

    kind: str  # a name of findings.def: "shared-race", "wrong-result"
    what: str  # what is printed first, without the place: "load from B beyond its last column"
    headline: str = ""  # what is said of all findings of this kind, without numbers and places
    may_be_right: bool = Field(False, exclude=True)  # a GPU may compute the correct result all the same
    may_have_cause: bool = Field(False, exclude=True)  # another mistake may be behind it
    file: str | None = None
    line: int = 0  # 0: not known
    detail: list[str] = []
    hint: str | None = None
    formula: str | None = None  # what a wrong result is instead: see struct explanation in engine/lab.h
    explained: int = Field(0, exclude=True)  # how many of the last lines of `detail` say so
    claim: str | None = Field(None, exclude=True)
    """The same in words, where one mistake explains all that is wrong."""
    products: float = 0.0
    """Of an explanation that covers all that is wrong by one mistake: the part of the right sums' terms
    that are in the result. Else 0."""
    barrier_after: int = 0  # the line behind which a __syncthreads() may be missing; 0: none is known
    launch: str | None = None
    """One line: kernel, grid, block, and the size of the output; None where it is not known."""
    cause: Cause | None = None
    """The mistake behind it, on a public case; all findings of one kind at one line have the same."""

    @property
    def mistake(self) -> "Cause | Finding":
        """What to correct: as `make check`, everything that shows it names the cause first."""
        return self.cause or self

    @property
    def below(self) -> list[str]:
        """The lines below the headline of the mistake."""
        launch = [self.launch] if self.launch else []
        if not self.cause:
            return [*self.detail, *launch]
        symptom = f"symptom: {at(self.file, self.line, self.what)}"
        return [*self.cause.detail, symptom, *self.detail, *launch]

    def behind(self, cause: Cause | None) -> "Finding":
        """This with its cause. If that is what the result is instead, it is said once."""
        said = bool(cause) and cause.kind == self.formula
        detail = self.detail[:len(self.detail) - self.explained] if said else self.detail
        return self.model_copy(update={"cause": cause, "detail": detail})


class Loads(Strict):
    """Of the launches that the result comes from, in blocks that stored something in global memory
    (reuse_counted() of engine/watch/record/record.h). Of several that stored all of it, the one
    that loaded most."""

    all: int  # elements of inputs, and of what kernels have stored in global memory, that threads loaded
    naive: int
    """Of the plainest kernel: each thread loads all that its element of the result needs; 0: not known."""
    once_per_block: int  # if each block loaded each element of an input that it uses once
    exchanged: int
    """Elements that threads read from shared memory where others of their block had stored them
    last, and values that warp operations brought them from other lanes."""
    most: int | None = None
    """The most that a criterion allows; null where the case asks for none that limits them."""
    accesses: int = 0
    """Elements of global memory that threads loaded and stored, in all launches, in blocks that stored
    something there; an atomic operation does both."""
    threads: int = 0
    """That shared in the loads of inputs, of the launch with most of these: those of blocks that
    stored something, less what their warps were empty."""


class Blocks(Strict):
    """Of launches with far more blocks than write anything: how many there are, and how many of them
    were watched: all that write, and a sample of the others."""

    all: int
    watched: int


def at(file: str | None, line: int, what: str) -> str:
    """With its place in front, where that is known and the words do not begin with it."""
    place = f"{file}:{line}: " if file and line else ""
    return what if what.startswith(place) else place + what


class Scored(Strict):
    """Base of what has a `score` of a `max_score`."""

    @model_validator(mode="after")
    def within_its_points(self: Any) -> Any:
        repaired = getattr(self, "criterion", "") == "repair"
        if not -ROUNDING <= self.score <= self.max_score + ROUNDING and not repaired:
            raise ValueError(f"{self.score:g} of {self.max_score:g} points")
        return self


class Criterion(Strict):
    """Of one case; its points, but for `correct`, are a whole suite's: Mark."""

    name: str  # "correct", or a criterion of the lab's
    passed: bool
    known: bool = True
    """False: the run stopped before it could be seen, which costs the suite nothing if another case
    shows it."""
    reason: str  # one line; empty when passed
    phrase: str = ""  # the same in words that are the same for all cases: for hidden ones


class Item(Scored):
    """What cases and timed shapes have in common. Shape, fill, seed, and all that was counted or
    measured are null in what a student sees of a hidden one."""

    name: str
    suite: str
    """In a student's view of a hidden one "hidden 3" and "hidden"."""
    hidden: bool
    title: str
    params: dict[str, int] | None
    """Of the lab, in the order of the command line; null for what a whole suite keeps or loses."""
    score: float
    max_score: float
    reason: str  # one line: why points were lost, or why nothing was timed; empty with full marks
    hint: str = ""
    skipped_for: str = ""  # the case that failed, for want of which this one was not run
    seconds: Seconds = 0.0  # CPU time of a case; for a shape, how long timing it took

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}"

    @property
    def nothing_lost(self: Any) -> bool:
        return bool(self.status == "passed")


class Test(Item):
    """One case. `score` is for a correct result."""

    __test__: ClassVar[bool] = False  # pytest would collect any class of this name

    fill: str | None
    seed: int | None
    status: Status
    """passed: all criteria; partial: a correct result; skipped: not run, because the case failed that comes
    first."""
    criteria: list[Criterion]
    finding: Finding | None = None
    loads: Loads | None = None
    """Counted in the checked run; null where they were not, or the run ended at a mistake."""
    blocks: Blocks | None = None  # where not all blocks of the checked run were watched
    output: str = ""
    """What the submission printed. For the TA: never shown to students for hidden cases."""


class Mark(Item):
    """Points that a whole suite keeps or loses; `name` is that of the criterion, `title` what tables call
    it. Or "repair": what is missing to the suite's share of what the repaired kernel would get, beyond
    `max_score`, which is 0."""

    criterion: str
    status: Status
    lost_in: list[str] = []  # names of cases. In a student's view, of hidden ones: empty.
    phrase: str = ""  # `reason` in words that are the same for all cases


class Times(Strict):
    """Seconds of the timed calls."""

    median: Seconds
    minimum: Seconds
    quartile_1: Seconds
    quartile_3: Seconds


class Timing(Item):
    """One shape that was timed, or why it was not. `max_score` is that of the grade:
    0 where nothing was timed because there is no GPU."""

    none: float | None
    full: float | None
    """The ratio at which points begin, and from which there are all of them."""
    points: float  # what it is worth where it can be timed
    beside: str  # what kernels are timed beside: "cuBLAS"
    state: TimingState
    """not-timed: no GPU; unbuilt: kernel.cu does not compile; skipped: a case that it depends on is not
    right; the others are the clock's (clock/judgement.h)."""
    device: str | None = None
    ratio: Annotated[float, Field(ge=0)] | None = None
    """That one's median over the submission's: 1 is as fast."""
    samples: int = 0
    times: Times | None = None
    beside_times: Times | None = None
    """Null, as `ratio`, where nothing was timed."""

    @property
    def nothing_lost(self) -> bool:
        """All points, or none to be had."""
        return self.state in ("timed", "not-timed") and self.score >= self.max_score

    @property
    def status(self) -> Status:
        """As that of a case."""
        if self.state in ("not-timed", "skipped"):
            return "skipped"
        return "passed" if self.nothing_lost else "partial" if self.score > 0 else "failed"


AnyResult = Test | Mark | Timing


class Submission(Strict):
    name: str
    path: str  # where kernel.cu was
    sha256: str  # of the bytes as they were handed in
    bytes: int
    notes: list[str]  # what was changed before compiling: "Windows line ends", "byte order mark"


class Refusal(Strict):
    """The submission was refused as a whole: score 0."""

    tried: str  # what it tried, in a few words: "calls fopen", "copies device memory to the host"
    file: str | None
    line: int
    hint: str

    @property
    def reason(self) -> str:
        """Of all cases."""
        return f"the submission was refused: it {self.tried}"


class Build(Strict):
    ok: bool
    message: str  # the compiler's first error, one line; empty when ok
    file: str | None
    line: int
    output: str  # what the compiler printed, shortened


class Lab(Strict):
    """What the submission is of."""

    name: str  # of its programs, too
    title: str


class Record(Scored):
    format: Literal[6] = FORMAT
    complete: bool  # False in result.partial.json, which holds the cases that are finished so far
    submission: Submission
    suites: list[str]
    seed: int  # the run's; each case's own is made from it and the case's name
    score: float
    max_score: float
    build: Build
    refusal: Refusal | None
    tests: list[Test]
    marks: list[Mark] = []  # of the suites all of whose cases are known
    performance: list[Timing] = []
    protection: Literal["bubblewrap", "uid", "none"]
    protection_note: str  # a line about it, for people
    backend: Literal["cpu", "cuda"]
    architecture: str | None = None
    """What the kernels were compiled for, for a GPU: "sm_90"; null on the CPU."""
    lab: Lab
    version: str | None = None  # of the lab
    grader: str | None = None
    cases: str | None = None
    """Hashes of the grader and of the cases (build/parts.py, cases/read.py)."""
    needs_review: list[str] = []
    """Why a person should see it before trusting the grade, a line each; for students empty."""
    compiler: str
    started: Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}")]
    """ISO 8601, UTC."""
    seconds: Seconds

    @property
    def was_run(self) -> bool:
        """It compiles, and was not refused: else the reason is the same for all cases."""
        return self.build.ok and self.refusal is None

    @property
    def items(self) -> list[AnyResult]:
        """All that has points."""
        return [*self.tests, *self.marks, *self.performance]


def schema() -> dict[str, Any]:
    """The JSON Schema of what the grader writes."""
    return Record.model_json_schema(mode="serialization")


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2))
