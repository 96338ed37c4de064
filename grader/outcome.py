"""The outcome of one run of a submission, as the judge (judge/judge.c) reports it in JSON.

Nothing here was made by a process in which student code ran, except what is only reported:
`finding` (the checker runs in the same process as the kernel that it watches), its `cause`, and
`output` (what the submission printed).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Cause(Strict):
    """The mistake behind a finding, as `make check` proves it: for pages, never for points; see
    causes.py. The kinds are those of findings.py."""

    kind: str
    what: str
    """"a row of B has n elements, but here rows are k elements apart"."""
    file: str
    line: int
    detail: list[str] = []
    """Of the facts: "(from a run with m=37 k=53 n=29)", which numbers in `what` are of."""
    hint: str | None = None


class Finding(Strict):
    """A mistake, as `make check` names it; the kinds are those of findings.py."""

    kind: str
    what: str
    """The headline, without the place: "race on shared memory"."""
    file: str | None = None
    line: int = 0
    """0: not known."""
    detail: list[str] = []
    hint: str | None = None
    formula: str | None = None
    """What a wrong C is instead: see struct explanation in engine/lab.h."""
    claim: str | None = Field(None, exclude=True)
    """The same in words, where one mistake explains all that is wrong: "C is 2 times the product"."""
    products: float = 0.0
    """Of an explanation that covers all that is wrong in C by one mistake: the part of A B's
    products that are in C. Else 0."""
    barrier_after: int = 0
    """The line behind which a __syncthreads() is missing; 0: none, or not known."""
    launch: str | None = None
    """One line: kernel, grid, block, and the size of C; None where it is not known."""
    cause: Cause | None = None

    @property
    def mistake(self) -> Cause | Finding:
        """What to correct: as `make check`, everything that shows it names the cause first."""
        return self.cause or self

    @property
    def below(self) -> list[str]:
        """The lines below the headline of the mistake."""
        above = [*self.cause.detail, f"symptom: {at(self.file, self.line, self.what)}"] \
            if self.cause else []
        return [*above, *self.detail, *([self.launch] if self.launch else [])]


class Loads(Strict):
    """Of the launches that C comes from, in blocks that stored something in global memory
    (reuse_counted() of engine/watch/record/reuse.h). Of several that stored all of C, the one that
    loaded most."""

    all: int
    """Elements of A and B, and of what kernels have stored in global memory, that threads loaded."""
    naive: int
    """2 m n k: each thread loads all that its element of C needs."""
    once_per_block: int
    """If each block loaded each element of A and B that it uses once."""
    exchanged: int | None = None
    """Elements that threads read from shared memory where others of their block had stored them
    last, and values that warp operations brought them from other lanes. None in older records."""
    threads: int = 0
    """That shared in the loads of A and B, of the launch with most of these: those of blocks that
    stored something, less what their warps were empty."""


class Blocks(Strict):
    """Of launches with far more blocks than write anything: how many there are, and how many of them
    were watched: all that write, and a sample of the others."""

    all: int
    watched: int


class Outcome(Strict):
    build: Literal["plain", "checked"]
    ended: Literal["returned", "stopped", "crashed", "exited", "endless", "deadlock", "time-limit"]
    """basicSgemm returned and its kernels ended; the runtime or the checker stopped it; a signal;
    it ended the program; a block did not end; threads of a block waited for each other; anything
    else that was still running at its time limit."""
    detail: str = ""
    """If it did not return: one line, with the source line where that is known."""
    file: str | None = None
    line: int = 0
    launches: int = 0
    launch: str | None = None
    """In one line: of the finding, or else the last one. On a GPU, None."""
    work: int = 0
    """Threads begun plus threads that arrived at barriers, over all launches: the same in every run
    of a submission on a problem. 0 on a GPU."""
    right: bool = False
    """C is A B by the problem's comparison, and nothing around it was touched."""
    elements: int = 0
    unwritten: int = 0
    wrong: int = 0
    nan: int = 0
    not_float32: bool = False
    inputs_changed: int = 0
    """Elements of A and B that differ from what was sent."""
    guards_changed: int = 0
    """Floats around A, B and C that were overwritten."""
    explanation: Finding | None = None
    """What C is instead of A B; kind: unwritten, wrong-result or not-float32. The judge
    compares."""
    finding: Finding | None = None
    """Checked build only."""
    loads: Loads | None = None
    """Checked build with counting only, when all launches ended."""
    blocks: Blocks | None = None
    """Checked build only: where not all blocks were watched."""
    writers: bytes = Field(b"", repr=False)
    """Plain build on the CPU only: which blocks write, for the checked run (struct writers in
    engine/cuda/runtime/runtime.h). Made in the process in which the submission ran."""
    output: str = ""
    """The first kilobytes that the submission printed; valid text, control characters escaped."""
    seconds: float = 0.0
    """Of the processor, and asleep."""


def at(file: str | None, line: int, what: str) -> str:
    """With its place in front, where that is known and the words do not begin with it."""
    place = f"{file}:{line}: " if file and line else ""
    return what if what.startswith(place) else place + what
