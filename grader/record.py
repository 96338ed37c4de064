"""The one record of a graded submission: results/<name>/result.json.

Everything else that is told of a grade (table, Gradescope, Autolab, ...) is made from it. Its
format is docs/grading.md, and result.schema.json beside this file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from .outcome import Finding

FORMAT = 2
"""1 had no speed in it; such records can still be read."""
SUPPORT_H = Path(__file__).resolve().parent.parent / "support.h"
VERSION = re.findall(r'^#define SGEMM_VERSION "(.+)"', SUPPORT_H.read_text(), re.MULTILINE)[0]
TimingState = Literal["timed", "not-timed", "skipped", "unbuilt", "refused", "wrong", "faulted",
                      "time-limit", "impossible"]
CriterionName = Literal["builds", "correct", "memory", "tiled"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Criterion(Strict):
    name: CriterionName
    score: float
    max_score: float
    passed: bool
    reason: str
    """One line; empty when passed."""


class Test(Strict):
    """One case."""

    __test__: ClassVar[bool] = False  # for pytest, which takes any class of this name for its own

    name: str
    suite: str
    hidden: bool
    title: str
    m: int | None
    k: int | None
    n: int | None
    fill: str | None
    seed: int | None
    """Shape, fill and seed: null in what a student sees of a hidden case."""
    score: float
    max_score: float
    status: Literal["passed", "partial", "failed", "skipped"]
    """skipped: not run, because a case that it depends on failed."""
    criteria: list[Criterion]
    reason: str
    """One line: why points were lost; empty when passed."""
    hint: str
    finding: Finding | None
    output: str
    """What the submission printed. For the TA: never shown to students for hidden cases."""
    seconds: float


class Times(Strict):
    """Seconds of the timed calls."""

    median: float
    minimum: float
    quartile_1: float
    quartile_3: float


class Timing(Strict):
    """One shape that was timed beside cuBLAS, or why it was not."""

    name: str
    suite: str
    hidden: bool
    title: str
    m: int | None
    k: int | None
    n: int | None
    none: float | None
    full: float | None
    """The ratio at which points begin, and from which there are all of them. These, the shape and
    what was measured: null in what a student sees of a hidden one."""
    points: float
    """What it is worth where it can be timed."""
    score: float
    max_score: float
    """Of the grade: 0 where nothing was timed for want of a GPU."""
    state: TimingState
    reason: str
    """One line: why points were lost, or why nothing was timed; empty with all points."""
    hint: str
    device: str | None
    ratio: float | None
    """cuBLAS's median over the submission's: 1 is as fast."""
    samples: int
    times: Times | None
    cublas_times: Times | None
    seconds: float
    """How long it took to find out, by the clock."""


class Submission(Strict):
    name: str
    path: str
    sha256: str
    """Of the bytes as they were handed in."""
    bytes: int
    notes: list[str]
    """What was changed before compiling: "Windows line ends", "byte order mark"."""


class Refusal(Strict):
    """The submission was refused as a whole: score 0."""

    tried: str
    """What it tried, in a few words: "calls fopen", "copies device memory to the host"."""
    file: str | None
    line: int
    hint: str


class Build(Strict):
    ok: bool
    message: str
    """The compiler's first error, one line; empty when ok."""
    file: str | None
    line: int
    output: str
    """What the compiler printed, shortened."""


class Record(Strict):
    format: Literal[1, 2] = FORMAT
    complete: bool
    """False in result.partial.json, which holds the cases that are finished so far."""
    submission: Submission
    suites: list[str]
    seed: int
    """The run's; each case's own is made from it and the case's name."""
    score: float
    max_score: float
    build: Build
    refusal: Refusal | None
    tests: list[Test]
    performance: list[Timing] = []
    protection: Literal["bubblewrap", "uid", "none"]
    protection_note: str
    backend: Literal["cpu", "cuda"]
    architecture: str | None = None
    """What the kernels were compiled for, for a GPU: "sm_90"; null on the CPU."""
    version: str | None = None
    """Of the grader; null in older records."""
    compiler: str
    started: str
    """ISO 8601, UTC."""
    seconds: float
